import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isAbsolute, join, posix } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { z } from "zod";
import type { Source } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { createUploads, type Uploads } from "../../policy/uploads.ts";

export type RowFiles = Pick<Uploads, "readText">;

/** Reads a file of rows next to the test's own unchanged file, else from uploads, so that a caller cannot name any file. */
export function rowFiles({ project, file, file_hash }: Source, uploads: RowFiles): RowFiles {
  if (file === null) return uploads;
  return {
    async readText(name) {
      const place = posix.join(posix.dirname(file), name);
      const isHere = !isAbsolute(name) && /\.(?:csv|json)$/i.test(name) && existsSync(join(project, place));
      if (!isHere) return uploads.readText(name).catch((error: unknown) => throwMissing(error, name, file));
      const text = await readFile(join(project, file)).catch(() => "");
      if (createHash("sha256").update(text).digest("hex") !== file_hash)
        throw new ToolError(
          "FILE_CHANGED",
          `${file} was changed since it was loaded, so ${name} was not read.`,
          `labwright import ${file} loads it as it is now.`,
        );
      return createUploads(project).readText(place);
    },
  };
}

function throwMissing(error: unknown, name: string, file: string): never {
  const isMissing = error instanceof Error && "code" in error && error.code === "PATH_DENIED";
  if (!isMissing) throw error;
  const folder = posix.dirname(file);
  throw new ToolError(
    "PATH_DENIED",
    `${folder} has no "${name}". ${error.message}`,
    `Put it next to ${file}.`,
  );
}

type CsvRow = { line: number; cells: string[] };

/** What the parser gives with the option `info`, which its types leave out. */
const withLines = z.array(z.object({ record: z.array(z.string()), info: z.object({ lines: z.int() }) }));

const delimiters = [",", ";", "\t"] as const;

/** CSV as in RFC 4180, without byte-order mark and empty lines. The delimiter is the most frequent one of the first line. */
export function readCsv(name: string, text: string): { columns: string[]; rows: CsvRow[] } {
  const [header, ...rows] = records(name, text);
  return { columns: header?.cells.map((cell) => cell.trim()) ?? [], rows };
}

function records(name: string, text: string): CsvRow[] {
  const options = { bom: true, skip_empty_lines: true, relax_column_count: true, info: true } as const;
  try {
    const found: unknown = parse(text, { ...options, delimiter: delimiterOf(text) });
    return withLines.parse(found).map(({ record, info }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ToolError(
      "INVALID_INPUT",
      `${name} is not CSV: ${error.message}.`,
      "Look at that line of the file.",
    );
  }
}

function delimiterOf(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/));
  const count = (delimiter: string) => first.split(delimiter).length;
  return delimiters.reduce((most, one) => (count(one) > count(most) ? one : most));
}

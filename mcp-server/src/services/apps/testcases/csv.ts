import { CsvError, parse } from "csv-parse/sync";
import { z } from "zod";
import { ToolError } from "../../../errors.ts";

export type CsvRow = { line: number; cells: string[] };

/** What the parser gives with the option `info`, which its types leave out. */
const withLines = z.array(z.object({ record: z.array(z.string()), info: z.object({ lines: z.int() }) }));

const delimiters = [",", ";", "\t"] as const;

/**
 * The header and the rows of a CSV text: quotes, quotes in quotes and line breaks in quotes as RFC 4180 has them, a
 * byte-order mark left out, empty lines too. The delimiter is the one that the first line has most of. Throws
 * INVALID_INPUT with the line.
 */
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

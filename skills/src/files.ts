import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, sep } from "node:path";
import { foldedWords } from "./words.ts";

/** A skill or an agent is a page of text; a larger file is something else. */
const maxFileBytes = 256 * 1024;

/**
 * Undefined when there is no such file. `home` is the skill's folder: a link may lead to another place in it or in the folder
 * around it, where skills share files, and nowhere else.
 */
export function readText(file: string, home?: string): string | { message: string } | undefined {
  try {
    const stats = statSync(file);
    const { size } = stats;
    if (!stats.isFile()) return { message: "cannot be read: it is not a file" };
    if (home !== undefined && !isWithin(realpathSync(file), home))
      return { message: "is a link that leads out of the folder; copy the file into it" };
    if (size > maxFileBytes) return { message: `has ${size} bytes; at most ${maxFileBytes} are read` };
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    return { message: cannotRead(error) };
  }
}

const isWithin = (path: string, home: string): boolean =>
  [realpathSync(home), realpathSync(dirname(home))].some((folder) =>
    path.startsWith(folder.endsWith(sep) ? folder : folder + sep),
  );

/** The requests of a text file, one a line; `line` counts from 1. Lines without words and `# comments` are left out. */
export function readRequests(file: string, home?: string): { text: string; line: number }[] {
  const content = readText(file, home);
  // A skill is as good without the file.
  if (typeof content !== "string") return [];
  return content
    .split(/\r?\n/)
    .map((text, index) => ({ text, line: index + 1 }))
    .filter(({ text }) => !/^\s*#\s/.test(text) && foldedWords(text).length > 0);
}

/** Names of the files in a folder with this ending, in order; none when the folder is missing. */
export function filesIn(folder: string, ending: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .sort();
  } catch {
    return [];
  }
}

export const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");

export const cannotRead = (error: unknown): string =>
  `cannot be read: ${error instanceof Error ? error.message : String(error)}`;

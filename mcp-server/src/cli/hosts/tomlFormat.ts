import { parse, stringify, TomlError } from "smol-toml";
import { BrokenFile, type Entry, type EntryPath, type Format, isRecord, lineBreak } from "./format.ts";

/** TOML, by the lines of a table: one is put at the end, or in the place of the old one. No other line changes. */
export const tomlFormat: Format = {
  parse(text) {
    try {
      return plain(parse(text));
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
      const [message = ""] = error.message.split("\n");
      throw new BrokenFile(message, error.line);
    }
  },
  edits(text, path, value) {
    const lines = text.split(/(?<=\n)/);
    const tables = tablesOf(lines, path);
    const fresh = value === undefined ? [] : [tableText(text, path, value)];
    const [first] = tables;
    if (first === undefined) return [value === undefined ? text : append(text, fresh.join(""))];
    const kept = lines.map((line, i) => (tables.some(({ from, to }) => i >= from && i < to) ? "" : line));
    const before = value === undefined && isLone(lines, first) ? first.from - 1 : first.from;
    return [[...kept.slice(0, before), ...fresh, ...kept.slice(first.from)].join("")];
  },
};

/** The library's tables have no prototype, which a comparison would see. Dates stay what they are. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value) || Object.getPrototypeOf(value) !== null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function tableText(text: string, [container, name]: EntryPath, value: Entry): string {
  const table = `${stringify({ [container]: { [name]: value } }).trim()}\n`;
  return lineBreak(text) === "\n" ? table : table.replaceAll("\n", "\r\n");
}

function append(text: string, table: string): string {
  const end = lineBreak(text);
  if (text.trim() === "") return text + table;
  return text + (text.endsWith("\n") ? end : end + end) + table;
}

type Lines = { from: number; to: number };

/** The server's table and those below it, as lines `from` up to `to`; blank lines and comments at the end are the next one's. */
function tablesOf(lines: readonly string[], path: EntryPath): Lines[] {
  const headers = lines.flatMap((line, i) => (/^\s*\[/.test(line) ? [i] : []));
  // A line in a list or a text may look like a header. The file up to it does not parse then.
  const isHeader = (i: number) => tryParse(lines.slice(0, i).join("")) !== undefined;
  const tables = headers
    .filter((i) => names(lines[i] ?? "", path) && isHeader(i))
    .map((from) => {
      let to = headers.find((i) => i > from && isHeader(i)) ?? lines.length;
      while (to > from + 1 && /^\s*(#|$)/.test(lines[to - 1] ?? "")) to--;
      return { from, to };
    });
  return joined(tables, lines);
}

/** Tables with nothing but blank lines between them are one. */
function joined(tables: readonly Lines[], lines: readonly string[]): Lines[] {
  const all: Lines[] = [];
  for (const table of tables) {
    const last = all.at(-1);
    const isNext = last && lines.slice(last.to, table.from).every((line) => line.trim() === "");
    if (last && isNext) last.to = table.to;
    else all.push(table);
  }
  return all;
}

/** Whether a blank line before the table is one too many once the table is gone. */
function isLone(lines: readonly string[], { from, to }: Lines): boolean {
  const isBlank = (i: number) => (lines[i] ?? "").trim() === "";
  return from > 0 && isBlank(from - 1) && isBlank(to);
}

function names(line: string, [container, name]: EntryPath): boolean {
  const servers = tryParse(line)?.[container];
  return isRecord(servers) && Object.hasOwn(servers, name);
}

function tryParse(text: string): Record<string, unknown> | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

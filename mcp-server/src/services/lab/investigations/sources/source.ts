import { ToolError } from "../../../../errors.ts";

/** SQL with its values: value `n` stands between part `n` and part `n + 1`. No value is ever part of the text. */
export type Statement = { readonly parts: readonly string[]; readonly values: readonly unknown[] };
export type Row = Readonly<Record<string, unknown>>;
/** `timeoutMs` bounds the query in the database as well as here. */
export type Limits = { signal: AbortSignal; timeoutMs: number };

/**
 * A database that an investigation reads. `query` throws INVALID_INPUT for SQL that is not a read or that the database refuses,
 * CONNECTION_REFUSED when it cannot be reached or goes away, REQUEST_TIMEOUT past `timeoutMs`, INVALID_RESPONSE for more than
 * 1,000 rows or 1 MB, SECRET_NOT_FOUND for missing credentials, and the signal's reason.
 */
export type QuerySource = {
  query(statement: Statement, limits: Limits): Promise<Row[]>;
  close(): Promise<void>;
};

export const mostRows = 1_000;
export const mostBytes = 1_000_000;

/** Counts what a query gives; `add` throws INVALID_RESPONSE once it is more than an investigation may hold. */
export class Bounded {
  readonly rows: Row[] = [];
  private bytes = 0;

  constructor(private readonly source: string) {}

  add(row: Row): void {
    this.bytes += JSON.stringify(row).length;
    if (this.rows.length >= mostRows) throw tooMuch(this.source, `${mostRows} rows`);
    if (this.bytes > mostBytes) throw tooMuch(this.source, `${mostBytes} bytes`);
    this.rows.push(row);
  }
}

export const tooMuch = (source: string, limit: string): ToolError =>
  new ToolError(
    "INVALID_RESPONSE",
    `The query to ${source} gave more than ${limit}.`,
    "Count, group or limit in the query: a decision needs few rows.",
  );

const reads = /^(select|with|values|show|explain|describe|table)\b/i;

/** The text of a statement, with `placeholder(n, value)` in place of each value. Throws INVALID_INPUT for what is not a read. */
export function textOf(
  { parts, values }: Statement,
  placeholder: (index: number, value: unknown) => string,
): string {
  const text = parts
    .map((part, at) => (at < values.length ? part + placeholder(at, values[at]) : part))
    .join("");
  // Comments may stand before the first word.
  const start = text.replace(/^(\s+|--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/|\()+/, "");
  if (reads.test(start)) return text.trim().replace(/;\s*$/, "");
  throw new ToolError(
    "INVALID_INPUT",
    `An investigation only reads, and this query begins with "${start.slice(0, 30)}".`,
    "Begin it with SELECT or WITH.",
  );
}

export const unreachable = (source: string, reason: string, cause?: unknown): ToolError =>
  new ToolError(
    "CONNECTION_REFUSED",
    `${source} cannot be reached: ${reason}.`,
    "Check its address and credentials under data_sources of the skill, and that it runs.",
    {},
    { cause },
  );

export const tooSlow = (source: string, timeoutMs: number): ToolError =>
  new ToolError(
    "REQUEST_TIMEOUT",
    `The query to ${source} took longer than ${timeoutMs} ms and was ended.`,
    "Narrow the query, or give its step a larger timeout.",
  );

export const refused = (source: string, reason: string, cause?: unknown): ToolError =>
  new ToolError(
    "INVALID_INPUT",
    `${source} refused the query: ${reason}.`,
    "Correct the query in decision_tree.yaml or api_mappings.yaml.",
    {},
    { cause },
  );

/** A whole number as a number where that keeps its digits, else as text. */
export function wholeNumber(text: string | bigint): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : String(text);
}

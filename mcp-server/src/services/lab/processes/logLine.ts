import { type LogQuery, levels } from "./types.ts";

/** A record of a log; `fields` are the others, in the order in which they were written. */
export type LogRecord = { time: string; level: string; msg: string; fields: Record<string, unknown> };

const longestValue = 200;
const longestLine = 600;
const frames = 3;

export function readRecord(line: string): LogRecord | undefined {
  const value = parsed(line);
  if (typeof value !== "object" || value === null) return undefined;
  const { time, level, msg, message, ...fields }: Record<string, unknown> = { ...value };
  if (typeof time !== "string" || typeof level !== "string") return undefined;
  const said = msg ?? message;
  return { time, level, msg: typeof said === "string" ? said : "", fields };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A record in one line: `<time> <level> <message> key=value …`, values quoted where they hold more than a word. */
export function formatRecord({ time, level, msg, fields }: LogRecord): string {
  const { err, pid: _pid, at: _at, ...others } = fields;
  const pairs = Object.entries({ ...others, ...(err !== undefined && { err: errorText(err) }) });
  const said = pairs.map(([key, value]) => `${key}=${valueText(value)}`);
  return clip(oneLine([time, level, msg, ...said].filter(Boolean).join(" ")), longestLine);
}

export const formatPlain = (line: string): string => clip(`? ${oneLine(line)}`, longestLine);

function errorText(err: unknown): unknown {
  if (typeof err !== "object" || err === null) return err;
  const { type, message, stack }: Record<string, unknown> = { ...err };
  const calls = String(stack ?? "").match(/(?<=\n\s*at )[^\n]+/g) ?? [];
  return [`${type ?? "Error"}: ${message ?? ""}`, ...calls.slice(0, frames)].join(" < ");
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const short = clip(text, typeof value === "string" && text.includes(" < ") ? longestLine : longestValue);
  return /[\s"]|^$/.test(short) ? `'${short}'` : short;
}

/** A line of a log is one line, whatever was logged. */
const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

const clip = (text: string, length: number) =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

type Filter = Omit<LogQuery, "service" | "text" | "maxTokens">;

export const asksForFields = ({ level, since, until, tool, trace_id, execution_id }: Filter): boolean =>
  [level, since, until, tool, trace_id, execution_id].some((given) => given !== undefined);

/** Times of a filter are whole instants in UTC, as those of the log are. */
export function isWanted({ time, level, fields }: LogRecord, wanted: Filter): boolean {
  const { since, until } = wanted;
  if (since !== undefined && time < since) return false;
  if (until !== undefined && time > until) return false;
  if (wanted.level !== undefined && rank(level) < rank(wanted.level)) return false;
  return (["tool", "trace_id", "execution_id"] as const).every(
    (key) => wanted[key] === undefined || fields[key] === wanted[key],
  );
}

const order: readonly string[] = levels;
const rank = (level: string): number => order.indexOf(level);

import { z } from "zod";
import type { Step } from "./execution.ts";

const heard = z.object({ notices: z.array(z.string()).optional() });
const results = z.union([
  z.array(heard),
  z.object({ results: z.array(heard) }).transform((output) => output.results),
]);

/** What the device did by itself during a step, also if it is recorded with a single command of the step. */
export function noticesOf({ output, notices = [] }: Pick<Step, "output" | "notices">): string[] {
  const recorded = results.safeParse(output).data ?? [];
  return [...recorded.flatMap((result) => result.notices ?? []), ...notices];
}

const consoleMark = "CONSOLE_ERROR: ";

/** The notice of an error in the app's console. Pages log many: it is kept with the step of a run, and not reported to the caller. */
export const consoleNotice = (text: string): string => `${consoleMark}${text}`;
export const isForRecord = (notice: string): boolean => notice.startsWith(consoleMark);

/** The errors in the app's console among the notices of a step. */
export const consoleErrorsOf = (notices: readonly string[]): string[] =>
  notices.filter(isForRecord).map((notice) => notice.slice(consoleMark.length));

/** A passed step that took at least this part of its time limit is called slow. */
const slowPart = 0.7;

/** A notice for a passed step that nearly ran out of its time. */
export function slowNotices(what: string, tookMs: number, limitMs: number | undefined): string[] {
  if (limitMs === undefined || limitMs <= 0 || tookMs < slowPart * limitMs) return [];
  return [`SLOW: ${what} took ${Math.round(tookMs)} ms of its ${limitMs} ms.`];
}

/** Notices that are shown next to a verdict: faults of the app that no check looked for, such as `HTTP_ERROR: ...`. */
export const isBesideVerdict = (notice: string): boolean => /^(HTTP_ERROR|SLOW|\w+_RESTARTED): /.test(notice);

const mostBesideVerdict = 10;

/** Each notice once, in order. `all`: also those that are not shown next to a pass. */
export function besideVerdict(notices: readonly string[], options: { all?: boolean } = {}): string[] {
  const all = [...new Set(options.all ? notices : notices.filter(isBesideVerdict))];
  const more = all.length - mostBesideVerdict;
  return more > 0 ? [...all.slice(0, mostBesideVerdict), `${more} more in the steps of the run`] : all;
}

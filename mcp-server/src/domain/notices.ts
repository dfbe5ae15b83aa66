import { z } from "zod";
import type { Step } from "./execution.ts";

const heard = z.object({ notices: z.array(z.string()).optional() });
const results = z.union([
  z.array(heard),
  z.object({ results: z.array(heard) }).transform((output) => output.results),
]);

/** What the device did by itself during a step, also where it was told with a single command of it. */
export function noticesOf({ output, notices = [] }: Pick<Step, "output" | "notices">): string[] {
  const told = results.safeParse(output).data ?? [];
  return [...told.flatMap((result) => result.notices ?? []), ...notices];
}

/** A passed step that took at least this part of its time limit is said to be slow. */
const slowPart = 0.7;

/** What is said of a passed step that nearly ran out of its time; nothing of any other. */
export function slowNotices(what: string, tookMs: number, limitMs: number | undefined): string[] {
  if (limitMs === undefined || limitMs <= 0 || tookMs < slowPart * limitMs) return [];
  return [`SLOW: ${what} took ${Math.round(tookMs)} ms of its ${limitMs} ms.`];
}

/** The notices that stand beside a verdict: faults of the app that no check looked for, such as `HTTP_ERROR: ...`. */
export const isBesideVerdict = (notice: string): boolean => /^(HTTP_ERROR|SLOW|\w+_RESTARTED): /.test(notice);

const mostBesideVerdict = 10;

/** Each once, in their order; `all`: also those that do not stand beside a pass. */
export function besideVerdict(notices: readonly string[], options: { all?: boolean } = {}): string[] {
  const all = [...new Set(options.all ? notices : notices.filter(isBesideVerdict))];
  const more = all.length - mostBesideVerdict;
  return more > 0 ? [...all.slice(0, mostBesideVerdict), `${more} more in the steps of the run`] : all;
}

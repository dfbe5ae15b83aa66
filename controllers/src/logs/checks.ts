import { z } from "zod";
import { type Check, defineCheck } from "../contract.ts";
import { firstMatch, matchSchema, matchWords, partNote, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { inconclusive, ofPresence } from "../elements/readings.ts";
import type { CrashFailure } from "./crashReader.ts";

const noMark = "nothing marks where to begin. Run mark_logs before what is to be judged";
const cutOff = "the log does not reach back to the mark any more: lines were dropped or cleared";
/** Of a long log so many lines are compared for the nearest. */
const mostCompared = 500;
const longestExcerpt = 600;

/** `isWhole` is false where the log does not reach back to the mark: older lines were dropped or cleared. */
export type LogsSinceMark = {
  lines: readonly { tag: string; text: string }[];
  failures(): readonly CrashFailure[];
  isWhole: boolean;
};

/** A log with the mark that `mark_logs` set. */
export type MarkedLog = {
  /** What the device wrote behind the mark; undefined where there is no mark. */
  sinceMark(signal: AbortSignal): Promise<LogsSinceMark | undefined>;
  /** Throws INVALID_PARAMS for a name that no app can have. */
  appId(name: string): string;
};

/** What the device wrote since `mark_logs`. */
export const logChecks = (log: MarkedLog): Check[] => [logContains(log), noCrashSince(log)];

function logContains(log: MarkedLog): Check {
  const input = z.strictObject({
    text: z.string().min(1).max(10_000),
    match: matchSchema.default("words"),
  });
  return defineCheck<typeof input>({
    name: "log_contains",
    description: `A line of the device's log since mark_logs; ${matchWords}`,
    input,
    judges: ofPresence,
    async read({ text, match }, signal) {
      const expected = `a line since the mark that ${relation(match)} ${quoted(text)}`;
      const logs = await log.sinceMark(signal);
      if (logs === undefined) return inconclusive(expected, noMark);
      const lines = logs.lines.map((line) => line.text);
      const found = logs.lines[await firstMatch(match, text, lines)];
      if (found !== undefined)
        return {
          holds: true,
          expected,
          actual: [found.tag, quoted(found.text, text)].filter(Boolean).join(": "),
        };
      if (!logs.isWhole) return inconclusive(expected, cutOff);
      const latest = logs.lines.slice(-mostCompared).map((line) => line.text);
      const near = nearest(text, new Set(latest)).map((line) => line.slice(0, 200));
      const actual = `none of ${lines.length} lines${partNote(match, text, lines)}`;
      return { holds: false, expected, actual, nearest: near };
    },
  });
}

function noCrashSince(log: MarkedLog): Check {
  const input = z.strictObject({
    package: z.string().min(1).max(200).optional().describe("Only this app; any if left out."),
  });
  return defineCheck<typeof input>({
    name: "no_crash_since",
    description: "No app crashed or stopped responding since mark_logs",
    input,
    judges: ofPresence,
    async read(app, signal) {
      const id = app.package === undefined ? undefined : log.appId(app.package);
      const expected = `no crash of ${id ?? "any app"} since the mark`;
      const logs = await log.sinceMark(signal);
      if (logs === undefined) return inconclusive(expected, noMark);
      const failed = logs.failures().filter((one) => id === undefined || one.packageName === id);
      if (failed.length > 0) return { holds: false, expected, actual: describe(failed) };
      return logs.isWhole ? { holds: true, expected, actual: "none" } : inconclusive(expected, cutOff);
    },
  });
}

const describe = (failures: readonly CrashFailure[]): string =>
  failures
    .slice(0, 3)
    .map(({ kind, packageName, excerpt }) => {
      const what = kind === "anr" ? "did not respond" : "crashed";
      return `${packageName} ${what}: ${excerpt.slice(0, longestExcerpt)}`;
    })
    .join("\n");

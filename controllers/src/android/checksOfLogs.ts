import { z } from "zod";
import { type Check, defineCheck } from "../contract.ts";
import { matches, matchSchema, matchWords, relation } from "../elements/match.ts";
import { nearest } from "../elements/nearest.ts";
import { quoted } from "../elements/quoted.ts";
import { type CrashEvent, CrashReader } from "../logs/crashReader.ts";
import { packageOf } from "./commands/apps.ts";
import { type LogsSinceMark, logsSinceMark } from "./logsSinceMark.ts";
import { untold } from "./readings.ts";
import type { AndroidSession } from "./session.ts";

const noMark = "nothing marks where to begin. Run mark_logs before what is to be judged";
const cutOff = "the log does not reach back to the mark any more: lines were dropped or cleared";
/** Of a long log so many lines are compared for the nearest. */
const mostCompared = 500;
const longestExcerpt = 600;

/** What the device wrote since `mark_logs`. */
export function logChecks(session: AndroidSession): Check[] {
  return [logContains(session), noCrashSince(session)];
}

function logContains(session: AndroidSession): Check {
  const input = z.strictObject({
    text: z.string().min(1).max(10_000),
    match: matchSchema.default("contains"),
  });
  return defineCheck<typeof input>({
    name: "log_contains",
    description: `A line of the device's log since mark_logs; ${matchWords}`,
    input,
    async read({ text, match }, signal) {
      const expected = `a line since the mark that ${relation(match)} ${quoted(text)}`;
      const logs = await logsSinceMark(session, signal);
      if (logs === undefined) return untold(expected, noMark);
      const found = logs.lines.find((line) => matches(match, text, line.text));
      if (found !== undefined)
        return { holds: true, expected, actual: `${found.tag}: ${quoted(found.text, text)}` };
      if (!logs.isWhole) return untold(expected, cutOff);
      const latest = logs.lines.slice(-mostCompared).map((line) => line.text);
      const near = nearest(text, new Set(latest)).map((line) => line.slice(0, 200));
      return { holds: false, expected, actual: `none of ${logs.lines.length} lines`, nearest: near };
    },
  });
}

function noCrashSince(session: AndroidSession): Check {
  const input = z.strictObject({
    package: z.string().min(1).max(200).optional().describe("Only this app; any if left out."),
  });
  return defineCheck<typeof input>({
    name: "no_crash_since",
    description: "No app crashed or stopped responding since mark_logs",
    input,
    async read(app, signal) {
      const id = app.package === undefined ? undefined : packageOf(app);
      const expected = `no crash of ${id ?? "any app"} since the mark`;
      const logs = await logsSinceMark(session, signal);
      if (logs === undefined) return untold(expected, noMark);
      const failed = failuresIn(logs).filter((one) => id === undefined || one.packageName === id);
      if (failed.length > 0) return { holds: false, expected, actual: describe(failed) };
      return logs.isWhole ? { holds: true, expected, actual: "none" } : untold(expected, cutOff);
    },
  });
}

type Failure = CrashEvent & { type: "failed" };

const describe = (failures: readonly Failure[]): string =>
  failures
    .slice(0, 3)
    .map(({ kind, packageName, excerpt }) => {
      const what = kind === "anr" ? "did not respond" : "crashed";
      return `${packageName} ${what}: ${excerpt.slice(0, longestExcerpt)}`;
    })
    .join("\n");

function failuresIn({ lines }: LogsSinceMark): Failure[] {
  const failures: Failure[] = [];
  const reader = new CrashReader((event) => {
    if (event.type === "failed") failures.push(event);
  });
  for (const line of lines) reader.read(line);
  reader.end();
  return failures;
}

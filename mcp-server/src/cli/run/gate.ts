import { writeFile } from "node:fs/promises";
import { z } from "zod";
import { consoleErrorsOf } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { type ExitCode, exitCodes } from "../terminal.ts";
import { done, type RunConnection, unending } from "./connection.ts";
import { type GateRules, gateSchema } from "./gateFile.ts";

/** A test as it ended. One that was not run has no execution. */
export type GatedTest = {
  name: string;
  status: string;
  flaky: boolean;
  executionId: string | undefined;
  ms: number | undefined;
  /** It ran in a browser, whose console is read. */
  hasConsole: boolean;
};

/** All tests of a run, also those that were not started. `startedAt` is ISO 8601, `ms` the time of the whole run. */
export type GatedRun = { tests: readonly GatedTest[]; startedAt: string; ms: number };

/** `unknown`: the rule could not be judged, and `found` says why. `details` has a line for each thing that breaks the rule. */
export type RuleResult = {
  rule: keyof GateRules;
  outcome: "passed" | "broken" | "unknown";
  limit: number;
  /** What was measured, in the unit of the limit. */
  value?: number;
  wanted: string;
  found: string;
  details: string[];
};

export type GateResult = { passed: boolean; rules: RuleResult[] };

const DAYS_BACK = 30;
const DAY_MS = 86_400_000;
const MOST_DETAILS = 20;
const PAGE_TOKENS = 50_000;

type Measured = { value: number; found: string; details?: string[]; unread?: string } | { unknown: string };
type Rule = {
  /** The value must be at least the limit, or at most. */
  is: "at least" | "at most";
  title: string;
  unit: string;
  measure(run: GatedRun, connection: RunConnection, limit: number): Measured | Promise<Measured>;
};

const rules: Readonly<Record<keyof GateRules, Rule>> = {
  pass_rate: { is: "at least", title: "pass rate", unit: " %", measure: passRate },
  new_flaky: { is: "at most", title: "new flaky tests", unit: "", measure: newFlaky },
  coverage: { is: "at least", title: "coverage", unit: " %", measure: covered("covered_percent") },
  requirements_passed: {
    ...{ is: "at least", title: "requirements passed", unit: " %" },
    measure: covered("passed_percent"),
  },
  console_errors: { is: "at most", title: "console errors", unit: "", measure: consoleErrors },
  run_ms: { is: "at most", title: "time of the run", unit: " ms", measure: runTime },
  test_ms: { is: "at most", title: "time of a test", unit: " ms", measure: testTime },
};

/** Judges every rule of a gate, in the order of its rules. A rule that cannot be judged is `unknown`, never passed. */
export async function judgeGate(
  gate: GateRules,
  run: GatedRun,
  connection: RunConnection,
): Promise<GateResult> {
  const results: RuleResult[] = [];
  for (const name of gateSchema.keyof().options) {
    const limit = gate[name];
    if (limit !== undefined) results.push(await judgeRule(name, limit, run, connection));
  }
  return { passed: results.every(({ outcome }) => outcome === "passed"), rules: results };
}

async function judgeRule(
  name: keyof GateRules,
  limit: number,
  run: GatedRun,
  connection: RunConnection,
): Promise<RuleResult> {
  const { is, title, unit, measure } = rules[name];
  const wanted = `${title} ${is} ${limit}${unit}`;
  const measured = await measuredBy(() => measure(run, connection, limit));
  if ("unknown" in measured)
    return { rule: name, outcome: "unknown", limit, wanted, found: measured.unknown, details: [] };
  const { value, found, details = [], unread } = measured;
  const holds = is === "at least" ? value >= limit : value <= limit;
  // What was not read could only break the rule.
  if (holds && unread !== undefined)
    return { rule: name, outcome: "unknown", limit, value, wanted, found: unread, details: [] };
  const more = details.length > MOST_DETAILS ? [`… ${details.length - MOST_DETAILS} more`] : [];
  return {
    ...{ rule: name, outcome: holds ? "passed" : "broken", limit, value, wanted, found },
    details: holds ? [] : [...details.slice(0, MOST_DETAILS), ...more],
  };
}

async function measuredBy(measure: () => Measured | Promise<Measured>): Promise<Measured> {
  try {
    return await measure();
  } catch (error) {
    if (error instanceof ToolError) return { unknown: `${error.code}: ${error.message}` };
    throw error;
  }
}

function passRate({ tests }: GatedRun): Measured {
  if (tests.length === 0) return { unknown: "there was no test" };
  const others = tests.filter(({ status }) => status !== "passed");
  const passed = tests.length - others.length;
  const value = (passed * 100) / tests.length;
  const details = others.map(({ name, status }) => `${name}: ${status}`);
  // 99.96 % is not 100 %.
  const shown = Math.floor(value * 10) / 10;
  return { value, found: `${shown} %: ${passed} of ${tests.length} tests`, details };
}

const foundRuns = z.looseObject({
  executions: z.array(z.looseObject({ name: z.string(), flaky: z.boolean().optional() })),
  next: z.string().optional(),
});

async function newFlaky({ tests, startedAt }: GatedRun, connection: RunConnection): Promise<Measured> {
  const flaky = [...new Set(tests.filter((test) => test.flaky).map(({ name }) => name))];
  const fresh: string[] = [];
  for (const name of flaky) if (!(await wasFlaky(name, startedAt, connection))) fresh.push(name);
  const known = flaky.length - fresh.length;
  return { value: fresh.length, found: `${fresh.length}, and ${known} known`, details: fresh };
}

/** Whether the test passed only after a retry before the run. */
async function wasFlaky(name: string, startedAt: string, connection: RunConnection): Promise<boolean> {
  const since = new Date(Date.parse(startedAt) - DAYS_BACK * DAY_MS).toISOString();
  const query = { kind: "testcase", name, since, until: startedAt, max_tokens: PAGE_TOKENS };
  for (let before: string | undefined; ; ) {
    const args = { ...query, ...(before !== undefined && { before }) };
    const page = foundRuns.parse(await done(connection.call("get_execution_results", args, unending())));
    if (page.executions.some((one) => one.name === name && one.flaky)) return true;
    if (page.next === undefined) return false;
    before = page.next;
  }
}

/** Of all requirements; the server rounds down. */
function covered(field: "covered_percent" | "passed_percent") {
  return async (_: GatedRun, connection: RunConnection): Promise<Measured> => {
    const schema = z
      .looseObject({ n: z.int(), covered_percent: z.number(), passed_percent: z.number() })
      .partial();
    const summary = schema.parse(await done(connection.call("get_coverage_summary", {}, unending())));
    const value = summary[field];
    if (value === undefined) return { unknown: "there are no requirements" };
    return { value, found: `${value} % of ${summary.n ?? 0} requirements` };
  };
}

/** Whether the device of a lease has a console. */
export async function isBrowser(
  { session_id }: { session_id: string },
  connection: RunConnection,
): Promise<boolean> {
  const answer = await connection.call("get_device_info", { session_id }, unending());
  // Without an answer its steps are read as those of a browser.
  if (!answer.ok) return true;
  const { controllers } = z.looseObject({ controllers: z.string() }).parse(answer.structured);
  return controllers.split(", ").includes("web");
}

const statusSchema = z.looseObject({
  steps: z.array(z.looseObject({ notices: z.array(z.string()).default([]) })),
  more: z.int().default(0),
});

async function consoleErrors({ tests }: GatedRun, connection: RunConnection): Promise<Measured> {
  const details: string[] = [];
  let unread: string | undefined;
  const logging = tests.filter(({ hasConsole }) => hasConsole);
  if (logging.length === 0) return { unknown: "no test ran in a browser" };
  for (const { name, executionId } of logging) {
    if (executionId === undefined) continue;
    const args = { execution_id: executionId, max_tokens: PAGE_TOKENS };
    const { steps, more } = statusSchema.parse(
      await done(connection.call("get_execution_status", args, unending())),
    );
    if (more > 0) unread = `${name} has ${more} steps more than were read`;
    const errors = new Set(steps.flatMap(({ notices }) => consoleErrorsOf(notices)));
    details.push(...[...errors].map((error) => `${name}: ${error}`));
  }
  return {
    value: details.length,
    found: `${details.length} in ${logging.length} of ${tests.length} tests`,
    details,
    ...(unread !== undefined && { unread }),
  };
}

function runTime({ ms }: GatedRun): Measured {
  return { value: ms, found: `${ms} ms` };
}

function testTime({ tests }: GatedRun, _: RunConnection, limit: number): Measured {
  const timed = tests.flatMap(({ name, ms }) => (ms === undefined ? [] : [{ name, ms }]));
  const [slowest] = timed.toSorted((a, b) => b.ms - a.ms);
  if (slowest === undefined) return { unknown: "no test was timed" };
  const details = timed.filter(({ ms }) => ms > limit).map(({ name, ms }) => `${name}: ${ms} ms`);
  return { value: slowest.ms, found: `${slowest.ms} ms (${slowest.name})`, details };
}

const words = { passed: "ok", broken: "broken", unknown: "unknown" } as const;

/** A line for each rule, kept or not, and below a broken one what breaks it. */
export function gateText({ rules: results }: GateResult): string {
  const kept = results.filter(({ outcome }) => outcome === "passed").length;
  const lines = results.flatMap(({ outcome, wanted, found, details }) => [
    `  ${words[outcome].padEnd(8)} ${wanted}; found ${found}`,
    ...details.map((line) => `             ${line}`),
  ]);
  return [`gate: ${kept} of ${results.length} rules kept`, ...lines, ""].join("\n");
}

/** Writes the result as JSON. Throws INVALID_INPUT for a file that cannot be written. */
export async function writeGate(file: string, result: GateResult): Promise<void> {
  try {
    await writeFile(file, `${JSON.stringify(result, null, 2)}\n`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `The result of the gate cannot be written: ${why}.`,
      "Name another file.",
    );
  }
}

/** The gate decides in place of the tests: 0 if every rule is kept. `code` is that of the tests alone. */
export function gateCode({ passed, rules: results }: GateResult, code: ExitCode): ExitCode {
  if (code === exitCodes.interrupted) return code;
  if (passed) return exitCodes.passed;
  const isJudged = code !== exitCodes.error && results.every(({ outcome }) => outcome !== "unknown");
  return isJudged ? exitCodes.failed : exitCodes.error;
}

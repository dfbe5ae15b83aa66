import { z } from "zod";
import {
  type Execution,
  noticesOf,
  type Params,
  paramsSchema,
  type Step,
  type Verdict,
  verdictSchema,
} from "../../../domain/index.ts";
import type { ReportEntry, ReportSummary, SkippedTest } from "../reports/types.ts";

export function summarize(
  entries: readonly ReportEntry[],
  skipped: readonly SkippedTest[] = [],
): ReportSummary {
  const count = (...statuses: Execution["status"][]) =>
    entries.filter(({ execution }) => statuses.includes(execution.status)).length;
  const unstarted = skipped.filter(({ isError }) => isError).length;
  return {
    tests: entries.length + skipped.length,
    passed: count("passed"),
    flaky: entries.filter(({ execution }) => execution.flaky).length,
    failed: count("failed"),
    errors: count("error", "timeout") + unstarted,
    other: count("cancelled", "queued", "running"),
    skipped: skipped.length - unstarted,
    duration_ms: entries.reduce((sum, { execution }) => sum + durationOf(execution), 0),
  };
}

export const durationOf = (execution: Execution) => execution.duration_ms ?? 0;

export const startOf = (execution: Execution) => Date.parse(execution.started_at);

export const endOf = (execution: Execution) =>
  execution.finished_at === undefined
    ? startOf(execution) + durationOf(execution)
    : Date.parse(execution.finished_at);

const checkOutput = verdictSchema
  .omit({ command: true, pass: true, attempts: true, elapsed_ms: true })
  .partial({ actual: true, nearest: true, evidence: true });
/** What a walk looked for on its way, and what a script's call checked. */
const severalChecks = z
  .object({ verdicts: z.array(checkOutput.extend({ pass: z.boolean() })) })
  .transform(({ verdicts }) => verdicts.find(({ pass }) => !pass));
const oneOrSeveral = z.union([checkOutput, severalChecks]);

/** `area` is where it was seen and `score` how like it is; `evidence` are the pictures that were judged, the first of them that of `area`. */
export type Finding = {
  expected: string;
  found: string;
  nearest: readonly string[];
  evidence: readonly string[];
} & Pick<Verdict, "area" | "score">;

/** What a failed check expected and found, when the step is one or holds one. */
export function findingOf(step: Step): Finding | undefined {
  if (step.status === "passed") return undefined;
  const check = oneOrSeveral.safeParse(step.output).data;
  if (!check) return undefined;
  const { expected, actual = "", error, inconclusive, nearest = [], evidence = [], ...seen } = check;
  return { expected, found: error ?? inconclusive ?? actual, nearest, evidence, ...seen };
}

const rowRun = z.object({ execution_id: z.string().min(1), status: z.string() });

/** The runs of a run for each row, in order; empty for any other. */
export function rowRunsOf(steps: readonly Step[]): z.output<typeof rowRun>[] {
  return steps.flatMap(({ kind, output }) => (kind === "row" ? (rowRun.safeParse(output).data ?? []) : []));
}

/** The test case that a run is of: that of a row has the row in its name. */
export const testcaseOf = ({ name, input }: Execution): string =>
  ofTestcase.safeParse(input).data?.testcase ?? name;
const ofTestcase = z.object({ testcase: z.string() });

/** What a run was called with: the inputs of a test case, the arguments of a script, the variables of a navigation. */
export function inputsOf({ input }: Execution): Params {
  const { inputs, args, variables } = called.safeParse(input).data ?? {};
  return { ...variables, ...inputs, ...(args && args.length > 0 && { args }) };
}
const called = z
  .object({ inputs: paramsSchema, args: z.array(z.string()), variables: paramsSchema })
  .partial();

/** How a run began, one line for each fact that is known. */
export function startFacts({ input, triggered_by }: Execution): [name: string, value: string][] {
  const { by, ...facts } = began.safeParse(input).data?.start ?? {};
  const rows = Object.entries(facts).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return [["by", by === undefined ? triggered_by : `${String(by)} (${triggered_by})`], ...rows];
}
const began = z.object({ start: paramsSchema });

/** A step's place in its run, and its label where that is another. */
export const stepName = ({ path, label }: Pick<Step, "path" | "label">): string =>
  path === "" || path === label ? label : `${path}: ${label}`;

/** Those of the attempt that decided; all of a run that was tried once. */
export function decidingSteps<S extends Pick<Step, "path">>({
  execution,
  steps,
}: {
  execution: Pick<Execution, "attempts">;
  steps: readonly S[];
}): readonly S[] {
  const number = execution.attempts?.length ?? 1;
  return number === 1 ? steps : steps.filter(({ path }) => path.startsWith(`attempt${number}/`));
}

/** The step that decided: the deepest one that did not pass, the last of those. */
export function decidingStep(steps: readonly Step[]): Step | undefined {
  const bad = steps.filter(({ status }) => status !== "passed" && status !== "skipped");
  return bad.find((step) => findingOf(step) !== undefined) ?? bad[0];
}

export function flakyReason({ attempts = [] }: Execution): string {
  const [first] = attempts;
  return first?.reason ? `${first.reason.code}: ${first.reason.message}` : (first?.status ?? "unknown");
}

export function failureText({ execution, steps }: ReportEntry): string {
  const step = decidingStep(decidingSteps({ execution, steps }));
  const finding = step && findingOf(step);
  return [
    execution.reason ? `${execution.reason.code}: ${execution.reason.message}` : `Ended ${execution.status}.`,
    ...(step ? [`step: ${step.path || step.label} (${step.label})`] : []),
    ...(step?.error ? [`error: ${step.error.code}: ${step.error.message}`] : []),
    ...(finding ? [`expected: ${finding.expected}`, `found: ${finding.found}`] : []),
    ...(finding && finding.nearest.length > 0 ? [`nearest: ${finding.nearest.join(", ")}`] : []),
    ...(step ? noticesOf(step).map((notice) => `notice: ${notice}`) : []),
    ...(execution.rerun === undefined ? [] : [`rerun: ${execution.rerun}`]),
    ...(step ? step.artifacts.map(({ kind, uri }) => `${kind}: ${uri}`) : []),
  ].join("\n");
}

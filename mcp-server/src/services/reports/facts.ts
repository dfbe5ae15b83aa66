import { z } from "zod";
import type { Execution, Step } from "../../domain/index.ts";
import type { ReportEntry, ReportSummary } from "./types.ts";

export function summarize(entries: readonly ReportEntry[]): ReportSummary {
  const count = (...statuses: Execution["status"][]) =>
    entries.filter(({ execution }) => statuses.includes(execution.status)).length;
  return {
    tests: entries.length,
    passed: count("passed"),
    failed: count("failed"),
    errors: count("error", "timeout"),
    other: count("cancelled", "queued", "running"),
    duration_ms: entries.reduce((sum, { execution }) => sum + durationOf(execution), 0),
  };
}

export const durationOf = (execution: Execution) => execution.duration_ms ?? 0;

export const startOf = (execution: Execution) => Date.parse(execution.started_at);

export const endOf = (execution: Execution) =>
  execution.finished_at === undefined
    ? startOf(execution) + durationOf(execution)
    : Date.parse(execution.finished_at);

const checkOutput = z.object({
  expected: z.string().optional(),
  actual: z.string().optional(),
  nearest: z.array(z.string()).optional(),
});
export type Finding = { expected: string; found: string; nearest: readonly string[] };

/** What a failed check expected and found, when the step is one. */
export function findingOf(step: Step): Finding | undefined {
  const parsed = checkOutput.safeParse(step.output);
  if (!parsed.success || parsed.data.expected === undefined || step.status === "passed") return undefined;
  const { expected, actual, nearest } = parsed.data;
  return { expected, found: actual ?? "", nearest: nearest ?? [] };
}

/** The step that decided: the deepest one that did not pass, the last of those. */
export function decidingStep(steps: readonly Step[]): Step | undefined {
  const bad = steps.filter(({ status }) => status !== "passed" && status !== "skipped");
  return bad.find((step) => findingOf(step) !== undefined) ?? bad[0];
}

/** The failure in lines of plain text. */
export function failureText({ execution, steps }: ReportEntry): string {
  const step = decidingStep(steps);
  const finding = step && findingOf(step);
  return [
    execution.reason ? `${execution.reason.code}: ${execution.reason.message}` : `Ended ${execution.status}.`,
    ...(step ? [`step: ${step.path || step.label} (${step.label})`] : []),
    ...(step?.error ? [`error: ${step.error.code}: ${step.error.message}`] : []),
    ...(finding ? [`expected: ${finding.expected}`, `found: ${finding.found}`] : []),
    ...(finding && finding.nearest.length > 0 ? [`nearest: ${finding.nearest.join(", ")}`] : []),
    ...(step ? step.artifacts.map(({ kind, uri }) => `${kind}: ${uri}`) : []),
  ].join("\n");
}

export function seconds(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(ms < 60_000 ? 2 : 0)} s`;
}

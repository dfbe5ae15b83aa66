import { z } from "zod";
import { repeatWords } from "../domain/index.ts";

const reason = z.looseObject({ code: z.string(), message: z.string() });

/** What `execute_testcase` and `cancel_execution` answer, as far as it is shown. */
export const runReply = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  duration_ms: z.number().optional(),
  reason: reason.optional(),
  failed_step: z
    .looseObject({ label: z.string(), expected: z.string().optional(), found: z.string().optional() })
    .optional(),
  rows: z
    .looseObject({
      total: z.number(),
      passed: z.number(),
      not_passed: z.array(z.looseObject({ row: z.string(), status: z.string(), reason: reason.optional() })),
      more: z.number().optional(),
    })
    .optional(),
  flaky: z.boolean().optional(),
  attempts: z.array(z.looseObject({ status: z.string(), reason: reason.optional() })).optional(),
  rerun: z.string().optional(),
});
export type RunReply = z.output<typeof runReply>;

export const indent = "           ";

/** What a status says of the app and of the test. */
const meanings: Readonly<Record<string, string>> = {
  failed: "the app did not do what the test asks for",
  error: "the test could not be judged",
  timeout: "the test did not end in its time",
  cancelled: "the test was stopped",
};

/** The verdict of one test in a line, and below it why. */
export function verdictText(name: string, run: RunReply): string {
  const time = run.duration_ms === undefined ? "" : `  ${(run.duration_ms / 1_000).toFixed(1)} s`;
  const word = run.flaky ? "flaky" : run.status;
  const lines = [
    `${word.padEnd(9)}  ${name}${time}  ${run.execution_id}`,
    ...[...rowLines(run), ...whyLines(run)].map((line) => `${indent}${line}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** How many rows passed, and those that did not. */
function rowLines({ rows }: RunReply): string[] {
  if (!rows) return [];
  const bad = rows.not_passed.map(({ row, ...end }) => `row ${row} ${attemptText(end)}`);
  const more = rows.more === undefined ? [] : [`… ${rows.more} more`];
  return [`${rows.passed} of ${rows.total} rows passed`, ...bad, ...more];
}

function whyLines({
  status,
  reason: why,
  failed_step: step,
  attempts = [],
  flaky,
  rerun,
}: RunReply): string[] {
  const tried = attempts.map((one, index) => `attempt ${index + 1} ${attemptText(one)}`);
  const again = rerun === undefined ? [] : [rerun];
  if (status === "passed")
    return [...(flaky ? ["it passed only when it was tried again", ...tried] : []), ...again];
  const decided =
    step?.expected === undefined
      ? why && [`${why.code}: ${why.message}`]
      : [`expected ${step.expected}`, `found    ${step.found}`, ...repeatLine(why?.message)];
  const meaning = meanings[status];
  return [
    ...(meaning === undefined ? [] : [meaning]),
    ...(step ? [`step ${step.label}`] : []),
    ...(decided ?? []),
    ...tried,
    ...again,
  ];
}

/** How a request that failed is made again. */
function repeatLine(message = ""): string[] {
  const [, line] = message.split(repeatWords);
  return line === undefined ? [] : [`repeat   ${line}`];
}

const attemptText = ({ status, reason: why }: NonNullable<RunReply["attempts"]>[number]) =>
  why ? `${status}: ${why.code}: ${why.message}` : status;

/** How many runs ended how, such as `3 runs: 2 passed (1 of them flaky), 1 failed`. */
export function countText(runs: readonly { status: string; flaky: boolean }[]): string {
  const count = (status: string) => runs.filter((run) => run.status === status).length;
  const flaky = runs.filter((run) => run.flaky).length;
  const parts = ["passed", "failed", "error", "timeout", "cancelled"].flatMap((status) => {
    const n = count(status);
    if (n === 0 && status !== "passed") return [];
    return [`${n} ${status}${status === "passed" && flaky > 0 ? ` (${flaky} of them flaky)` : ""}`];
  });
  return `${runs.length} ${runs.length === 1 ? "run" : "runs"}: ${parts.join(", ")}`;
}

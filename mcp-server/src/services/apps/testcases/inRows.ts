import type { FinalStatus } from "../../../domain/index.ts";
import type { Clock, Run, RunReply } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import type { Row } from "./rows.ts";
import type { RowRun, TestcaseResult } from "./types.ts";

type Ran = RowRun & { output: TestcaseResult | undefined };

/** Runs each row as a run of its own and records it as a step. `error` if a row could not be judged, else `failed` if one failed. */
export async function inRows(
  run: Run,
  rows: readonly Row[],
  clock: Clock,
  runRow: (row: Row) => Promise<RunReply<TestcaseResult>>,
) {
  const all: Ran[] = [];
  for (const row of rows) {
    run.signal.throwIfAborted();
    const started = clock.monotonic();
    const ran = await tried(row, runRow);
    const durationMs = clock.monotonic() - started;
    run.verified(ran.output?.verified_count ?? 0);
    all.push(ran);
    await run.step(stepOf(row, ran, durationMs, clock.now()));
  }
  run.signal.throwIfAborted();
  return verdictOf(all);
}

/** A row that could not begin is an error of that row. */
async function tried(row: Row, runRow: (row: Row) => Promise<RunReply<TestcaseResult>>): Promise<Ran> {
  try {
    const { execution_id, status, reason, output } = await runRow(row);
    return { row: row.label, status, execution_id, ...(reason && { reason }), output };
  } catch (error) {
    return { row: row.label, status: "error", execution_id: "", reason: reasonOf(error), output: undefined };
  }
}

const finalStatuses = ["passed", "failed", "error", "cancelled", "timeout"] as const;
const finalOf = (status: string): FinalStatus => finalStatuses.find((one) => one === status) ?? "error";

function stepOf(
  { label, inputs }: Row,
  { status, execution_id, reason }: Ran,
  durationMs: number,
  now: number,
) {
  return {
    path: `row${label.split(" ", 1)[0]}`,
    kind: "row",
    label: `row ${label}`,
    status: finalOf(status),
    started_at: new Date(now - durationMs).toISOString(),
    duration_ms: durationMs,
    input: inputs,
    output: { execution_id, status },
    ...(reason && { error: reason }),
    artifacts: [],
  };
}

function verdictOf(all: readonly Ran[]) {
  const [one] = all;
  const bad = all.filter(({ status }) => status !== "passed");
  const status: FinalStatus =
    bad.length === 0 ? "passed" : bad.every((ran) => ran.status === "failed") ? "failed" : "error";
  const decided = bad.find((ran) => (ran.status === "failed") === (status === "failed"));
  const output: TestcaseResult = {
    testcase: one?.output?.testcase ?? "",
    verified_count: all.reduce((sum, ran) => sum + (ran.output?.verified_count ?? 0), 0),
    outputs: {},
    ...(decided?.output?.failed_step && { failed_step: decided.output.failed_step }),
    ...(bad.length === 0 && all.some((ran) => ran.output?.flaky) && { flaky: true }),
    rows: all.map(({ output: _, ...ran }) => ran),
  };
  if (!decided) return { status, output };
  const { code, message } = decided.reason ?? {
    code: "VERIFICATION_FAILED",
    message: `it ended ${decided.status}`,
  };
  const count = `${bad.length} of ${all.length} rows did not pass`;
  return { status, reason: { code, message: `${count}; row ${decided.row}: ${message}` }, output };
}

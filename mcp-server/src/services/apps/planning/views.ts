import type { Plan, PlanStep, Step } from "../../../domain/index.ts";
import type { TestcaseReply } from "../testcases/index.ts";
import { type Offers, typeOf } from "./steps.ts";

/** How one step went, in the states of seed 002. */
export type StepView = {
  step: number;
  objective: string;
  command?: string;
  action_type?: string;
  status: "pending" | "running" | "completed" | "failed" | "skipped" | "timeout";
  /** Whether it was a check. */
  check?: boolean;
  message?: string;
  duration_ms?: number;
};

/** `success`: every check held and at least one was made. `plan` is there where a task was given. */
export type PlanReply = {
  success: boolean;
  message: string;
  results: StepView[];
  plan?: Plan;
  current_node?: string;
  current_node_id?: string;
} & Partial<
  Pick<TestcaseReply, "execution_id" | "status" | "reason" | "duration_ms" | "verified_count" | "failed_step">
>;

export function summaryOf(reply: TestcaseReply, results: readonly StepView[]) {
  const { execution_id, status, reason, duration_ms, verified_count, failed_step } = reply;
  return {
    ...{ execution_id, status, reason, duration_ms, verified_count, failed_step },
    success: status === "passed",
    message: messageOf(reply, results),
  };
}

function messageOf(
  { status, reason, verified_count = 0 }: TestcaseReply,
  results: readonly StepView[],
): string {
  if (status === "running" || status === "queued")
    return "It still runs: get_execution_status waits for its end.";
  const done = results.filter((one) => one.status === "completed").length;
  const count = `${done} of ${results.length} steps done`;
  if (status === "passed") return `Plan executed: ${count}, ${verified_count} verified.`;
  return `${count}. ${reason?.message ?? status}`;
}

/** The records of the step at this place; a step of words may be several. */
export const recordOf = (done: readonly Step[], at: number): Step[] =>
  done.filter(({ path }) => new RegExp(`^s${at + 1}(?:_\\d+)?$`).test(path));

export function viewOf(
  planned: PlanStep,
  offers: Offers,
  records: readonly Step[],
  run: Pick<TestcaseReply, "status">,
): StepView {
  const { index, objective, command } = planned;
  const action_type = typeOf(planned, offers);
  const last = records.at(-1);
  const isOpen = run.status === "running" || run.status === "queued";
  const status = last ? stateOf(last.status) : isOpen ? "pending" : "skipped";
  return {
    ...{ step: index, objective, status },
    ...(command !== undefined && { command }),
    ...(action_type !== undefined && { action_type }),
    ...(last?.kind === "verification" && { check: true }),
    ...(last?.error && { message: `${last.error.code}: ${last.error.message}` }),
    ...(last && { duration_ms: records.reduce((sum, one) => sum + one.duration_ms, 0) }),
  };
}

function stateOf(status: Step["status"]): StepView["status"] {
  if (status === "passed") return "completed";
  return status === "timeout" || status === "skipped" ? status : "failed";
}

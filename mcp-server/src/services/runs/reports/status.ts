import {
  type Execution,
  type ExecutionKind,
  noticesOf,
  type Params,
  type Step,
} from "../../../domain/index.ts";
import { type ApiEnd, apiEnd } from "../../apps/apiTests/index.ts";
import {
  type NavigationEnd,
  navigationEnd,
  type ValidationEnd,
  validationEnd,
} from "../../apps/navigation/index.ts";
import { type TestcaseEnd, testcaseEnd } from "../../apps/testcases/index.ts";
import { type BatchEnd, batchEnd } from "../../devices/batches.ts";
import type { RunReply } from "../../ports.ts";
import { pageOf } from "../../values/pages.ts";
import { faultOf } from "../judgement/cause.ts";
import { stepName } from "../judgement/facts.ts";
import { type ScriptEndView, scriptEnd } from "../scripts/index.ts";

export type StatusView = {
  execution_id: string;
  steps: {
    n: number;
    step: string;
    status: string;
    duration_ms: number;
    error?: string;
    dispatched?: NonNullable<Step["error"]>["dispatched"];
    notices?: string[];
  }[];
  more?: number;
  fault?: "lab" | "test";
} & Pick<
  Execution,
  | "kind"
  | "name"
  | "status"
  | "reason"
  | "flaky"
  | "attempts"
  | "rerun"
  | "device"
  | "started_at"
  | "duration_ms"
  | "verified_count"
> & { userinterface_name?: string; outputs?: Params | undefined } & Pick<
    RunReply<never>,
    "next_step" | "doing"
  > &
  RunEnd;

type RunEnd = TestcaseEnd & ScriptEndView & BatchEnd & NavigationEnd & ValidationEnd & ApiEnd;

/** What the tool that started the run says at its end, by the run's kind. */
const ends: Record<ExecutionKind, (result: unknown, reason: string | undefined) => RunEnd> = {
  actions: batchEnd,
  navigation: navigationEnd,
  validation: validationEnd,
  testcase: testcaseEnd,
  script: scriptEnd,
  plan: testcaseEnd,
  api: apiEnd,
  // resume_investigation says what it found.
  investigation: () => ({}),
};

/** The compact form of a run, for a model that asks where it stands; `now` says where it stood when it was waited for. */
export function statusView(
  { execution, steps }: { execution: Execution; steps: readonly Step[] },
  { next_step, doing, output }: Pick<RunReply<object>, "next_step" | "doing" | "output">,
  maxTokens: number,
): StatusView {
  const { kind, name, status, reason, flaky, attempts, rerun } = execution;
  const { device, userinterface, started_at, duration_ms, verified_count } = execution;
  const shown = fitting(steps, maxTokens);
  const fault = reason && faultOf(reason.code, reason.message);
  return {
    ...ends[kind](output, reason?.message),
    execution_id: execution.id,
    kind,
    name,
    status,
    ...(reason && { reason }),
    ...(fault && { fault }),
    ...(flaky && { flaky }),
    ...(attempts && { attempts }),
    ...(rerun !== undefined && { rerun }),
    device,
    ...(userinterface !== undefined && { userinterface_name: userinterface }),
    started_at,
    ...(duration_ms !== undefined && { duration_ms }),
    verified_count,
    ...(next_step && { next_step }),
    ...(doing !== undefined && { doing }),
    ...(Object.keys(execution.outputs).length > 0 && { outputs: execution.outputs }),
    steps: shown,
    ...(shown.length < steps.length && { more: steps.length - shown.length }),
  };
}

/** In the order of the run; of too many steps, the failed ones and the latest. */
function fitting(steps: readonly Step[], maxTokens: number): StatusView["steps"] {
  const passed = (step: Step) => step.status === "passed";
  const byWorth = [...steps].reverse().sort((a, b) => Number(passed(a)) - Number(passed(b)));
  return pageOf(byWorth.map(lineOf), 0, maxTokens).items.sort((a, b) => a.n - b.n);
}

function lineOf(given: Step): StatusView["steps"][number] {
  const { index, status, duration_ms, error } = given;
  const notices = noticesOf(given);
  return {
    n: index + 1,
    step: stepName(given),
    status,
    duration_ms,
    ...(error && { error: `${error.code}: ${error.message}` }),
    ...(error?.dispatched && { dispatched: error.dispatched }),
    ...(notices.length > 0 && { notices }),
  };
}

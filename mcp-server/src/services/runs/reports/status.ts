import { type Execution, noticesOf, type Params, type Step } from "../../../domain/index.ts";
import { pageOf } from "../../values/pages.ts";
import { stepName } from "../judgement/facts.ts";

export type StatusView = {
  execution_id: string;
  steps: {
    n: number;
    step: string;
    status: string;
    duration_ms: number;
    error?: string;
    notices?: string[];
  }[];
  more?: number;
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
> & { userinterface_name?: string; outputs?: Params };

/** The compact form of a run, for a model that asks where it stands. */
export function statusView(
  { execution, steps }: { execution: Execution; steps: readonly Step[] },
  maxTokens: number,
): StatusView {
  const { kind, name, status, reason, flaky, attempts, rerun } = execution;
  const { device, userinterface, started_at, duration_ms, verified_count } = execution;
  const shown = fitting(steps, maxTokens);
  return {
    execution_id: execution.id,
    kind,
    name,
    status,
    ...(reason && { reason }),
    ...(flaky && { flaky }),
    ...(attempts && { attempts }),
    ...(rerun !== undefined && { rerun }),
    device,
    ...(userinterface !== undefined && { userinterface_name: userinterface }),
    started_at,
    ...(duration_ms !== undefined && { duration_ms }),
    verified_count,
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
    ...(notices.length > 0 && { notices }),
  };
}

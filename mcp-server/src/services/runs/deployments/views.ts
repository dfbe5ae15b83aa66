import type { Deployment, DeploymentRun, ListedDeployment } from "../../../storage/index.ts";
import { localTime } from "./schedule.ts";
import type { DeploymentLine, DeploymentView, RunLine } from "./types.ts";

export function viewOf({ id, name, status, body, next_at: next }: Deployment): DeploymentView {
  return {
    deployment_id: id,
    name,
    status,
    device_id: body.device_id,
    ...(next !== undefined && { next_due: next }),
    ...(next !== undefined && body.timezone !== "UTC" && { next_due_local: localTime(next, body.timezone) }),
  };
}

export function lineOf(deployment: ListedDeployment): DeploymentLine {
  const { testcase, script, cron, timezone, dates, max_executions: max } = deployment.body;
  const { next_due_local: _, ...view } = viewOf(deployment);
  return {
    ...view,
    ...(testcase !== undefined && { testcase }),
    ...(script !== undefined && { script }),
    ...(cron !== undefined && { cron, timezone }),
    ...(dates.length > 0 && { dates: dates.length }),
    started: deployment.started,
    ...(max !== undefined && { max_executions: max }),
    ...(deployment.last && { last: deployment.last }),
  };
}

export function runLineOf({
  due_at,
  status,
  reason,
  execution_id,
  started_at,
  finished_at,
}: DeploymentRun): RunLine {
  return {
    due_at,
    status,
    ...(execution_id !== undefined && { execution_id }),
    ...(reason && { reason: `${reason.code}: ${reason.message}` }),
    ...(started_at !== undefined && { started_at }),
    ...(finished_at !== undefined && started_at !== undefined && { finished_at }),
  };
}

import {
  type Database,
  type Deployment,
  type DeploymentRun,
  type DeploymentRunEnd,
  deploymentRunRows,
} from "../../../storage/index.ts";
import type { EventInput } from "../../ports.ts";
import type { DeploymentDependencies } from "./types.ts";

export type DueRun = { run: DeploymentRun; deployment: Deployment };
export type RunEnd = Omit<DeploymentRunEnd, "finished_at"> & { execution_id?: string };

/** The client that drives a device for a run, and so the owner of its lease. */
export const clientOf = ({ id }: DeploymentRun): string => `deployment:${id}`;

/** Ends a run within the caller's transaction, as its last statement, and tells of it. One that has ended stays so. */
export async function storeEnd(
  tx: Database,
  { run, deployment }: DueRun,
  { execution_id: executionId = run.execution_id, ...end }: RunEnd,
  deps: Pick<DeploymentDependencies, "events" | "clock">,
): Promise<void> {
  const ended = { ...end, finished_at: new Date(deps.clock.now()).toISOString() };
  if (await deploymentRunRows(tx).end(run.id, { ...ended, execution_id: executionId }))
    await deps.events.append(tx, endEvent({ run, deployment }, end, executionId));
}

function endEvent(
  { run, deployment }: DueRun,
  { status, reason }: RunEnd,
  executionId: string | undefined,
): EventInput {
  return {
    type: "deployment.execution_done",
    priority: status === "passed" ? "normal" : "high",
    source: "deployments",
    device_id: deployment.body.device_id,
    ...(executionId !== undefined && { execution_id: executionId }),
    payload: {
      deployment_id: deployment.id,
      deployment: deployment.name,
      run_id: run.id,
      due_at: run.due_at,
      status,
      ...(reason && { reason }),
    },
  };
}

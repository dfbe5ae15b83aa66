import { deploymentRunRows } from "../../../storage/index.ts";
import { clientOf, type DueRun, type RunEnd, storeEnd } from "./runEnd.ts";
import type { DeploymentDependencies } from "./types.ts";

type RecoverParts = Pick<
  DeploymentDependencies,
  "db" | "queue" | "devices" | "events" | "clock" | "executions" | "host"
>;

/**
 * What a dead daemon left: a run that was under way ends as its execution did, which is INTERRUPTED unless that was over;
 * one that had not started has its job again. Before anything is sent or taken.
 */
export async function recoverRuns(parts: RecoverParts): Promise<void> {
  const { db, queue } = parts;
  await queue.open();
  const waiting = await queue.recover();
  for (const due of await deploymentRunRows(db).openOn(parts.host)) {
    const { run, deployment } = due;
    // A dead run's lease would keep its device from the next one until it runs out.
    await parts.devices.releaseClient(clientOf(run));
    if (run.status === "running") {
      const end = await endOfDead(due, parts);
      await db.transaction((tx) => storeEnd(tx, due, end, parts));
    } else if (!waiting.has(run.id)) {
      await db.transaction((tx) => queue.send(tx, { id: run.id, lane: deployment.body.device_id }));
    }
  }
}

async function endOfDead({ run }: DueRun, { executions }: RecoverParts): Promise<RunEnd> {
  if (run.execution_id !== undefined) {
    const { status, reason } = (await executions.get(run.execution_id)).execution;
    if (status !== "queued" && status !== "running") return { status, ...(reason && { reason }) };
  }
  const message = "The server ended while this ran. It is not repeated: it may have acted.";
  return { status: "error", reason: { code: "INTERRUPTED", message } };
}

import { deploymentRunRows } from "../../../storage/index.ts";
import { clientOf, type DueRun, type RunEnd, storeEnd } from "./runEnd.ts";
import type { DeploymentDependencies } from "./types.ts";

type RecoverParts = Pick<
  DeploymentDependencies,
  "db" | "devices" | "events" | "clock" | "executions" | "host"
>;

/**
 * What a dead daemon left: a run that was under way ends as its execution did, which is INTERRUPTED unless that was over.
 * One that had not started stays queued.
 */
export async function recoverRuns(parts: RecoverParts): Promise<void> {
  const { db } = parts;
  for (const due of await deploymentRunRows(db).openOn(parts.host)) {
    // A dead run's lease would keep its device from the next one until it runs out.
    await parts.devices.releaseClient(clientOf(due.run));
    if (due.run.status !== "running") continue;
    const end = await endOfDead(due, parts);
    await db.transaction((tx) => storeEnd(tx, due, end, parts));
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

import type { CloudSession } from "@labwright/controllers";
import type { ExecutionEnd, NewExecution } from "../../../storage/rows/executionRows.ts";
import type { OpenDevice } from "../../ports.ts";

/** The kinds of runs that are tests: of the others a cloud's reports have nothing to say. */
const tests: readonly string[] = ["testcase", "script"] satisfies NewExecution["kind"][];
const tellMs = 15_000;

function findCloud({ controllers }: OpenDevice): CloudSession | undefined {
  return controllers.find(({ cloud }) => cloud !== undefined)?.cloud;
}

/** Where a cloud shows the session of a device; undefined for a device that is in none. */
export const sessionOf = (device: OpenDevice): string | undefined => findCloud(device)?.link();

/** Tells the cloud of a device how a test ended. A run that was cancelled has no verdict. */
export async function tellCloud(
  device: OpenDevice,
  { kind }: NewExecution,
  { status, reason }: ExecutionEnd,
): Promise<void> {
  if (!tests.includes(kind) || status === "cancelled") return;
  await findCloud(device)?.tellVerdict(
    {
      status: status === "passed" ? "passed" : "failed",
      reason: reason ? `${reason.code}: ${reason.message}` : "",
    },
    AbortSignal.timeout(tellMs),
  );
}

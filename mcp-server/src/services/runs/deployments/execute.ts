import type { DeploymentInput } from "../../../domain/index.ts";
import type { CallContext, RunReply } from "../../ports.ts";
import type { RunEnd } from "./runEnd.ts";
import type { DeploymentDependencies } from "./types.ts";

/** A run that is told to stop has this long to end before nobody waits for it any more. */
const graceMs = 60_000;

type Ports = Pick<DeploymentDependencies, "testcases" | "scripts">;

/** Runs what a deployment runs, to its end. Throws what keeps it from starting. */
export async function execute(body: DeploymentInput, context: CallContext, ports: Ports): Promise<RunEnd> {
  const { execution_id, status, reason } = await replyOf(body, context, ports);
  if (status !== "queued" && status !== "running") return { status, execution_id, ...(reason && { reason }) };
  const message = `Execution ${execution_id} did not end within its ${body.timeout_ms} ms and a minute more.`;
  return { status: "error", execution_id, reason: { code: "EXECUTION_TIMEOUT", message } };
}

function replyOf(
  body: DeploymentInput,
  context: CallContext,
  { testcases, scripts }: Ports,
): Promise<Pick<RunReply<never>, "execution_id" | "status" | "reason">> {
  const { testcase, script, inputs, args } = body;
  const { device_id, timeout_ms, environment, release, userinterface_name } = body;
  const wait_ms = timeout_ms + graceMs;
  const request = { device_id, timeout_ms, wait_ms, environment, release, userinterface_name };
  // A deployment has exactly one of the two.
  return script === undefined
    ? testcases.execute({ ...request, testcase: testcase ?? "", inputs }, context)
    : scripts.execute({ ...request, script, args }, context);
}

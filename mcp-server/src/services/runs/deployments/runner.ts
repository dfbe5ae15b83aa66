import type { DeploymentInput } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import {
  type Database,
  type Deployment,
  type DeploymentRun,
  type DeploymentRunEnd,
  deploymentRunRows,
} from "../../../storage/index.ts";
import type { CallContext, Clock, DeviceService, EventInput, Grant, RunReply } from "../../ports.ts";
import { reasonOf } from "../../records/executions/endings.ts";
import { Repeater } from "../../records/repeater.ts";
import type { DeploymentDependencies } from "./types.ts";

/** How long the database may be away before the end of a run is stored again. */
const storeAgainMs = 10_000;

type Parts = DeploymentDependencies & { ready(): Promise<void> };
type Live = { device: string; control: AbortController; done: Promise<void> };

/** Takes queued runs, one at a time for each device, runs them and stores their ends. */
export class Runner {
  private readonly parts: Parts;
  private readonly taking: Repeater;
  private readonly live = new Map<string, Live>();
  private readonly closing = new AbortController();

  constructor(parts: Parts) {
    this.parts = parts;
    this.taking = new Repeater(parts.clock, () => this.takeAll(), parts.onFault);
  }

  wake(): void {
    this.taking.wake();
  }

  /** Stops the wait of a run that was cancelled in the database. */
  drop(runId: string): void {
    this.live.get(runId)?.control.abort();
  }

  /** What waits stays queued; what runs is stopped, and its end stored. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.taking.stop();
    for (const { control } of this.live.values()) control.abort();
    await Promise.all([...this.live.values()].map(({ done }) => done));
  }

  private async takeAll(): Promise<void> {
    await this.parts.ready();
    const { db, host } = this.parts;
    for (const due of await deploymentRunRows(db).openOn(host)) {
      if (due.run.status !== "queued" || this.closing.signal.aborted) continue;
      const devices = [...this.live.values()].map(({ device }) => device);
      if (!devices.includes(due.deployment.body.device_id)) this.begin(due);
    }
  }

  private begin(due: DueRun): void {
    const { id } = due.run;
    const control = new AbortController();
    const done = this.perform(due, control.signal)
      .catch(this.parts.onFault)
      .finally(() => {
        this.live.delete(id);
        this.wake();
      });
    this.live.set(id, { device: due.deployment.body.device_id, control, done });
  }

  private async perform(due: DueRun, signal: AbortSignal): Promise<void> {
    const end = await this.attempt(due, signal);
    if (end) await this.store(due, end);
  }

  /** Undefined for a run that did not start: it was cancelled, or the server ends and the next daemon runs it. */
  private async attempt(due: DueRun, signal: AbortSignal): Promise<RunEnd | undefined> {
    const { clock, devices } = this.parts;
    const { device_id: deviceId, timeout_ms: timeoutMs } = due.deployment.body;
    const context = this.contextOf(due, signal);
    try {
      const grant = await whenFree(deviceId, context, { devices, clock, timeoutMs });
      try {
        return await this.runNow(due, context);
      } finally {
        grant.done();
      }
    } catch (error) {
      return signal.aborted ? undefined : { status: "error", reason: reasonOf(error) };
    } finally {
      // Its lease would outlive it, and keep the device from the next run.
      await devices.releaseClient(context.client).catch(this.parts.onFault);
    }
  }

  private async runNow(due: DueRun, context: CallContext): Promise<RunEnd | undefined> {
    const { db, clock } = this.parts;
    const rows = deploymentRunRows(db);
    context.signal.throwIfAborted();
    if (!(await rows.start(due.run.id, new Date(clock.now()).toISOString()))) return undefined;
    try {
      return await this.parts.secrets.within({}, () => execute(due.deployment.body, context, this.parts));
    } catch (error) {
      return { status: context.signal.aborted ? "cancelled" : "error", reason: reasonOf(error) };
    }
  }

  /** Its own client, so that its lease is its own; the trace is the run's id, by which its execution is found. */
  private contextOf({ run, deployment }: DueRun, signal: AbortSignal): CallContext {
    const { db, onFault } = this.parts;
    return {
      principal: `deployment:${deployment.name}`,
      client: clientOf(run),
      signal,
      // The wait for the device and the run have limits of their own.
      deadline: Number.POSITIVE_INFINITY,
      trace_id: run.id.replaceAll("-", ""),
      progress: () => {},
      capabilities: { elicitation: false },
      note({ execution_id: executionId }) {
        if (executionId === undefined) return;
        deploymentRunRows(db).setExecution(run.id, executionId).catch(onFault);
      },
    };
  }

  private async store(due: DueRun, end: RunEnd): Promise<void> {
    const { db, clock, onFault } = this.parts;
    for (;;) {
      try {
        return await db.transaction((tx) => storeEnd(tx, due, end, this.parts));
      } catch (error) {
        onFault(error);
        // Left as it is when the server ends: its execution knows the end.
        await clock.sleep(storeAgainMs, this.closing.signal);
      }
    }
  }
}

/** A lease ends without an event, so its end is polled. */
const askEveryMs = 2_000;

/** Waits for whoever holds the device, never by force. Throws DEVICE_HELD after `timeoutMs`, else what `acquire` throws. */
async function whenFree(
  deviceId: string,
  context: CallContext,
  deps: { devices: Pick<DeviceService, "acquire">; clock: Clock; timeoutMs: number },
): Promise<Grant> {
  const { devices, clock, timeoutMs } = deps;
  const until = clock.monotonic() + timeoutMs;
  for (;;) {
    try {
      return await devices.acquire({ device_id: deviceId }, context, { drives: true });
    } catch (error) {
      const isHeld = error instanceof ToolError && error.code === "DEVICE_HELD";
      if (!isHeld || clock.monotonic() >= until) throw error;
    }
    await clock.sleep(Math.min(askEveryMs, until - clock.monotonic()), context.signal);
  }
}

/** How long a run that is stopped is waited for. */
const graceMs = 60_000;

type Ports = Pick<DeploymentDependencies, "testcases" | "scripts">;

/** Runs what a deployment runs, to its end. Throws what keeps it from starting. */
async function execute(body: DeploymentInput, context: CallContext, ports: Ports): Promise<RunEnd> {
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

type RecoverParts = Pick<
  DeploymentDependencies,
  "db" | "devices" | "events" | "clock" | "executions" | "host"
>;

/** Ends the runs of a dead daemon as their executions ended, else INTERRUPTED. What had not started stays queued. */
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

export type DueRun = { run: DeploymentRun; deployment: Deployment };
export type RunEnd = Omit<DeploymentRunEnd, "finished_at"> & { execution_id?: string };

/** The client that drives a device for a run, and so the owner of its lease. */
const clientOf = ({ id }: DeploymentRun): string => `deployment:${id}`;

/** Ends a run within the caller's transaction, as its last statement, and publishes the event. One that has ended stays so. */
async function storeEnd(
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

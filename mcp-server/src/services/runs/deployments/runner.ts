import { deploymentRunRows } from "../../../storage/index.ts";
import type { CallContext } from "../../ports.ts";
import { reasonOf } from "../../records/executions/endings.ts";
import { execute } from "./execute.ts";
import { Repeater } from "./repeater.ts";
import { clientOf, type DueRun, type RunEnd, storeEnd } from "./runEnd.ts";
import type { DeploymentDependencies } from "./types.ts";
import { whenFree } from "./whenFree.ts";

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

  /** Takes what waits. To be called when a run was queued. */
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

  /**
   * Undefined for a run that did not start and has no end: it was cancelled meanwhile, or the server ends. Then it is still
   * queued, and the next daemon runs it.
   */
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

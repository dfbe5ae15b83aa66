import { randomUUID } from "node:crypto";
import type { Execution, Step } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { ExecutionEnd, NewExecution } from "../../../storage/rows/executionRows.ts";
import type { CallContext, ExecutionService, Grant, Run, RunReply, RunSpec } from "../../ports.ts";
import type { AppModel } from "../inUse.ts";
import {
  type BodyResult,
  cancelledBy,
  isDeadline,
  pendingEnd,
  type Reason,
  type Waited,
  waitForEnd,
} from "./endings.ts";
import { type Body, type ExecutionDependencies, LiveRun, storageError, storageFailed } from "./liveRun.ts";
import { newExecution, reportToCloud, withoutDevice } from "./newExecution.ts";
import { inProcessJobs, type JobPort, Slots, whyQueued } from "./queue.ts";
import { RunRecord } from "./runRecord.ts";
import { storable } from "./storable.ts";

/** What a call has left to answer in when it has waited for a run up to its deadline. */
const answerMs = 500;

type Entry = { run: LiveRun; ended: Promise<ExecutionEnd>; owner: Pick<CallContext, "principal" | "client"> };

/** The one place where runs start, are waited for, stopped and recorded. */
export const createExecutions = (deps: ExecutionDependencies): ExecutionService => new Executions(deps);

type Turn = {
  grant: Grant;
  control: AbortController;
  own: CallContext;
  app: AppModel | undefined;
};

class Executions implements ExecutionService {
  private readonly deps: ExecutionDependencies;
  private readonly jobs: JobPort;
  private readonly live = new Map<string, Entry>();
  /** Ends that the database refused, kept to be stored on the next occasion. */
  private readonly unstored = new Map<string, { record: RunRecord; end: ExecutionEnd }>();

  private readonly slots: Slots;

  constructor(deps: ExecutionDependencies) {
    this.deps = deps;
    this.slots = new Slots(deps.mostDevices ?? Number.POSITIVE_INFINITY);
    this.jobs = inProcessJobs((error) => deps.onError?.(error));
  }

  async run<Output extends object>(
    spec: RunSpec,
    context: CallContext,
    body: (run: Run) => Promise<BodyResult<Output>>,
  ): Promise<RunReply<Output>> {
    const app = await this.appOf(spec, context);
    const control = new AbortController();
    const deadline = this.deps.clock.monotonic() + spec.timeout_ms;
    const own = { ...context, signal: control.signal, deadline };
    const stop = () => control.abort(stopReason(context));
    if (context.signal.aborted) stop();
    context.signal.addEventListener("abort", stop, { once: true });
    // From here on only a cancellation stops the run, no longer the call's deadline.
    const acquired =
      spec.device === "none"
        ? Promise.resolve(withoutDevice(this.deps.host, control.signal))
        : this.deps.devices.acquire(spec.device, own, { drives: true });
    const grant = await acquired.finally(() => context.signal.removeEventListener("abort", stop));
    const entry = await this.begin(spec, context, { grant, control, own, app }, body);
    const waited = await this.waitForEntry(entry, spec.wait_ms, context);
    return { ...this.replyOf(entry.run, waited), output: waited.ended ? entry.run.output : undefined };
  }

  async wait(executionId: string, waitMs: number, context: CallContext): Promise<RunReply<object>> {
    const entry = this.live.get(executionId);
    if (entry) {
      const waited = await this.waitForEntry(entry, waitMs, context, waitMs > 0);
      return { ...this.replyOf(entry.run, waited), output: waited.ended ? entry.run.output : undefined };
    }
    const { execution, result } = await this.found(executionId);
    return {
      execution_id: executionId,
      status: execution.status,
      ...(execution.reason && { reason: execution.reason }),
      duration_ms: execution.duration_ms,
      steps_done: await this.deps.rows.countSteps(executionId),
      output: typeof result === "object" && result !== null ? result : undefined,
    };
  }

  goOn(executionId: string, way: "next" | "on"): void {
    const stops = this.live.get(executionId)?.run.options.spec.stops;
    if (!stops?.at) {
      const message = `Execution ${executionId} is not stopped before a step.`;
      throw new ToolError("INVALID_INPUT", message, "Leave go out to wait for its end.");
    }
    stops.go(way);
  }

  async get(executionId: string): Promise<{ execution: Execution; steps: Step[] }> {
    const { execution } = await this.found(executionId);
    const run = this.live.get(executionId)?.run;
    const reason = run && this.whyQueued(run);
    return {
      execution: { ...execution, ...(reason && { reason }) },
      steps: await this.deps.rows.steps(executionId),
    };
  }

  async cancel(executionId: string, by: string): Promise<Execution> {
    const entry = this.live.get(executionId);
    if (entry) {
      entry.run.abort(cancelledBy(by));
      await entry.ended;
    }
    const { execution } = await this.found(executionId);
    if (execution.finished_at !== undefined) return execution;
    throw new ToolError(
      "DAEMON_UNAVAILABLE",
      `Execution ${executionId} runs on host ${execution.host_name}, not on ${this.deps.host}.`,
      `Call cancel_execution on ${execution.host_name}.`,
      { host: execution.host_name },
    );
  }

  async endWithin(executionId: string): Promise<void> {
    const inner = [...this.live.values()].filter(({ run }) => run.options.within === executionId);
    for (const { run } of inner) run.abort(cancelledBy("the end of what it was a part of"));
    await Promise.allSettled(inner.map(({ ended }) => ended));
  }

  async recover(): Promise<number> {
    const { rows, host, clock } = this.deps;
    const open = (await rows.openOn(host)).filter(({ id }) => !this.live.has(id));
    for (const execution of open) {
      const now = clock.now();
      await this.store(new RunRecord(rows, { ...execution, input: {} }, true), {
        status: "error",
        reason: {
          code: "INTERRUPTED",
          message: "The server ended while this ran. Its steps so far are kept.",
        },
        finished_at: new Date(now).toISOString(),
        duration_ms: Math.max(0, now - Date.parse(execution.started_at)),
        verified_count: execution.verified_count,
        outputs: execution.outputs,
        result: null,
      });
    }
    return open.length;
  }

  running(): number {
    return this.live.size;
  }

  stopAll(reason: ToolError): void {
    for (const { run } of this.live.values()) run.abort(reason);
  }

  async close(): Promise<void> {
    for (const { run } of this.live.values()) run.abort(cancelledBy("the server, which is shutting down"));
    await this.jobs.settled();
    await this.storeLate().catch((error: unknown) => this.deps.onError?.(error));
  }

  /** Makes the row and lets the body start when it is the device's turn. */
  private async begin<Output extends object>(
    spec: RunSpec,
    context: CallContext,
    { grant, control, own, app }: Turn,
    body: Body<Output>,
  ): Promise<Entry & { run: LiveRun<Output> }> {
    const { rows, secrets, host, clock } = this.deps;
    const input = secrets.mask(storable(spec.input));
    const { lane, outer } = this.placeOf(grant, context);
    const { within, principal, client } = context;
    // A part of a run that has a slot waits for none: the run that waits for it would keep its own for ever.
    const isInSlot = this.live.get(within ?? "")?.run.options.hasSlot ?? false;
    const needsSlot = !isInSlot && spec.device !== "none";
    const isNext = this.ofLane(lane).length === 0;
    const slot = needsSlot && isNext ? this.slots.takeNow() : undefined;
    const execution = {
      ...newExecution(spec, context, {
        device: grant.device,
        outer,
        status: isNext && (slot || !needsSlot) ? "running" : "queued",
        host,
        now: clock.now(),
      }),
      input,
    };
    const record = new RunRecord(rows, execution);
    const hasSlot = needsSlot || isInSlot;
    const options = { record, spec, grant, control, lane, within, hasSlot, app };
    const run = new LiveRun<Output>(options, this.deps);
    const { ended, settle, refuse } = pendingEnd();
    const entry = { run, ended, owner: { principal, client } };
    this.live.set(execution.id, entry);
    const queued = this.whyQueued(run);
    if (queued) run.say(queued.message);
    const secretsOfRun = secrets.hold();
    const opened = this.openRecord(record).catch(storageFailed);
    // A start that cannot be stored is how the run ends: its row must not stay in the queue.
    const begun: Body<Output> = async (offered) => {
      if (execution.status === "queued") await rows.start(execution.id).catch(storageFailed);
      return body(offered);
    };
    this.jobs.start(
      lane,
      async () => {
        const leave = slot ?? (needsSlot ? await this.slots.take(grant.signal) : undefined);
        try {
          await opened;
          const end = await secretsOfRun.run(() => run.execute(begun, own));
          // Nothing of it may drive the device during the next run.
          await this.endWithin(execution.id);
          if (within === undefined)
            await reportToCloud(grant.device, execution, end).catch((error) => this.deps.onError?.(error));
          settle(await this.finish(record, end, context));
        } catch (error) {
          this.deps.onError?.(error);
          refuse(error);
        } finally {
          this.live.delete(execution.id);
          grant.done();
          leave?.();
          secretsOfRun.release();
        }
      },
      grant.signal,
    );
    await opened;
    const fence = grant.lease?.fence;
    context.note?.({
      execution_id: execution.id,
      ...(execution.device !== undefined && { device_id: execution.device }),
      ...(fence !== undefined && { fence }),
    });
    return { ...entry, run };
  }

  private async openRecord(record: RunRecord): Promise<void> {
    const { kind, status } = record.execution;
    if (kind === "actions" && status === "running") record.openLater(this.deps.clock);
    else await record.open();
  }

  /** The app that the run is in, else that of the run that it is a part of. */
  private async appOf({ userinterface }: RunSpec, { within }: CallContext) {
    if (userinterface === undefined) return this.live.get(within ?? "")?.run.options.app;
    return this.deps.findApp?.(userinterface);
  }

  /** The queue in which a run waits: its device's or, inside a run that has the device, that run's own. */
  private placeOf({ device }: Grant, { within }: CallContext): { lane: string; outer?: NewExecution } {
    const outer = within === undefined ? undefined : this.live.get(within)?.run.options.record.execution;
    if (device.id === "") return { lane: randomUUID() };
    return outer?.device === device.id ? { lane: `within ${outer.id}`, outer } : { lane: device.id };
  }

  private async finish(record: RunRecord, end: ExecutionEnd, { leave }: CallContext): Promise<ExecutionEnd> {
    const keep = () => void this.unstored.set(record.execution.id, { record, end });
    const whole = leave && (await record.whole(end));
    const left = whole && leave(whole);
    if (left) {
      left.catch(keep);
      return end;
    }
    try {
      await this.store(record, end);
      return end;
    } catch (error) {
      keep();
      throw storageError(error, `The run ended ${end.status}, but its end could not be stored`);
    }
  }

  /** With its event. A batch of actions has none, since only its caller needs to know. */
  private async store(record: RunRecord, end: ExecutionEnd): Promise<void> {
    const { execution } = record;
    if (execution.kind === "actions") return record.end(end, undefined);
    const calm = end.status === "passed" || end.status === "cancelled";
    await record.end(end, async (tx) => {
      await this.deps.events.append(tx, {
        type: `${execution.kind}.completed`,
        priority: calm ? "normal" : "high",
        source: "executions",
        ...(execution.device !== undefined && { device_id: execution.device }),
        execution_id: execution.id,
        payload: {
          name: execution.name,
          status: end.status,
          duration_ms: end.duration_ms,
          ...(isFlaky(end.result) && { flaky: true }),
          ...(execution.build !== undefined && { build: execution.build }),
          ...(end.reason && { reason: end.reason }),
        },
      });
    });
  }

  async storeLate(): Promise<void> {
    for (const [id, { record, end }] of this.unstored) {
      await this.store(record, end);
      this.unstored.delete(id);
    }
  }

  private async found(id: string) {
    await this.storeLate().catch((error: unknown) => {
      if (this.unstored.has(id)) throw storageError(error);
    });
    await this.live.get(id)?.run.options.record.open().catch(storageFailed);
    const row = await this.deps.rows.find(id);
    if (row) return row;
    throw new ToolError(
      "EXECUTION_NOT_FOUND",
      `There is no execution "${id}".`,
      "Use the execution_id that the call which started the run gave back.",
    );
  }

  /** `cancels`: the run is cancelled when its owner cancels the wait. */
  private async waitForEntry(
    entry: Entry,
    waitMs: number,
    context: CallContext,
    cancels = true,
  ): Promise<Waited> {
    const stopWatching = entry.run.watch((done, total, message) => context.progress(done, total, message));
    try {
      return await waitForEnd(entry.ended, {
        clock: this.deps.clock,
        // The call is answered before its own deadline would cut it off.
        waitMs: Math.min(waitMs, context.deadline - this.deps.clock.monotonic() - answerMs),
        signal: context.signal,
        stopped: entry.run.options.spec.stops?.stopped(),
        ...(cancels &&
          isOwner(entry, context) && { cancel: () => entry.run.abort(cancelledBy(context.client)) }),
      });
    } finally {
      stopWatching();
    }
  }

  private replyOf(run: LiveRun, waited: Waited): Omit<RunReply<never>, "output"> {
    const { id: execution_id, stepsDone: steps_done } = run;
    if (waited.ended) {
      const { status, reason, duration_ms } = waited.end;
      return { execution_id, status, ...(reason && { reason }), duration_ms, steps_done };
    }
    const reason = this.whyQueued(run);
    const next_step = run.options.spec.stops?.at;
    return {
      ...{ execution_id, status: reason ? "queued" : "running", steps_done },
      ...(reason && { reason }),
      ...(next_step && { next_step }),
      ...(run.doing !== undefined && !next_step && { doing: run.doing }),
    };
  }

  private whyQueued(run: LiveRun): Reason | undefined {
    return whyQueued(run, this.ofLane(run.options.lane), this.slots.most);
  }

  private ofLane(lane: string): LiveRun[] {
    return [...this.live.values()].map(({ run }) => run).filter((run) => run.options.lane === lane);
  }
}

/** A run that has not begun when its call's deadline passes does not begin. */
const stopReason = ({ signal, client }: CallContext) =>
  isDeadline(signal.reason) ? signal.reason : cancelledBy(client);

/** Whoever only waits for the run of another does not stop it by going. */
const isOwner = ({ owner }: Entry, { principal, client }: CallContext) =>
  owner.principal === principal && owner.client === client;

const isFlaky = (result: unknown): boolean =>
  typeof result === "object" && result !== null && "flaky" in result && result.flaky === true;

import type { Step, StepActivity } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { ExecutionEnd, ExecutionRows } from "../../../storage/rows/executionRows.ts";
import type {
  CallContext,
  Clock,
  DeviceService,
  EventInput,
  Grant,
  Run,
  RunSpec,
  Secrets,
} from "../../ports.ts";
import { mapStrings } from "../../values/strings.ts";
import { ActivityOfSteps } from "../activity.ts";
import { type AppModel, inApp } from "../inUse.ts";
import type { Notices } from "../notices.ts";
import { type BodyResult, endingOf, type Outcome, reasonOf, timedOut } from "./endings.ts";
import { sessionOf } from "./newExecution.ts";
import type { RunRecord } from "./runRecord.ts";
import { storable, storableObject, storableText } from "./storable.ts";

export type ExecutionDependencies = {
  rows: ExecutionRows;
  devices: DeviceService;
  /** Appends inside the transaction that ends the run. */
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  secrets: Secrets;
  notices: Notices;
  clock: Clock;
  /** An app by its name; runs in an unknown one have the usual test-id attribute. */
  findApp?: (userinterface: string) => Promise<AppModel | undefined>;
  host: string;
  /** Devices that run at the same time; any number when left out. */
  mostDevices?: number;
  /** Called with faults that no call waits for: an end that could not be stored, a run that does not stop. */
  onError?: (error: unknown) => void;
};

/** Progress goes out at least this often; the rule is 5 s. */
const heartbeatMs = 4_000;
/** How long a run may take to stop. */
const graceMs = 10_000;

export type Body<Output> = (run: Run) => Promise<BodyResult<Output>>;
export type Watcher = CallContext["progress"];

type RunOptions = {
  record: RunRecord;
  spec: RunSpec;
  grant: Grant;
  control: AbortController;
  /** The queue in which it waits for its turn. */
  lane: string;
  /** The run that it is a part of. */
  within: string | undefined;
  /** Whether it, or a run that it is a part of, counts to the devices that run at the same time. */
  hasSlot: boolean;
  app: AppModel | undefined;
};

/** One run of this process, from the moment its row exists until its end is known. */
export class LiveRun<Output extends object = object> {
  hasStarted = false;
  stepsDone = 0;
  doing: string | undefined;
  output: Output | undefined;
  readonly id: string;
  private verifiedCount = 0;
  private stored: Promise<void> = Promise.resolve();
  private saying = "";
  private lastDone = -1;
  private over = false;
  private readonly startedAt: number;
  private readonly watchers = new Set<Watcher>();
  private readonly activity: ActivityOfSteps;

  constructor(
    readonly options: RunOptions,
    private readonly deps: ExecutionDependencies,
  ) {
    this.id = options.record.execution.id;
    this.startedAt = deps.clock.monotonic();
    this.activity = new ActivityOfSteps(options.grant.device, deps.clock);
  }

  abort(reason: ToolError): void {
    this.options.control.abort(reason);
  }

  watch(watcher: Watcher): () => void {
    this.watchers.add(watcher);
    if (this.saying !== "") this.report([watcher]);
    const stopHeartbeat = this.heartbeat(watcher);
    return () => {
      stopHeartbeat();
      this.watchers.delete(watcher);
    };
  }

  /** Runs the body to its end or past its time. Never throws; the end is not stored yet. */
  async execute(body: Body<Output>, context: CallContext): Promise<ExecutionEnd> {
    const { clock } = this.deps;
    const { timeout_ms: timeoutMs } = this.options.spec;
    const sessionBefore = sessionOf(this.options.grant.device);
    this.hasStarted = true;
    this.saying = "";
    const stopTimer = clock.setTimeout(() => this.options.control.abort(timedOut(timeoutMs)), timeoutMs);
    const outcome = await this.settle(body, context).finally(stopTimer);
    this.over = true;
    // A step that could not be stored has ended the body already, or was its last.
    const failure = await this.stored.then(
      () => undefined,
      (error: unknown) => ({ ok: false, error }) as const,
    );
    const end = this.endOf(outcome?.ok && failure ? failure : outcome);
    // A session that is over by now is shown as well.
    return { ...end, session_url: sessionOf(this.options.grant.device) ?? sessionBefore };
  }

  private endOf(outcome: Outcome<Output> | undefined): ExecutionEnd {
    const { clock, secrets } = this.deps;
    const ending = endingOf(outcome, this.options.grant.signal);
    const result = outcome?.ok ? outcome.result : undefined;
    this.output = result?.output;
    return {
      status: ending.status,
      reason:
        ending.reason && secrets.mask({ ...ending.reason, message: storableText(ending.reason.message) }),
      finished_at: new Date(clock.now()).toISOString(),
      duration_ms: clock.monotonic() - this.startedAt,
      verified_count: this.verifiedCount,
      outputs: secrets.mask(storableObject(result?.outputs ?? {})),
      result: secrets.mask(storable(result?.output)),
    };
  }

  /** The body's outcome, or undefined when it was stopped and did not end within the grace. */
  private async settle(body: Body<Output>, context: CallContext): Promise<Outcome<Output> | undefined> {
    const { clock, notices } = this.deps;
    const { device, lease, signal } = this.options.grant;
    if (signal.aborted) return { ok: false, error: signal.reason };
    let stopGrace = () => {};
    let wait = () => {};
    const tooLate = new Promise<undefined>((resolve) => {
      wait = () => {
        stopGrace = clock.setTimeout(() => resolve(undefined), graceMs);
      };
      signal.addEventListener("abort", wait, { once: true });
    });
    const { principal, client } = context;
    const before = notices.begin(device, { session_id: lease?.session_id, principal, client });
    const ended = span(`run ${this.options.spec.kind}`, { execution: this.id }, () =>
      inApp(this.options.app, () => body(this.offer(context, before))),
    ).then(
      (result): Outcome<Output> => ({ ok: true, result }),
      (error: unknown): Outcome<Output> => ({ ok: false, error }),
    );
    const outcome = await Promise.race([ended, tooLate]);
    stopGrace();
    // A lease may outlive thousands of runs, and its signal would keep each of them.
    signal.removeEventListener("abort", wait);
    // Notices after a batch go to its holder's next call; after any other run they are dropped.
    notices.end(device, { keep: this.options.spec.kind === "actions" });
    if (!outcome) this.deps.onError?.(new Error(`Execution ${this.id} did not stop within ${graceMs} ms.`));
    return outcome;
  }

  private offer(context: CallContext, noticesBefore: readonly string[]): Run {
    const { device, lease, signal } = this.options.grant;
    return {
      id: this.id,
      kind: this.options.spec.kind,
      device,
      session_id: lease?.session_id,
      signal,
      context: { ...context, signal, progress: (_done, _total, message) => this.say(message) },
      noticesBefore,
      begins: (label) => {
        this.doing = this.deps.secrets.mask(label);
      },
      step: (step) => this.step(step),
      verified: (count) => {
        this.verifiedCount += count;
      },
    };
  }

  private step({ notices: own = [], ...step }: Omit<Step, "index">): Promise<readonly string[]> {
    if (this.over) return Promise.reject(new ToolError("INTERRUPTED", "The run is over.", "Start another."));
    const { secrets } = this.deps;
    const { device } = this.options.grant;
    const notices = [...own, ...this.deps.notices.take(device)];
    const noted = [...notices, ...this.deps.notices.takeLogged(device)];
    const index = this.stepsDone;
    this.stepsDone += 1;
    this.doing = undefined;
    const whole: Step = secrets.mask({
      ...step,
      index,
      path: storableText(step.path),
      label: storableText(step.label),
      ...(step.error && { error: storableError(step.error) }),
      input: storable(step.input),
      output: storable(step.output),
      ...(noted.length > 0 && { notices: noted.map(storableText) }),
    });
    const before = this.stored;
    const evidence = this.activity.of(step);
    const appended = Promise.all([evidence, before])
      .then(([activity]) =>
        this.options.record.step(
          activity ? { ...whole, activity: storedActivity(activity, secrets) } : whole,
        ),
      )
      .catch(storageFailed);
    this.stored = appended;
    // Whoever awaits `step` sees the failure; the chain itself must not be an unhandled one.
    appended.catch(() => undefined);
    this.say(`${step.label}: ${step.status}`);
    // A request takes no device further, so the next one may go out while this step is stored.
    const ready = device.id === "" ? before : appended;
    return ready.then(() => secrets.mask(notices));
  }

  say(message: string): void {
    this.saying = message;
    this.report();
  }

  private report(watchers: Iterable<Watcher> = this.watchers): void {
    const elapsedMs = this.deps.clock.monotonic() - this.startedAt;
    const seconds = Math.round(elapsedMs / 1_000);
    // Progress must grow with each message, also within one millisecond.
    this.lastDone = Math.max(this.lastDone + 1, elapsedMs);
    const text = `${this.stepsDone} steps, ${seconds} s${this.saying === "" ? "" : `; ${this.saying}`}`;
    for (const watcher of watchers) watcher(this.lastDone, undefined, this.deps.secrets.mask(text));
  }

  private heartbeat(watcher: Watcher): () => void {
    let stop = () => {};
    const next = () => {
      stop = this.deps.clock.setTimeout(() => {
        this.report([watcher]);
        next();
      }, heartbeatMs);
    };
    next();
    return () => stop();
  }
}

const storableError = ({ code, message, dispatched }: NonNullable<Step["error"]>) => ({
  code,
  message: storableText(message),
  ...(dispatched && { dispatched }),
});

function storedActivity(activity: StepActivity, secrets: Secrets): StepActivity {
  const texts = <T extends object>(one: T): T => mapStrings(one, storableText);
  return secrets.mask({ console: activity.console.map(texts), requests: activity.requests.map(texts) });
}

export function storageFailed(error: unknown): never {
  throw storageError(error);
}

export function storageError(error: unknown, what = "The run's record could not be stored"): ToolError {
  return new ToolError(
    "STORAGE_FAILED",
    `${what}: ${reasonOf(error).message}`,
    "Check the database and its disk, then run it again.",
    {},
    { cause: error },
  );
}

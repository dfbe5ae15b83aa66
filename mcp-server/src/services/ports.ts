import type {
  CheckOffer,
  CommandOffer,
  Controller,
  ControllerKind,
  Frame,
  FreshStart,
  KindOffer,
  Moment,
  Rect,
  Usable,
} from "@labwright/controllers";
import type {
  Action,
  ActionBatch,
  Execution,
  ExecutionKind,
  ExecutionStatus,
  Failure,
  FinalStatus,
  Params,
  ScriptResult,
  Step,
  Verdict,
  Verification,
} from "../domain/index.ts";
import type { ToolError } from "../errors.ts";
import type { FinishedRun } from "../storage/executionRows.ts";

/**
 * Real time, or a test's. `now` is the wall clock in milliseconds since the epoch, for instants that people read and the
 * database keeps. People and time servers set it, so durations and deadlines are measured with `monotonic`: whole
 * milliseconds since the process started, never set. `setTimeout` returns the function that cancels it; `sleep` throws the
 * signal's reason.
 */
export type Clock = {
  now(): number;
  monotonic(): number;
  setTimeout(run: () => void, ms: number): () => void;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/**
 * Who calls, and under what limits. `client` names one living client (a bridge process, an HTTP session, a job) and,
 * with `principal`, owns leases. `deadline` is a reading of `Clock.monotonic`. `signal` aborts on cancellation and, with
 * EXECUTION_TIMEOUT, at the deadline.
 */
export type CallContext = {
  principal: string;
  client: string;
  signal: AbortSignal;
  deadline: number;
  trace_id: string;
  progress(done: number, total: number | undefined, message: string): void;
  capabilities: { elicitation: boolean };
  /** Says what the call touched, for its log line and the audit. Whoever finds the device or starts a run calls it. */
  note?(facts: CallFacts): void;
  /**
   * Takes a run, to be stored with the call's own end before the call is answered; settles when that is done. Undefined,
   * and not taken, when the call has ended.
   */
  leave?(run: FinishedRun): Promise<void> | undefined;
  /** The run that this call is a part of: one that it starts on the same device does not wait for that run's end. */
  within?: string | undefined;
};
export type { FinishedRun };
export type CallFacts = { device_id?: string; session_id?: string; fence?: number; execution_id?: string };

export type DeviceEntry = {
  /** `<host>/<name>` */
  id: string;
  host: string;
  name: string;
  model: string;
  /** A driver sees it; the configuration does not name it. */
  discovered?: true;
  /** What its drivers declare, in the order in which they are asked: by kind, then as the configuration names them. */
  offers(): readonly Offer[];
};

/** What may be asked of one controller: of an open one what it offers, else what its driver declares. */
export type Offer = KindOffer & Pick<Controller, "driver" | "withheld">;

/** Whose commands and checks can be validated: a device, open or not. */
export type OfferingDevice = {
  id: string;
  controllers: readonly Offer[];
  unavailable: readonly Unavailable[];
  offers(): readonly Offer[];
};

export type Unavailable = { driver: string; kind: ControllerKind; reason: string };

/** A device with at least one controller that was open when it was asked for. */
export type OpenDevice = DeviceEntry & {
  /** Those that are open or being opened, in the order of `offers`; behind them those that failed and are tried again. */
  controllers: readonly Controller[];
  /** Those that could not be opened, and why. */
  unavailable: readonly Unavailable[];
  /** Driver or kind of the controller whose picture comes first. */
  screen?: string | undefined;
  /** Whether it has been opened; it may have died since. */
  isOpen(controller: Controller): boolean;
  /** Waits for an opening under way. Throws CONTROLLER_UNAVAILABLE when the controller could not be opened. */
  untilOpen(controller: Controller, signal: AbortSignal): Promise<void>;
  /** That of the lease by which its commands run; without one, controllers refuse the commands once a lease was used. */
  fence?: number;
};

export type Lease = {
  device_id: string;
  session_id: string;
  principal: string;
  client: string;
  fence: number;
  implicit: boolean;
  expires_at: string;
};

export type DeviceRef = { device_id?: string | undefined; session_id?: string | undefined };

/**
 * The right to use a device for one call or run. `signal` aborts when the caller's does or when the lease is lost; the
 * lease is renewed until `done`.
 */
export type Grant = { device: OpenDevice; lease: Lease | undefined; signal: AbortSignal; done(): void };

export type DeviceService = {
  list(): readonly DeviceEntry[];
  /** By id or unique bare name; throws DEVICE_NOT_FOUND with the nearest, DEVICE_AMBIGUOUS. */
  find(name: string): DeviceEntry;
  /** The device a call means (see `DeviceRef`); opens it. With `drives`, checks or takes the lease. */
  acquire(ref: DeviceRef, context: CallContext, options: { drives: boolean }): Promise<Grant>;
  /** The device a call means with all that it may offer, without opening or taking anything. */
  offering(ref: DeviceRef, context: CallContext): Promise<OfferingDevice>;
  /** The device a call means and what is open of it, without opening or taking anything. */
  peek(ref: DeviceRef, context: CallContext): Promise<{ entry: DeviceEntry; opened: OpenDevice | undefined }>;
  /** What is open of a device now. */
  opened(deviceId: string): OpenDevice | undefined;
  /** Opens what is not open or has died. Throws CONTROLLER_UNAVAILABLE if nothing opens. */
  open(device: DeviceEntry, signal: AbortSignal): Promise<OpenDevice>;
  /** Takes the lease and opens the device. Throws DEVICE_HELD unless `force`. */
  takeControl(
    deviceId: string | undefined,
    context: CallContext,
    force: boolean,
  ): Promise<{ lease: Lease; device: OpenDevice }>;
  /** Gives a lease back by handle, or the caller's own. Throws LEASE_NOT_FOUND. */
  releaseControl(ref: DeviceRef, context: CallContext): Promise<Lease>;
  /** Gives back everything that a client held which has ended. */
  releaseClient(client: string): Promise<void>;
  leases(): Promise<Lease[]>;
  /** How many devices have a controller open. */
  openCount(): number;
  /** Told after anything drove the device outside navigation; positions become unverified. */
  onDriven(listener: (deviceId: string) => void): void;
  drivenOutsideNavigation(deviceId: string): void;
  /**
   * Has the device start fresh for one run, with a saved storage state if one is named, until `leave`. Undefined for a
   * device that cannot.
   */
  startFresh(
    device: OpenDevice,
    storageState: string | undefined,
    signal: AbortSignal,
  ): Promise<FreshStart | undefined>;
  /** Told when a device starts fresh: what is known of its screen does not hold until the function it returns is called. */
  onFreshStart(listener: (deviceId: string) => () => void): void;
  close(): Promise<void>;
};

export type CommandInfo = { source: Offer; command: CommandOffer };
export type CheckInfo = { source: Offer; check: CheckOffer };

export type ActionResult = {
  command: string;
  phase: "action" | "retry" | "failure";
  ok: boolean;
  /** Number of runs made of an action with `iterator`. */
  runs: number;
  message: string;
  duration_ms: number;
  data?: Params | undefined;
  error?: Omit<Failure, "command"> | undefined;
  /** What the device did by itself meanwhile. */
  notices?: string[] | undefined;
};
/**
 * `ok` when the actions passed, or the retry actions did. Failure actions never make a batch ok. `failure` is what ended a
 * batch that is not. `refused` is there when the server answered 4xx or 5xx to the last action, and the check behind the
 * batch is to say whether that is right. `usable` says how long the screen was watched behind the last command; absent for a
 * device that cannot tell.
 */
export type ActionReport = {
  ok: boolean;
  results: ActionResult[];
  failure?: Failure | undefined;
  refused?: Failure | undefined;
  usable?: Usable;
  /** When the last input event left, where the last command says it. */
  sentAt?: Moment;
};

/** What a model may read of commands or checks: a line each, or one with its JSON Schema. */
export type OfferText<Name extends string> = { [name in Name]: string } & { schema?: Params };

export type ActionExecutor = {
  list(device: OpenDevice): readonly CommandInfo[];
  describe(device: OfferingDevice, command: string | undefined): OfferText<"commands">;
  /** Throws ACTION_NOT_FOUND with the nearest names, INVALID_INPUT naming each bad parameter: before anything runs. */
  validate(device: OfferingDevice, actions: readonly Action[]): void;
  /**
   * Validates everything, then runs. `variables` fill `{{name}}`; secrets are filled in last and masked in results.
   * `isChecked` says that a check of the screen follows.
   */
  run(
    device: OpenDevice,
    batch: ActionBatch,
    options: { variables?: Params; signal: AbortSignal; isChecked?: boolean },
  ): Promise<ActionReport>;
};

/** `failure` is there when it does not pass: why, and whose fault it is by its code. */
export type CheckReport = {
  pass: boolean;
  verdicts: Verdict[];
  failure?: Failure | undefined;
  /** Why nobody can tell whether it passes; `failure` is CHECK_INCONCLUSIVE then. */
  inconclusive?: string;
};
/** When a frame arrived, and how much earlier it may have been: the interval of the frames. */
export type FirstFrame = { at: Moment; errorMs: number } | undefined;
export type VerificationExecutor = {
  list(device: OpenDevice): readonly CheckInfo[];
  describe(device: OfferingDevice, check: string | undefined): OfferText<"checks">;
  validate(device: OfferingDevice, checks: readonly Verification[]): void;
  /**
   * Polls all checks together until they hold or their time is over (`timeout_ms` of a check, else `timeoutMs`). A
   * failed check gets a screenshot as evidence, each the pictures that it judged. Nothing to check: throws INVALID_INPUT,
   * never a pass. What cannot be told to the end is a `failure` CHECK_INCONCLUSIVE, unless the other checks decide.
   */
  check(
    device: OpenDevice,
    checks: readonly Verification[],
    options: {
      passCondition: "all" | "any";
      timeoutMs: number;
      variables?: Params;
      signal: AbortSignal;
      evidence?: boolean;
    },
  ): Promise<CheckReport>;
  /**
   * When the device first showed what all checks ask for, by its frames since `from`; undefined when it did not in the time.
   * `measured: false` for a device without frames, or checks that judge more than a picture.
   */
  firstFrame(
    device: OpenDevice,
    checks: readonly Verification[],
    options: { from: Moment; timeoutMs: number; variables?: Params; signal: AbortSignal },
  ): Promise<{ measured: false } | { measured: true; first: FirstFrame }>;
  /** Says when an input was sent to the device: a check may ask for what the screen shows since then. */
  noteInput(deviceId: string, at: Moment): void;
};

export type ArtifactRef = { uri: string; sha256: string; mime_type: string; bytes: number };
/** Content-addressed files of this host. Throws ARTIFACT_STORE_FULL, ARTIFACT_NOT_FOUND. */
export type ArtifactStore = {
  put(bytes: Uint8Array, mimeType: string): Promise<ArtifactRef>;
  /** Copies a file piece by piece, so that its size does not matter; the file itself stays where it is. */
  putFile(path: string, mimeType: string): Promise<ArtifactRef>;
  get(sha256: string): Promise<{ bytes: Uint8Array; mimeType: string }>;
  /** Names of files of this host that begin so, newest first, at most a hundred. */
  startingWith(prefix: string): Promise<readonly string[]>;
};

/** Secrets by name. `fill` replaces `{{secret.NAME}}` in every string below `value`. */
export type Secrets = {
  fill<T>(value: T): T;
  /** Throws SECRET_NOT_FOUND for an unknown name. */
  check(value: unknown): void;
  /** The names that a value has placeholders of. */
  named(value: unknown): string[];
  /** Hides every known value and the credentials of addresses: for whatever leaves the server or is recorded. */
  mask<T>(value: T): T;
  /** Hides the known values only: for what a run goes on with, since an address must still lead somewhere. */
  maskValues<T>(value: T): T;
};

export type EventInput = {
  type: string;
  priority: "critical" | "high" | "normal";
  source: string;
  device_id?: string;
  execution_id?: string;
  alert_id?: string;
  payload: Params;
};
export type StoredEvent = EventInput & { id: number; at: string };

/** Who looks: `changes_since` and what changed behind an action are told by what that one saw before. */
type Looking = { caller?: string | undefined };
export type DumpOptions = Looking & {
  find?: string | undefined;
  changes_since?: number | undefined;
  interactive_only: boolean;
  detail: "compact" | "full";
  /** Of the whole reply; 2,000 when left out, 150 for a search. */
  max_tokens?: number | undefined;
  /** What the caller may know of what the device did by itself; asked after the look. */
  notices?: () => readonly string[];
};
/** `elements` is one line an element; `items` the same with rects and ranked selectors. */
export type DumpView = {
  generation: number;
  location: string;
  title: string;
  notices?: string[];
  elements: string;
  more: number;
  items?: Params[];
};
export type ShotOptions = Looking & {
  full_page: boolean;
  area?: Rect | undefined;
  ref?: string | undefined;
  marks: boolean;
};
/** `shown` is the picture scaled for a model; `scale` its size over the full one's. */
export type Shot = {
  artifact: string;
  mimeType: string;
  shown: Uint8Array;
  width: number;
  height: number;
  scale: number;
};

export type AnalysisOptions = Looking & { intent: string; max_tokens: number };
/** `stability` is 0..1, what the selector's is; `why` what speaks for and against it. `where` tells equal ones apart. */
export type ActionCandidate = {
  ref: string;
  role: string;
  name: string;
  command?: string;
  selector?: string;
  unique?: boolean;
  stability?: number;
  why?: string;
  where?: string;
};
/** Best first. `ambiguous` is how many of the first are equally good; `left_out` says why others are none. */
export type ActionAnalysis = {
  generation: number;
  location: string;
  notices?: string[];
  candidates: ActionCandidate[];
  ambiguous?: number;
  left_out?: string;
  nearest?: string;
  hint?: string;
  more?: number;
};

export type ScreenAnalyst = {
  /** What on the live screen serves an intent in words, with the command and the selector to use it by. */
  analyze(device: OpenDevice, options: AnalysisOptions, signal: AbortSignal): Promise<ActionAnalysis>;
};

export type ScreenService = {
  /** A picture of the device as evidence of a step, a JPEG, stored; undefined for a device without a screen. */
  capture(
    device: OpenDevice,
    signal: AbortSignal,
  ): Promise<{ frame: Frame; artifact: ArtifactRef } | undefined>;
  /** Why only steps that fail and the last one are to have pictures; undefined where every step may. */
  slowness(deviceId: string): string | undefined;
  /** Keeps a picture that somebody else took. */
  store(frame: Frame): Promise<ArtifactRef>;
  screenshot(device: OpenDevice, options: ShotOptions, signal: AbortSignal): Promise<Shot>;
  dump(device: OpenDevice, options: DumpOptions, signal: AbortSignal): Promise<DumpView>;
  /**
   * What changed since the caller's last look at this device, in lines; the whole screen if it is another one or was never seen. Where
   * nothing changed it says within what time, and what still goes on if anything does.
   */
  changes(
    device: OpenDevice,
    options: { maxTokens: number; usable?: Usable | undefined; caller?: string },
    signal: AbortSignal,
  ): Promise<string | undefined>;
};

/** What a running execution offers the code that runs it. `signal` is the run's own: cancel, lease, time limit. */
export type Run = {
  id: string;
  kind: ExecutionKind;
  device: OpenDevice;
  /** Handle of the lease that it drives by. */
  session_id?: string | undefined;
  signal: AbortSignal;
  context: CallContext;
  /** What the device did by itself between the last run of the same holder and this one. */
  noticesBefore: readonly string[];
  /**
   * Appends a step with the notices that came since the step before, and sends it as progress. Stored before it returns; of
   * a run without a device the step before it is, and the last one before the run ends.
   */
  step(step: Omit<Step, "index">): Promise<void>;
  /** Counts checks that were really made. */
  verified(count: number): void;
};

export type RunSpec = {
  kind: ExecutionKind;
  name: string;
  /** `none` for a run that touches no device: it takes no lease and waits for no turn. */
  device: DeviceRef | "none";
  /** Recorded as given; secrets not filled in. */
  input: unknown;
  userinterface?: string | undefined;
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  correlation_id?: string | undefined;
  wait_ms: number;
  timeout_ms: number;
};

/** The end of a run, or where it stands when `wait_ms` was over first. */
export type RunReply<Output> = {
  execution_id: string;
  status: ExecutionStatus;
  reason?: { code: string; message: string } | undefined;
  duration_ms?: number | undefined;
  steps_done: number;
  output?: Output | undefined;
};

export type ExecutionService = {
  /**
   * Takes the device, stores the execution, runs `body` and stores its end. Aborting the caller's signal while it waits
   * cancels the run; after `wait_ms` the run goes on without the caller.
   */
  run<Output extends object>(
    spec: RunSpec,
    context: CallContext,
    body: (run: Run) => Promise<{
      status: FinalStatus;
      reason?: { code: string; message: string };
      outputs?: Params;
      output: Output;
    }>,
  ): Promise<RunReply<Output>>;
  /** Goes on waiting for a run; its stored result is the output. Throws EXECUTION_NOT_FOUND. */
  wait(executionId: string, waitMs: number, context: CallContext): Promise<RunReply<object>>;
  get(executionId: string): Promise<{ execution: Execution; steps: Step[] }>;
  cancel(executionId: string, by: string): Promise<Execution>;
  /** Cancels the runs that are a part of this one, and waits for their ends. */
  endWithin(executionId: string): Promise<void>;
  /** Marks runs that a dead process of this host left open `error: INTERRUPTED`. Once, at start. */
  recover(): Promise<number>;
  running(): number;
  /** Stops every run, which then ends `error` with this reason. */
  stopAll(reason: ToolError): void;
  /** Stores the ends that the database could not take. Rejects while it still cannot. */
  storeLate(): Promise<void>;
  close(): Promise<void>;
};

export type Language = "python" | "node" | "bash";

/** A program of the user's folder or one that ships with the server. `name` is its file name, unique among all. */
export type Script = {
  name: string;
  language: Language;
  /** Its first comment line. */
  description?: string;
  shipped: boolean;
  folder: string;
};

/** How a script ended. `reason` is there whenever it did not pass. */
export type ScriptEnd = {
  status: "passed" | "failed" | "error";
  reason?: { code: string; message: string };
  result: ScriptResult;
};

/** A script as a part of somebody's run. */
export type ScriptTask = {
  script: string;
  args: readonly string[];
  userinterface?: string | undefined;
  /** Shorter than what the run has left. */
  timeoutMs?: number | undefined;
};

export type ScriptPort = {
  /** Throws SCRIPT_NOT_FOUND with the nearest names, AMBIGUOUS. */
  find(name: string): Promise<Script>;
  /** Runs it on the run's device; its calls become steps of the run. Throws what ended the run. */
  runWithin(run: Run, task: ScriptTask): Promise<ScriptEnd>;
};

import { randomUUID } from "node:crypto";
import { atMost, type PersonDeed, type PersonListener, type PersonWatch } from "@labwright/controllers";
import type { Verification } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { CallContext, Clock, DeviceRef, DeviceService, Grant } from "../../ports.ts";
import { checksOf } from "../findCommand.ts";
import type { DeviceInput, Inputs } from "../inputs.ts";
import { findPort } from "../portOf.ts";
import { checkOfPicked, proposalsOf, type RecordedScreen, screenOf, textsOf } from "./proposals.ts";
import { bestOf, type RecordedStep, withDeed, withNote } from "./recordedSteps.ts";

/** `stopped` by a call, or what ended it before. */
export type StepsEnd = "stopped" | "max_time" | "server_stopped" | "device_lost" | "lease_lost";

/** What a recording of steps holds so far. `revision` counts its changes; `pointing` while a press picks an element to check. */
export type StepsReport = {
  recording_id: string;
  device_id: string;
  revision: number;
  ended?: StepsEnd;
  pointing: boolean;
  steps: readonly RecordedStep[];
  screens: readonly Omit<RecordedScreen, "key">[];
};

type Note = Pick<RecordedStep, "command" | "params" | "negate" | "timeout_ms">;

type StepDependencies = {
  devices: Pick<DeviceService, "acquire">;
  inputs: Pick<Inputs, "latest">;
  clock: Clock;
  onFault(error: unknown): void;
};

/** A screen is read when no one has done anything for this long, and so has most likely drawn what the last deed led to. */
const restMs = 700;
const lookMs = 10_000;
const mostSteps = 500;
const mostEnded = 20;
/** What a command sent may be heard of this much later. */
const lateMs = 100;

/** Recordings of what is done to devices, as steps of a test; one for each device. */
export class StepRecordings {
  private readonly all = new Map<string, LiveSteps>();

  constructor(private readonly deps: StepDependencies) {}

  /**
   * Takes the device for as long as it goes on. Throws ALREADY_EXISTS for a device whose steps are recorded, and what
   * taking a device throws.
   */
  async start(ref: DeviceRef, { max_ms }: { max_ms: number }, context: CallContext) {
    const ending = new AbortController();
    // It outlives its call; a call that is given up meanwhile ends it.
    const own = { ...context, signal: ending.signal };
    const grant = await this.deps.devices.acquire(ref, own, { drives: true });
    const { device } = grant;
    const live = new LiveSteps(grant, ending, context, this.deps);
    try {
      this.refuseSecond(device.id);
      this.all.set(live.id, live);
      const hears_person = await live.begin(max_ms, context.signal);
      this.forgetOldest();
      const until = new Date(this.deps.clock.now() + max_ms).toISOString();
      return { recording_id: live.id, hears_person, until };
    } catch (error) {
      this.all.delete(live.id);
      await live.end("stopped");
      throw error;
    }
  }

  has(recordingId: string): boolean {
    return this.all.has(recordingId);
  }

  /** Waits up to `wait_ms` for a revision other than `after`. Throws RECORDING_NOT_FOUND. */
  async read(
    recordingId: string,
    { after, wait_ms, point }: { after?: number | undefined; wait_ms: number; point?: boolean | undefined },
    signal: AbortSignal,
  ): Promise<StepsReport> {
    const live = this.get(recordingId);
    if (point !== undefined) await live.point(point);
    if (after !== undefined) await live.changed(after, wait_ms, signal);
    return live.report();
  }

  /** Ends it, unless it has ended. Throws RECORDING_NOT_FOUND. */
  async stop(recordingId: string): Promise<StepsReport> {
    const live = this.get(recordingId);
    await live.end("stopped");
    return live.report();
  }

  /** Whether what this caller does to the device is recorded. */
  isRecorded(deviceId: string, context: CallContext): boolean {
    return this.of(deviceId, context) !== undefined;
  }

  /** Adds what a tool did or checked, with selectors in place of refs. `mayLook`: its caller holds no refs, which a snapshot would use up. */
  note(deviceId: string, steps: readonly Note[], context: CallContext, mayLook = false): void {
    this.of(deviceId, context)?.note(steps, mayLook);
  }

  running(): number {
    return this.open().length;
  }

  async close(): Promise<void> {
    await Promise.all(this.open().map((live) => live.end("server_stopped")));
  }

  private open(): LiveSteps[] {
    return [...this.all.values()].filter(({ ended }) => ended === undefined);
  }

  private of(deviceId: string, { principal, client }: CallContext): LiveSteps | undefined {
    return this.open().find(
      (live) =>
        live.deviceId === deviceId && live.owner.principal === principal && live.owner.client === client,
    );
  }

  private get(recordingId: string): LiveSteps {
    const live = this.all.get(recordingId);
    if (live) return live;
    const open = this.open().map(({ id, deviceId }) => `${id} of ${deviceId}`);
    throw new ToolError(
      "RECORDING_NOT_FOUND",
      `There is no recording of steps "${recordingId}".`,
      `Recording now: ${open.join(", ") || "none"}. Start one with start_recording, kind steps.`,
    );
  }

  private refuseSecond(deviceId: string): void {
    const before = this.open().find((live) => live.deviceId === deviceId);
    if (!before) return;
    throw new ToolError(
      "ALREADY_EXISTS",
      `Steps of ${deviceId} are being recorded: ${before.id}.`,
      "Stop that recording with stop_recording first.",
      { recording_id: before.id },
    );
  }

  private forgetOldest(): void {
    const ended = [...this.all.values()].filter((live) => live.ended !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - mostEnded))) this.all.delete(id);
  }
}

class LiveSteps {
  readonly id = randomUUID();
  readonly deviceId: string;
  ended: StepsEnd | undefined;
  private steps: RecordedStep[] = [];
  private readonly screens: RecordedScreen[] = [];
  private texts: string[] = [];
  private screen = -1;
  private watch: PersonWatch | undefined;
  private isPointing = false;
  /** The device's newest input when the last step was added. */
  private newest: DeviceInput | undefined;
  private revision = 0;
  private waiting: (() => void)[] = [];
  private cancelLook = () => {};
  private cancelEnd = () => {};
  private looking: Promise<void> = Promise.resolve();
  private ending: Promise<void> | undefined;

  constructor(
    private readonly grant: Grant,
    private readonly own: AbortController,
    readonly owner: Pick<CallContext, "principal" | "client">,
    private readonly deps: StepDependencies,
  ) {
    this.deviceId = grant.device.id;
    grant.signal.addEventListener("abort", () => this.endUnasked("lease_lost"), { once: true });
  }

  /** True if the device hears a person. */
  async begin(maxMs: number, signal: AbortSignal): Promise<boolean> {
    const { device } = this.grant;
    this.cancelEnd = this.deps.clock.setTimeout(() => this.endUnasked("max_time"), maxMs);
    const source = await findPort(device, "person", signal);
    const listener: PersonListener = {
      deed: (deed) => this.take(deed),
      lost: () => this.endUnasked("device_lost"),
    };
    if (source?.isSeen()) this.watch = await source.watch(listener, signal);
    return this.watch !== undefined;
  }

  report(): StepsReport {
    const { id: recording_id, deviceId: device_id, revision, ended, steps } = this;
    const screens = this.screens.map(({ key: _, ...screen }) => screen);
    return {
      ...{ recording_id, device_id, revision, pointing: this.isPointing, steps, screens },
      ...(ended && { ended }),
    };
  }

  async point(on: boolean): Promise<void> {
    await this.watch?.point(on);
    this.isPointing = on && this.watch !== undefined && this.ended === undefined;
    this.change();
  }

  /** Resolves at another revision, after `ms`, or at the caller's abort. */
  async changed(after: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.revision !== after || this.ended !== undefined) return;
    await new Promise<void>((resolve) => {
      const cancel = this.deps.clock.setTimeout(resolve, ms);
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.waiting.push(() => {
        cancel();
        resolve();
      });
    });
  }

  note(steps: readonly Note[], mayLook: boolean): void {
    if (steps.length === 0) return;
    this.add(steps.reduce(withNote, this.steps));
    if (this.watch || mayLook) this.lookLater();
  }

  end(reason: StepsEnd): Promise<void> {
    this.ending ??= this.finish(reason);
    return this.ending;
  }

  private endUnasked(reason: StepsEnd): void {
    this.end(reason).catch(this.deps.onFault);
  }

  private async finish(reason: StepsEnd): Promise<void> {
    this.cancelEnd();
    this.cancelLook();
    // What is still being typed is reported by this.
    await this.watch?.end().catch(this.deps.onFault);
    this.newest = this.latestInput();
    if (reason === "stopped") await this.look().catch(() => undefined);
    this.ended = reason;
    this.isPointing = false;
    this.change();
    this.grant.done();
    this.own.abort();
  }

  private take(deed: PersonDeed): void {
    if (this.ended !== undefined) return;
    if (deed.kind === "asked") this.point(deed.on).catch(this.deps.onFault);
    // Commands send the same inputs as a person.
    if (deed.kind === "asked" || this.isOurs(deed.at)) return;
    if (deed.kind === "picked") {
      this.isPointing = false;
      const selector = bestOf(deed.selectors) ?? deed.selectors[0]?.selector ?? "";
      const check = checkOfPicked(selector, deed.text);
      this.add([...this.steps, { ...check, by: "picked" }]);
    } else {
      this.add(withDeed(this.steps, deed));
      this.lookLater();
    }
  }

  private isOurs(at: number): boolean {
    const input = this.deps.inputs.latest(this.deviceId, at);
    return input !== undefined && at <= (input.endedAt ?? at) + lateMs;
  }

  private add(steps: RecordedStep[]): void {
    this.steps = steps.slice(0, mostSteps);
    this.newest = this.latestInput();
    this.change();
  }

  private latestInput(): DeviceInput | undefined {
    return this.deps.inputs.latest(this.deviceId, this.deps.clock.monotonic());
  }

  private change(): void {
    this.revision++;
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }

  private lookLater(): void {
    this.cancelLook();
    // A screen that cannot be read now is read after the next deed.
    this.cancelLook = this.deps.clock.setTimeout(() => void this.look().catch(() => undefined), restMs);
  }

  /** One after another. */
  private look(): Promise<void> {
    this.looking = this.looking.catch(() => undefined).then(() => this.readScreen());
    return this.looking;
  }

  private async readScreen(): Promise<void> {
    const at = this.steps.length - 1;
    const step = this.steps[at];
    if (!step || this.grant.signal.aborted) return;
    const signal = atMost(this.grant.signal, lookMs);
    const source = await findPort(this.grant.device, "elements", signal);
    const dump = await source?.dump({ interactiveOnly: false }, signal);
    // Who went on meanwhile has changed the screen again.
    const isLast = this.steps[at] === step && this.steps.length - 1 === at;
    if (!dump || !isLast || this.latestInput() !== this.newest) return;
    const texts = await this.withoutSecrets(textsOf(dump));
    const proposals = proposalsOf(this.texts, texts, this.typed());
    this.texts = texts;
    const checks = new Set(checksOf(this.grant.device).map(({ check }) => check.name));
    const seenScreen = screenOf(dump, this.screens, checks);
    const screen = this.enter(seenScreen.screen);
    const isSeen = screen !== undefined || proposals.length > 0;
    if (!isSeen || (step.proposals !== undefined && screen === undefined)) return;
    const seen = {
      ...step,
      ...(screen !== undefined && { screen, arrival: seenScreen.arrival }),
      ...this.proposed(step, proposals),
    };
    this.add(this.steps.map((one) => (one === step ? seen : one)));
  }

  /** What the arrival at a screen proves is not proposed again. */
  private proposed(step: RecordedStep, proposals: Verification[]): Pick<RecordedStep, "proposals"> {
    const isOwnText = ({ params }: Verification) => params.text === step.params.text;
    const worth = step.command === "input_text" ? proposals.filter((one) => !isOwnText(one)) : proposals;
    return worth.length > 0 ? { proposals: worth } : {};
  }

  /** The number of the screen, if it is another one than before. */
  private enter(screen: RecordedScreen): number | undefined {
    const known = this.screens.findIndex(({ key }) => key === screen.key);
    const number = known >= 0 ? known : this.screens.push(screen) - 1;
    if (number === this.screen) return undefined;
    this.screen = number;
    return number;
  }

  private async withoutSecrets(texts: string[]): Promise<string[]> {
    const held = (await this.watch?.holdSecrets(texts).catch(() => undefined)) ?? [];
    return texts.filter((_, at) => held[at] !== true);
  }

  private typed(): string[] {
    return this.steps
      .slice(-4)
      .flatMap(({ command, params }) => (/^(input|type)_text$/.test(command) ? String(params.text) : []));
  }
}

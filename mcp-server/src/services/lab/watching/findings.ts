import { type DeviceFinding, type FindingKind, type Frame, findingKinds } from "@labwright/controllers";
import type { Params } from "../../../domain/index.ts";
import type { Alert } from "../../../storage/index.ts";
import type { DeviceInput } from "../../devices/inputs.ts";
import type { Clock } from "../../ports.ts";
import { Repeater } from "../../records/repeater.ts";
import type { AlertService } from "../alerts/index.ts";
import {
  countsAfter,
  countsFrom,
  nextChange,
  type Ongoing,
  type Stage,
  stageOf,
  suppresses,
  type Thresholds,
} from "./stages.ts";

export const alertSource = "watching";

export type FindingsDependencies = {
  deviceId: string;
  alerts: Pick<AlertService, "raise" | "resolve">;
  clock: Clock;
  thresholds: Thresholds;
  /** The artifact URI of a frame, or of what the device shows now; undefined where there is no picture. */
  picture(frame: Frame | undefined): Promise<string | undefined>;
  latestInput(by: number): DeviceInput | undefined;
  onFault(error: unknown): void;
};

type Going = Ongoing & { beganAt: number; frame: Frame | undefined; details: Params; sources: Set<object> };
type Open = { alertId: string; stage: Stage };

export class Findings {
  private readonly going = new Map<FindingKind, Going>();
  private readonly open = new Map<FindingKind, Open>();
  /** Of which it is not known whether they go on: who saw them has not spoken since it was lost. */
  private readonly unsure = new Set<FindingKind>();
  private readonly lastFrames = new Map<FindingKind, Frame>();
  private readonly work: Repeater;
  private stopTimer = () => {};

  constructor(private readonly deps: FindingsDependencies) {
    this.work = new Repeater(deps.clock, () => this.reconcile(), deps.onFault);
  }

  report(source: object, { kind, state, at, frame, facts }: DeviceFinding): void {
    this.unsure.delete(kind);
    if (state === "began") this.began(source, { kind, at, frame, details: { ...facts } });
    else this.ended(source, kind, frame);
    this.wake();
  }

  /** An alert that an earlier daemon left open: it goes on if its finding is reported again, and else is over. */
  adopt({ id, kind, state }: Alert): void {
    const known = findingKinds.find((one) => one === kind);
    if (!known) return;
    this.open.set(known, { alertId: id, stage: state === "active" ? "active" : "pending" });
    this.unsure.add(known);
  }

  /** A source died. What only it saw may go on or not. */
  forget(source: object): void {
    for (const [kind, going] of this.going) {
      if (!going.sources.delete(source) || going.sources.size > 0) continue;
      this.going.delete(kind);
      this.unsure.add(kind);
    }
  }

  /** The sources have had time to report what goes on: anything else is over. */
  settle(): void {
    this.unsure.clear();
    this.wake();
  }

  /** An input of ours ended. An effect that an earlier input explained is a finding from now on, if it still goes on. */
  driven(input: DeviceInput): void {
    const now = this.deps.clock.monotonic();
    for (const going of this.going.values())
      if (going.countedFrom === Number.POSITIVE_INFINITY && going.beganAt < input.beganAt)
        going.countedFrom = countsAfter(going.kind, now, input, this.deps.thresholds.settleMs);
    this.wake();
  }

  async stop(): Promise<void> {
    this.stopTimer();
    await this.work.stop();
  }

  private began(source: object, found: Pick<Going, "kind" | "frame" | "details"> & { at: number }): void {
    const { kind, at } = found;
    const before = this.going.get(kind);
    if (before) return void before.sources.add(source);
    const { clock, thresholds } = this.deps;
    const beganAt = Math.min(at, clock.monotonic());
    const countedFrom = countsFrom(kind, beganAt, this.deps.latestInput(beganAt), thresholds.settleMs);
    this.going.set(kind, { ...found, beganAt, countedFrom, sources: new Set([source]) });
  }

  private ended(source: object, kind: FindingKind, frame: Frame | undefined): void {
    const going = this.going.get(kind);
    going?.sources.delete(source);
    if (going && going.sources.size > 0) return;
    this.going.delete(kind);
    if (frame) this.lastFrames.set(kind, frame);
    // What a short one covered for a moment went on all the time.
    if (!this.open.has(kind)) return;
    const now = this.deps.clock.monotonic();
    // What it covered could not be seen until now.
    for (const other of this.going.values())
      if (suppresses(kind, other.kind)) other.countedFrom = Math.max(other.countedFrom, now);
  }

  private wake(): void {
    // Read first: a change that falls due before the work has read the clock is looked for once more.
    const now = this.deps.clock.monotonic();
    this.work.wake();
    this.stopTimer();
    const next = nextChange(this.going.values(), now, this.deps.thresholds);
    if (next < Number.POSITIVE_INFINITY)
      this.stopTimer = this.deps.clock.setTimeout(() => this.wake(), next - now);
  }

  /** Brings the stored alerts to what goes on, the highest kind first. */
  private async reconcile(): Promise<void> {
    for (const kind of findingKinds) {
      const going = this.going.get(kind);
      const open = this.open.get(kind);
      const stage = going ? this.stageOf(going) : undefined;
      if (going && stage && isFurther(stage, open?.stage)) await this.raise(going, stage);
      else if (open && !going && !this.unsure.has(kind)) await this.resolve(kind, open);
      else if (open && going && this.isCovered(going)) await this.cover(kind, open);
    }
  }

  private stageOf(going: Going): Stage {
    return stageOf(going, this.going.values(), this.deps.clock.monotonic(), this.deps.thresholds);
  }

  private isCovered({ kind }: Going): boolean {
    return [...this.open.keys()].some((other) => suppresses(other, kind) && this.going.has(other));
  }

  private async raise(going: Going, stage: Stage): Promise<void> {
    const { deviceId, alerts, clock, picture } = this.deps;
    const { kind, countedFrom, frame, details } = going;
    const seenMs = clock.monotonic() - countedFrom;
    const isNew = !this.open.has(kind);
    const { alert } = await alerts.raise({
      kind,
      state: stage === "active" ? "active" : "pending",
      message: `${kind}${ofApp(details)} for ${Math.round(seenMs / 1_000)} s`,
      source: alertSource,
      device_id: deviceId,
      details,
      started_at: new Date(clock.now() - seenMs).toISOString(),
      ...(isNew && { start_frame: await picture(frame) }),
    });
    this.open.set(kind, { alertId: alert.id, stage });
  }

  private async resolve(kind: FindingKind, { alertId }: Open): Promise<void> {
    const end_frame = await this.deps.picture(this.lastFrames.get(kind));
    // It may have begun again while the picture was taken.
    if (this.going.has(kind)) return;
    await this.deps.alerts.resolve(alertId, { end_frame });
    this.lastFrames.delete(kind);
    this.open.delete(kind);
  }

  private async cover(kind: FindingKind, { alertId }: Open): Promise<void> {
    const by = findingKinds.find((other) => suppresses(other, kind) && this.going.has(other));
    await this.deps.alerts.resolve(alertId, {
      end_frame: await this.deps.picture(undefined),
      message: `${kind}, until ${by} covered it`,
    });
    this.open.delete(kind);
  }
}

/** The app of a crash. A name of a package has at most 200 characters. */
const ofApp = ({ package: id }: Params): string =>
  typeof id === "string" && id !== "" ? ` of ${id.slice(0, 200)}` : "";

const order: readonly (Stage | undefined)[] = [undefined, "seen", "pending", "active"];
const isFurther = (stage: Stage, than: Stage | undefined) =>
  stage !== "seen" && order.indexOf(stage) > order.indexOf(than);

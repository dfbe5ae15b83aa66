import type { ControllerContext, ReadOptions } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { latestDelayMs, streamOf } from "../frames/available.ts";
import { whole } from "../measuring/area.ts";
import { everyFrame, type Sample, Sampler } from "../measuring/sample.ts";
import type { FrameSource, FrameSubscription, Moment, StreamSource } from "../ports.ts";

const keptMs = 30_000;
const idleMs = 30_000;

/** The last frames of a device as samples. It takes them from the first question on, and ends after a while without questions. */
export class RecentPicture {
  readonly #context: ControllerContext;
  #samples: Sample[] = [];
  #began: Moment = 0;
  #subscription: FrameSubscription | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(context: ControllerContext) {
    this.#context = context;
  }

  /** The samples of the last `forMs`, all shown since `since`; the reason where there are not enough. Starts to take frames. */
  samples(forMs: number, { since = 0 }: ReadOptions): readonly Sample[] | string {
    const frames = this.#frames();
    if (typeof frames === "string") return frames;
    this.#watch(frames);
    const delayMs = latestDelayMs(this.#context.device);
    const shown = this.#samples.filter(({ arrivedAt }) => arrivedAt - delayMs >= since);
    const newest = shown.at(-1);
    const ageMs = performance.now() - (newest?.arrivedAt ?? Math.max(since, this.#began));
    if (ageMs > Math.max(2_000, forMs)) return `no frame came for ${Math.round(ageMs)} ms`;
    const haveMs = newest ? newest.presentedMs - (shown[0]?.presentedMs ?? 0) : 0;
    if (!newest || haveMs < forMs)
      return `${Math.round(haveMs)} ms of the picture were seen since the last input; ${forMs} are needed`;
    return shown.filter(({ presentedMs }) => presentedMs > newest.presentedMs - forMs);
  }

  /** How long no frame has come; the reason where that is not known for `forMs` yet. */
  silentMs(forMs: number, { since = 0 }: ReadOptions): number | string {
    const frames = this.#frames();
    if (typeof frames === "string") return frames;
    this.#watch(frames);
    const now = performance.now();
    const arrivedAt = this.#samples.at(-1)?.arrivedAt;
    if (arrivedAt !== undefined && now - arrivedAt < forMs) return now - arrivedAt;
    const watchedMs = now - Math.max(since, this.#began);
    return watchedMs >= forMs
      ? now - Math.max(this.#began, arrivedAt ?? 0)
      : `the picture was watched for ${Math.round(watchedMs)} ms since the last input; ${forMs} are needed`;
  }

  stream(): StreamSource | undefined {
    return streamOf(this.#context.device);
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#subscription?.end();
    this.#subscription = undefined;
    this.#samples = [];
  }

  #frames(): FrameSource | string {
    try {
      return this.#context.device.frames();
    } catch (error) {
      if (error instanceof DeviceError && error.code === "CONTROLLER_UNAVAILABLE") return error.message;
      throw error;
    }
  }

  #watch(frames: FrameSource): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.close(), idleMs).unref();
    if (this.#subscription) return;
    this.#samples = [];
    this.#began = performance.now();
    let sampler = new Sampler(whole);
    const subscription = frames.subscribe(everyFrame, (frame) => {
      // A source that began anew has a clock of its own.
      if (frame.presentedMs < (this.#samples.at(-1)?.presentedMs ?? 0)) {
        this.#samples = [];
        sampler = new Sampler(whole);
      }
      this.#samples.push(sampler.sample(frame));
      const outdated = this.#samples.findIndex(
        ({ presentedMs }) => presentedMs >= frame.presentedMs - keptMs,
      );
      if (outdated > 0) this.#samples.splice(0, outdated);
    });
    this.#subscription = subscription;
    // The source is opened anew: the next check subscribes to it again.
    const gone = () => {
      if (this.#subscription === subscription) this.#subscription = undefined;
    };
    subscription.ended.then(gone, gone);
  }
}

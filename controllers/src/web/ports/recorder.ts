import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import type { Recorder, Recording, RecordingLoss, RecordingOptions } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { endsWithin, untilAborted } from "../../waiting/deadlines.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { firstLines } from "../page/failures.ts";
import { Screencast } from "./screencast.ts";

const START_MS = 10_000;
/** How long a trace may take to be written; a tab whose script is busy gives nothing. */
const WRITE_MS = 30_000;
const NAME_MS = 1_000;

/**
 * Records the tabs of a session, through restarts of its context, until it is stopped or the browser is gone. A trace
 * shows what follows `nameStep` under its title, until the returned function is called.
 */
export function createRecorder(session: DrivenSession): {
  recorder: Recorder;
  isRecording(): boolean;
  nameStep(title: string): Promise<() => Promise<void>>;
} {
  let current: LiveRecording | undefined;
  session.onNewContext(async (context) => current?.followNext(context));
  session.onContextEnd(async (context) => current?.contextEnds(context));
  const recorder: Recorder = {
    kinds: ["video", "trace"],
    sound: false,
    async start(options, signal) {
      if (current !== undefined) {
        throw new DeviceError(
          "ACTION_REJECTED",
          "This browser is being recorded. Stop that recording first.",
        );
      }
      const recording = new LiveRecording(session, options);
      current = recording;
      try {
        await ask(session, { what: "starting the recording", ms: START_MS, signal }, () => recording.begin());
      } catch (error) {
        current = undefined;
        // Not waited for: a page that does not answer would keep the recorder from the next recording.
        recording.finish().catch(() => undefined);
        throw error;
      }
    },
    async stop(signal) {
      const recording = current;
      if (recording === undefined) {
        throw new DeviceError(
          "ACTION_REJECTED",
          "This browser is not being recorded. Start a recording first.",
        );
      }
      try {
        return await untilAborted(recording.finish(), signal);
      } finally {
        if (current === recording) current = undefined;
      }
    },
  };
  const nameStep = async (title: string) => (await current?.nameStep(title)) ?? (async () => undefined);
  return { recorder, isRecording: () => current !== undefined, nameStep };
}

class LiveRecording {
  readonly #options: RecordingOptions;
  readonly #videoPath: string;
  readonly #hasTrace: boolean;
  #screencast: Screencast | undefined;
  /** Playwright's traces: a context that ends takes its trace with it, so there may be several. */
  readonly #traces: string[] = [];
  readonly #lost: string[] = [];
  /** Those that live, each with what ends watching for its end. */
  readonly #contexts = new Map<BrowserContext, () => void>();
  #finished: Promise<Recording> | undefined;

  constructor(
    private readonly session: DrivenSession,
    options: RecordingOptions,
  ) {
    this.#options = options;
    this.#videoPath = join(options.folder, "video.webm");
    this.#hasTrace = options.kinds.includes("trace");
  }

  /** A trace may take a second to start: the video begins after it. */
  async begin(): Promise<void> {
    await this.follow(this.session.browserContext());
    const { kinds, mostBytes } = this.#options;
    if (this.#finished !== undefined || !kinds.includes("video")) return;
    const full = () => this.#endsItself("full");
    this.#screencast = new Screencast(this.session, { path: this.#videoPath, mostBytes, full });
  }

  async follow(context: BrowserContext): Promise<void> {
    if (this.#finished !== undefined) return;
    const lost = () => this.#lose(context);
    context.once("close", lost);
    this.#contexts.set(context, () => context.off("close", lost));
    // A trace's own pictures would be taken in its own size, and the video gets those that another one asked for.
    const screenshots = !this.#options.kinds.includes("video");
    if (this.#hasTrace) await context.tracing.start({ snapshots: true, screenshots });
  }

  /** One that takes the place of another: its device goes on, whatever becomes of the recording. */
  async followNext(context: BrowserContext): Promise<void> {
    await this.follow(context).catch((error: unknown) => this.#lost.push(`trace: ${firstLines(error)}`));
  }

  /** Groups what follows in the trace, since much of it is not a call of Playwright's and would not be seen. */
  async nameStep(title: string): Promise<(() => Promise<void>) | undefined> {
    const context = [...this.#contexts.keys()].at(-1);
    if (!this.#hasTrace || context === undefined) return undefined;
    // A context that goes away takes its groups with it, and says why when it is used.
    const within = (work: Promise<unknown>) => endsWithin(work, NAME_MS);
    await within(context.tracing.group(title));
    return async () => void (await within(context.tracing.groupEnd()));
  }

  async contextEnds(context: BrowserContext): Promise<void> {
    if (!this.#leave(context)) return;
    await this.#endTrace(context);
    if (this.#contexts.size > 0) return;
    this.#endsItself("device_closed");
    // The browser is closed next.
    await this.finish();
  }

  /** Later calls get the same recording. */
  finish(): Promise<Recording> {
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  async #finish(): Promise<Recording> {
    const contexts = [...this.#contexts.keys()].filter((context) => this.#leave(context));
    for (const context of contexts) await this.#endTrace(context);
    const frames = await this.#finishVideo();
    const video = { kind: "video", path: this.#videoPath, mimeType: "video/webm" } as const;
    const traces = this.#traces.map(
      (path) => ({ kind: "trace", path, mimeType: "application/zip" }) as const,
    );
    return { files: frames > 0 ? [video, ...traces] : traces, frames, lost: [...this.#lost] };
  }

  async #endTrace(context: BrowserContext): Promise<void> {
    if (!this.#hasTrace) return;
    const path = join(this.#options.folder, `trace-${this.#traces.length + 1}.zip`);
    try {
      await untilAborted(context.tracing.stop({ path }), AbortSignal.timeout(WRITE_MS));
      this.#traces.push(path);
    } catch (error) {
      this.#lost.push(`trace: ${firstLines(error)}`);
    }
  }

  async #finishVideo(): Promise<number> {
    if (this.#screencast === undefined) return 0;
    try {
      const { frames, fault } = await this.#screencast.finish();
      if (fault !== undefined) this.#lost.push(`video: it ends early, ${firstLines(fault)}`);
      else if (frames === 0) this.#lost.push("video: no tab gave a picture");
      return frames;
    } catch (error) {
      this.#lost.push(`video: ${firstLines(error)}`);
      return 0;
    }
  }

  #lose(context: BrowserContext): void {
    if (!this.#leave(context)) return;
    if (this.#hasTrace)
      this.#lost.push("trace: it is written when a recording ends, and the browser was lost before");
    if (this.#contexts.size === 0) this.#endsItself("device_lost");
  }

  #leave(context: BrowserContext): boolean {
    this.#contexts.get(context)?.();
    return this.#contexts.delete(context);
  }

  #endsItself(reason: RecordingLoss): void {
    if (this.#finished === undefined) this.#options.ended(reason);
  }
}

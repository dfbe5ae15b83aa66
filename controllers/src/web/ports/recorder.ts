import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import type { Command, Recorder, Recording, RecordingLoss, RecordingOptions } from "../../contract.ts";
import { DeviceError } from "../../errors.ts";
import { untilAborted } from "../../waiting/deadlines.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { firstLines } from "../page/failures.ts";
import { Screencast } from "./screencast.ts";
import { Traces } from "./traces.ts";

/** How long a page may take until it is recorded. */
const START_MS = 10_000;

/**
 * Records the tabs of a session, through restarts of its context, until it is stopped or the browser is gone. A command
 * that is `named` is seen by its name in a trace.
 */
export function createRecorder(session: DrivenSession): {
  recorder: Recorder;
  isRecording(): boolean;
  named(command: Command): Command;
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
        await ask(session, { what: "starting the recording", ms: START_MS, signal }, () =>
          recording.follow(session.browserContext()),
        );
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
  const named = (command: Command): Command => ({
    ...command,
    run(input, signal) {
      const run = () => command.run(input, signal);
      return current === undefined ? run() : current.named(titleOf(command.name, input), run);
    },
  });
  return { recorder, isRecording: () => current !== undefined, named };
}

/** Never what is typed, which may be a secret. */
function titleOf(command: string, input: object): string {
  const target = "selector" in input ? input.selector : "ref" in input ? input.ref : undefined;
  return typeof target === "string" ? `${command} ${target.slice(0, 80)}` : command;
}

class LiveRecording {
  readonly #options: RecordingOptions;
  readonly #videoPath: string;
  readonly #screencast: Screencast | undefined;
  readonly #traces: Traces | undefined;
  /** Those that live, each with what ends watching for its end. */
  readonly #contexts = new Map<BrowserContext, () => void>();
  #finished: Promise<Recording> | undefined;

  constructor(session: DrivenSession, options: RecordingOptions) {
    const { folder, kinds, mostBytes } = options;
    this.#options = options;
    this.#videoPath = join(folder, "video.webm");
    const video = kinds.includes("video");
    // A trace's own pictures would be taken in its own size, and the video gets those that another one asked for.
    this.#traces = kinds.includes("trace") ? new Traces(folder, { screenshots: !video }) : undefined;
    this.#screencast = video
      ? new Screencast(session, { path: this.#videoPath, mostBytes, full: () => this.#endsItself("full") })
      : undefined;
  }

  async follow(context: BrowserContext): Promise<void> {
    if (this.#finished !== undefined) return;
    const lost = () => this.#lose(context);
    context.once("close", lost);
    this.#contexts.set(context, () => context.off("close", lost));
    await this.#traces?.begin(context);
  }

  /** One that takes the place of another: its device goes on, whatever becomes of the recording. */
  async followNext(context: BrowserContext): Promise<void> {
    try {
      await this.follow(context);
    } catch (error) {
      this.#traces?.lost.push(`trace: ${firstLines(error)}`);
    }
  }

  named<T>(title: string, run: () => Promise<T>): Promise<T> {
    const context = [...this.#contexts.keys()].at(-1);
    if (this.#traces === undefined || context === undefined) return run();
    return this.#traces.group(context, title, run);
  }

  async contextEnds(context: BrowserContext): Promise<void> {
    if (!this.#leave(context)) return;
    await this.#traces?.end(context);
    if (this.#contexts.size > 0) return;
    this.#endsItself("device_closed");
    // The browser is closed next.
    await this.finish();
  }

  /** Once; whoever asks again gets the same. */
  finish(): Promise<Recording> {
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  async #finish(): Promise<Recording> {
    const contexts = [...this.#contexts.keys()].filter((context) => this.#leave(context));
    for (const context of contexts) await this.#traces?.end(context);
    const traces = this.#traces?.files ?? [];
    const lost = [...(this.#traces?.lost ?? [])];
    const frames = await this.#finishVideo(lost);
    const video = { kind: "video", path: this.#videoPath, mimeType: "video/webm" } as const;
    const files = traces.map((path) => ({ kind: "trace", path, mimeType: "application/zip" }) as const);
    return { files: frames > 0 ? [video, ...files] : files, frames, lost };
  }

  async #finishVideo(lost: string[]): Promise<number> {
    if (this.#screencast === undefined) return 0;
    try {
      const { frames, fault } = await this.#screencast.finish();
      if (fault !== undefined) lost.push(`video: it ends early, ${firstLines(fault)}`);
      else if (frames === 0) lost.push("video: no tab gave a picture");
      return frames;
    } catch (error) {
      lost.push(`video: ${firstLines(error)}`);
      return 0;
    }
  }

  #lose(context: BrowserContext): void {
    if (!this.#leave(context)) return;
    this.#traces?.lose();
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

import type { ControllerContext, Recorder, ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { ControllerFacts, ControllerStatus } from "../ports.ts";
import { type FfmpegVersion, needFfmpeg } from "../programs/ffmpeg.ts";
import { pause, untilAborted, withDeadline } from "../waiting/deadlines.ts";
import { ffmpegArguments, isEncoded, type RecordingMode } from "./arguments.ts";
import { sourceProblem } from "./diagnose.ts";
import { StreamRecorder } from "./recorder.ts";
import { type FfmpegRun, runFfmpeg } from "./running.ts";
import { type AvSettings, masked, sourceOf } from "./settings.ts";
import { Stream } from "./stream.ts";
import { allowHost, openWayOut, type WayOut } from "./wayOut.ts";

/** How long opening waits for a first picture; after that, the device is open without a signal. */
const firstPictureMs = 10_000;
/** A program that has connected sends something by then. */
const connectMs = 15_000;
const silentMs = 2_000;
const watchMs = 500;
const pauseMs = { first: 500, longest: 15_000 };

/**
 * A source of another driver. `login` gives the input options of ffmpeg by which it lets us in, anew for each program, and throws
 * DeviceError. `setting` is where its address stands.
 */
export type CaptureOwner = { login(signal: AbortSignal): Promise<readonly string[]>; setting: string };

/** One ffmpeg that reads a source, started again whenever it ends, until the capture is closed. */
export class Capture {
  readonly stream: Stream;
  readonly recorder: Recorder;
  readonly #recorder: StreamRecorder;
  readonly #settings: AvSettings;
  readonly #context: ControllerContext;
  readonly #owner: CaptureOwner | undefined;
  readonly #listeners = new Set<(status: ControllerStatus) => void>();
  #control: AbortController | undefined;
  #loop: Promise<void> = Promise.resolve();
  #ffmpeg: FfmpegVersion | undefined;
  #run: FfmpegRun | undefined;
  #wayOut: WayOut | undefined;
  /** The program is ended on purpose: no signal is lost then. */
  #restarts = false;
  #hasSound: boolean;
  #canCopy: boolean;
  #isRecording = false;
  #status: ControllerStatus = { state: "offline", reason: "it is not open" };

  constructor(settings: AvSettings, context: ControllerContext, owner?: CaptureOwner) {
    this.#settings = settings;
    this.#context = context;
    this.#owner = owner;
    this.stream = new Stream(settings);
    this.#hasSound = settings.audio !== "none" && !(settings.audio === "source" && isSilent(settings));
    this.#canCopy = isEncoded(settings);
    this.#recorder = new StreamRecorder({
      begin: (signal) => this.#beginRecording(signal),
      end: () => this.#endRecording(),
      ffmpeg: () => this.#ffmpeg?.path ?? "ffmpeg",
      hasSound: () => this.#hasSound,
    });
    this.recorder = this.#recorder;
  }

  isAlive = (): boolean => this.#control !== undefined;
  isKept = (): boolean => this.#recorder.isRecording();
  status = (): ControllerStatus => this.#status;
  hasSound = (): boolean | undefined => (this.stream.space() ? this.#hasSound : undefined);

  onStatus(listener: (status: ControllerStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  facts(): ControllerFacts {
    if (!this.isAlive()) return {};
    const space = this.stream.space();
    const { width, height } = space ?? { width: 0, height: 0 };
    return { version: `ffmpeg ${this.#ffmpeg?.text}`, ...(space && { screen: { width, height } }) };
  }

  /** Throws NO_SIGNAL while nothing comes. */
  check = (): void => {
    const status = this.#status;
    if (status.state === "online") return;
    const fix = "fix" in status ? ` ${status.fix}` : "";
    throw new DeviceError("NO_SIGNAL", `${this.#context.deviceId} gives no picture: ${status.reason}.${fix}`);
  };

  readonly screen: ScreenSource = {
    capture: async ({ area, ref }, signal) => {
      if (ref !== undefined)
        throw new DeviceError(
          "INVALID_PARAMS",
          "This device has no elements; give an area instead of a ref.",
        );
      this.check();
      const { bytes, width, height, rotation, takenAt, mimeType } = await this.stream
        .frames(this.check)
        .latest(signal);
      const picture = { bytes, width, height, rotation, takenAt, mimeType };
      return area ? await (await import("./crop.ts")).cropped(picture, area) : picture;
    },
  };

  /** Resolves with the first picture, or when the source gives none for some seconds: it is open then without a signal. */
  async open(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#control) return;
    await this.#allow();
    this.#ffmpeg = await needFfmpeg(process.env, signal);
    const problem = await sourceProblem(this.#settings);
    if (problem)
      throw new DeviceError("DEVICE_NOT_FOUND", `No picture can be had: ${problem.detail}. ${problem.fix}.`);
    signal.throwIfAborted();
    if (isWeb(this.#settings)) this.#wayOut = await openWayOut(this.#context, sourceOf(this.#settings).value);
    const control = new AbortController();
    this.#control = control;
    this.stream.renew();
    this.#become({ state: "recovering", reason: "ffmpeg was started" });
    this.#loop = this.#keep(this.#ffmpeg.path, control.signal);
    const limit = withDeadline(signal, firstPictureMs);
    try {
      await untilAborted(this.#until("online", "no_signal"), limit.signal);
    } catch (error) {
      if (!limit.over()) {
        await this.close();
        throw error;
      }
      this.#become({
        state: "no_signal",
        reason: `nothing came for ${firstPictureMs / 1_000} s`,
        fix: this.#fix(),
      });
    } finally {
      limit.done();
    }
  }

  async close(): Promise<void> {
    this.#recorder.lose("device_closed");
    this.#control?.abort(new Error("The device is closed."));
    this.#control = undefined;
    await this.#run?.end();
    await this.#loop;
    this.#wayOut?.close();
    this.#wayOut = undefined;
    this.stream.end();
    this.#become({ state: "offline", reason: "it is not open" });
  }

  async #allow(): Promise<void> {
    const { kind, value } = sourceOf(this.#settings);
    if (isWeb(this.#settings)) this.#context.allowUrl(value);
    else if (kind === "rtsp" || kind === "srt" || kind === "udp") {
      const { hostname, port } = new URL(value.replace(/^\w+:/, "http:"));
      await allowHost(this.#context, hostname, Number(port) || (kind === "rtsp" ? 554 : 0));
    }
  }

  /** Runs one program after another. Never rejects. */
  async #keep(ffmpeg: string, signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const { isWell, reason } = await this.#once(ffmpeg, signal);
      if (signal.aborted) return;
      if (this.#restarts) {
        this.#restarts = false;
        continue;
      }
      this.#become({ state: "no_signal", reason, fix: this.#fix() });
      failures = isWell ? 0 : failures + 1;
      const wait = Math.min(pauseMs.longest, pauseMs.first * 2 ** failures);
      await pause(wait, signal).catch(() => undefined);
    }
  }

  async #once(ffmpeg: string, signal: AbortSignal): Promise<{ isWell: boolean; reason: string }> {
    const startedAt = performance.now();
    const { stream } = this;
    stream.begin();
    let run: FfmpegRun;
    try {
      const login = await this.#owner?.login(signal);
      const wanted = { ...this.#wanted(), ...(login && { login }) };
      const args = ffmpegArguments(this.#settings, wanted);
      run = runFfmpeg(ffmpeg, args, this.#receiver(), this.#wayOut?.env);
    } catch (error) {
      return { isWell: false, reason: error instanceof Error ? error.message : String(error) };
    }
    this.#run = run;
    let isLate = false;
    let isSilentNow = false;
    const watch = setInterval(() => {
      const limit = stream.seenAt === undefined ? connectMs : silentMs;
      const isOver = performance.now() - (stream.seenAt ?? startedAt) > limit;
      // Twice: after a standstill of our own, what has come meanwhile is read first.
      if (isOver && isLate) {
        isSilentNow = true;
        void run.end();
      }
      isLate = isOver;
    }, watchMs);
    const said = await run.ended;
    clearInterval(watch);
    this.#run = undefined;
    const lastSeen = stream.seenAt;
    this.#learn(run.said());
    const isLost = !signal.aborted && !this.#restarts;
    const reason = this.#wayOut?.takeReason() ?? reasonOf(said, isSilentNow);
    stream.stop(isLost ? (lastSeen ?? startedAt) : undefined, this.#noSignal(reason));
    return { isWell: lastSeen !== undefined, reason };
  }

  #fix(): string {
    const { kind, value } = sourceOf(this.#settings);
    const name = kind === "args" ? "the source" : masked(value);
    const setting = this.#owner?.setting ?? `controllers.av.${kind}`;
    return `Check that ${name} is on and connected, and that ffmpeg can read it (${setting}).`;
  }

  #noSignal(reason: string): DeviceError {
    return new DeviceError(
      "NO_SIGNAL",
      `${this.#context.deviceId} gives no picture: ${reason}. ${this.#fix()}`,
    );
  }

  /** What a program could not do, the next one is not asked for. */
  #learn(said: string): void {
    if (this.#hasSound && this.#settings.audio === "source" && /Stream specifier ':a:0'/.test(said)) {
      this.#hasSound = false;
      this.#restarts = true;
    } else if (
      this.#canCopy &&
      /Could not write header for output file|not currently supported in container/.test(said)
    ) {
      this.#canCopy = false;
      this.#restarts = true;
    }
  }

  #wanted(): { hasSound: boolean; recording: RecordingMode } {
    const recording = this.#canCopy ? "copy" : this.#isRecording ? "encode" : undefined;
    return { hasSound: this.#hasSound, recording };
  }

  #receiver() {
    return this.stream.receiver(
      {
        recorded: (bytes) => this.#recorder.add(bytes),
        reconfigured: () => this.#again(),
      },
      () => {
        if (this.#status.state !== "online") this.#become({ state: "online" });
      },
    );
  }

  #again(): void {
    if (!this.#run) return;
    this.#restarts = true;
    void this.#run.end();
  }

  async #beginRecording(signal: AbortSignal): Promise<void> {
    this.check();
    this.#isRecording = true;
    if (this.#canCopy) return;
    // A raw source gets an encoder: the next program has it.
    this.#become({ state: "recovering", reason: "ffmpeg is started again with an encoder" });
    const picture = this.#until("online");
    this.#again();
    const limit = withDeadline(signal, firstPictureMs);
    try {
      await untilAborted(picture, limit.signal);
    } catch (error) {
      this.#isRecording = false;
      throw limit.over() ? this.#noSignal("no picture came after ffmpeg was started again") : error;
    } finally {
      limit.done();
    }
  }

  #endRecording(): void {
    this.#isRecording = false;
    if (!this.#canCopy) this.#again();
  }

  #until(...states: ControllerStatus["state"][]): Promise<void> {
    return new Promise((resolve) => {
      const end = this.onStatus(({ state }) => {
        if (!states.includes(state)) return;
        end();
        resolve();
      });
    });
  }

  #become(status: ControllerStatus): void {
    this.#status = status;
    for (const listener of [...this.#listeners]) listener(status);
  }
}

const isWeb = (settings: AvSettings): boolean => ["hls", "http", "mjpeg"].includes(sourceOf(settings).kind);

/** A picture that brings no sound of its own. */
const isSilent = (settings: AvSettings): boolean =>
  ["v4l2", "camera", "x11", "mjpeg"].includes(sourceOf(settings).kind);

function reasonOf(said: string, isSilentNow: boolean): string {
  if (isSilentNow) return `no data came for ${silentMs / 1_000} s`;
  if (said.startsWith("Stream specifier ':v:0'")) return "the source has no picture";
  return said === "" ? "the source ended" : `ffmpeg ended: ${said.slice(0, 300)}`;
}

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  nearest,
  type Recorder,
  type Recording,
  type RecordingKind,
  type RecordingLoss,
  untilAborted,
} from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/index.ts";
import type { ArtifactStore, CallContext, Clock, EventInput, OpenDevice, Secrets } from "../../ports.ts";
import { findPort, reasonsOf } from "../portOf.ts";
import { changeZip } from "./zip.ts";

export type RecordingSpec = { video: boolean; trace: boolean; max_ms: number };
export type RecordingStart = { recording_id: string; records: RecordingKind[]; until: string };

/** `stopped` by a call, or what ended it before. */
export type RecordingEnd = "stopped" | "max_time" | "server_stopped" | RecordingLoss;
export type RecordedFile = {
  kind: RecordingKind;
  uri: string;
  sha256: string;
  mime_type: string;
  bytes: number;
};

/** What a recording left. `frames` counts the video's pictures; `lost` says in a line each what is missing, and why. */
export type RecordingReport = {
  recording_id: string;
  device_id: string;
  ended: RecordingEnd;
  /** Where the time of the video begins. ISO 8601. */
  started_at: string;
  duration_ms: number;
  frames: number;
  sound: boolean;
  files: RecordedFile[];
  lost: string[];
};

export type Transcript = { recording_id: string } & (
  | { status: "transcribed"; text: string; language?: string }
  | { status: "inconclusive"; reason: string }
);

/** Recordings of devices, one for each. They need no lease and go on while a client drives the device. */
export type RecordingService = {
  /** Throws CONTROLLER_UNAVAILABLE for a device that cannot be recorded, ALREADY_EXISTS for one that is. */
  start(device: OpenDevice, spec: RecordingSpec, context: CallContext): Promise<RecordingStart>;
  /** Ends it, unless it has ended, and stores its files. Throws RECORDING_NOT_FOUND with those that go on. */
  stop(recordingId: string): Promise<RecordingReport>;
  /** Undefined while it goes on. Throws RECORDING_NOT_FOUND. */
  find(recordingId: string): RecordingReport | undefined;
  /**
   * What is said in it, by the program of its device that transcribes. `inconclusive` says that nothing could listen, never that nothing
   * was said. Throws RECORDING_NOT_FOUND, and what that program fails with.
   */
  transcript(recordingId: string, signal: AbortSignal): Promise<Transcript>;
  running(): number;
  close(): Promise<void>;
};

export type RecordingDependencies = {
  /** Of this service alone: what is in it at the start was left by a process that died. */
  folder: string;
  db: Database;
  artifacts: ArtifactStore;
  secrets: Pick<Secrets, "mask">;
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  clock: Clock;
  onFault(error: unknown): void;
};

/** Ten minutes of a page that changes all the time have 6,000 pictures of some 30 kB. */
const mostFileBytes = 200_000_000;
const mostReports = 50;
/** A trace of ten busy minutes is written in seconds. */
const stopMs = 60_000;
/** A daemon that ends has little more time for everything it has to close. */
const lastStopMs = 5_000;
/** Nothing is waited for but an answer of the device. */
const startMs = 30_000;

type Live = {
  id: string;
  device: OpenDevice;
  recorder: Recorder;
  folder: string;
  startedAt: number;
  /** Where the time of the video begins, in ms since the epoch. */
  videoAt: number;
  source: string;
  cancelTimer(): void;
  ending?: Promise<RecordingReport>;
};

export const createRecordings = (deps: RecordingDependencies): RecordingService => new Recordings(deps);

class Recordings implements RecordingService {
  private readonly live = new Map<string, Live>();
  private readonly reports = new Map<string, { report: RecordingReport; device: OpenDevice }>();
  private cleaned: Promise<void> | undefined;

  constructor(private readonly deps: RecordingDependencies) {}

  async start(device: OpenDevice, spec: RecordingSpec, context: CallContext): Promise<RecordingStart> {
    const recorder = await findPort(device, "recorder", context.signal);
    if (!recorder) throw noRecorder(device);
    const records = recorder.kinds.filter((kind) => spec[kind]);
    if (records.length === 0) throw nothingToRecord(recorder.kinds);
    const before = [...this.live.values()].find((one) => one.device.id === device.id);
    if (before) throw recordedAlready(device, before.id);
    const live = this.register(device, recorder, spec.max_ms, context.principal);
    try {
      await this.makeFolder(live.folder);
      await this.begin(live, records, context.signal);
      live.videoAt = this.deps.clock.now();
    } catch (error) {
      this.forget(live);
      await rm(live.folder, { recursive: true, force: true });
      throw error;
    }
    return { recording_id: live.id, records, until: this.isoAfter(spec.max_ms) };
  }

  async stop(recordingId: string): Promise<RecordingReport> {
    const live = this.live.get(recordingId);
    return live ? this.end(live, "stopped") : this.ended(recordingId).report;
  }

  find(recordingId: string): RecordingReport | undefined {
    return this.live.has(recordingId) ? undefined : this.ended(recordingId).report;
  }

  async transcript(recording_id: string, signal: AbortSignal): Promise<Transcript> {
    const inconclusive = (reason: string) => ({ recording_id, status: "inconclusive" as const, reason });
    if (this.live.has(recording_id)) return inconclusive("the recording still goes on: stop it first");
    const { report, device } = this.ended(recording_id);
    if (!report.sound) return inconclusive("the recording has no sound: its device records pictures only");
    const video = report.files.find(({ kind }) => kind === "video");
    if (!video) return inconclusive("the recording has no video");
    const transcriber = await findPort(device, "transcriber", signal);
    if (!transcriber) return inconclusive(noTranscriber(device));
    const folder = join(this.deps.folder, randomUUID());
    try {
      await this.makeFolder(folder);
      const file = join(folder, "recording");
      await writeFile(file, (await this.deps.artifacts.get(video.sha256)).bytes);
      return { recording_id, status: "transcribed", ...(await transcriber.transcribe(file, signal)) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  running(): number {
    return this.live.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.values()].map((live) => this.end(live, "server_stopped")));
  }

  private ended(recordingId: string) {
    const ended = this.reports.get(recordingId);
    if (ended) return ended;
    const open = [...this.live.values()].map(({ id, device }) => ({
      recording_id: id,
      device_id: device.id,
    }));
    const near = nearest(recordingId, [...this.live.keys(), ...this.reports.keys()], 3);
    throw recordingNotFound(recordingId, open, near);
  }

  private register(device: OpenDevice, recorder: Recorder, maxMs: number, source: string): Live {
    const id = randomUUID();
    const live: Live = {
      id,
      device,
      recorder,
      source,
      folder: join(this.deps.folder, id),
      startedAt: this.deps.clock.monotonic(),
      videoAt: this.deps.clock.now(),
      cancelTimer: this.deps.clock.setTimeout(() => this.endUnasked(live, "max_time"), maxMs),
    };
    this.live.set(id, live);
    return live;
  }

  private forget(live: Live): void {
    live.cancelTimer();
    this.live.delete(live.id);
  }

  /** Ends with the caller or its deadline, also when the recorder heeds neither. */
  private async begin(live: Live, kinds: readonly RecordingKind[], caller: AbortSignal): Promise<void> {
    const { recorder, folder } = live;
    const ended = (reason: RecordingEnd) => this.endUnasked(live, reason);
    await this.within({ ms: startMs, caller, what: "start" }, (signal) => {
      const begun = recorder.start({ kinds, folder, mostBytes: mostFileBytes, ended }, signal);
      const stopLate = () => signal.aborted && this.stopLate(live);
      begun.then(stopLate, () => undefined);
      return begun;
    });
  }

  /** Stops a recording that started after its call had given up, so that the recorder is free for the next. */
  private stopLate({ recorder, device }: Live): void {
    const isWanted = [...this.live.values()].some((other) => other.device.id === device.id);
    if (!isWanted) recorder.stop(AbortSignal.timeout(stopMs)).catch(() => undefined);
  }

  /** Rejects at the caller's abort or the deadline; `work` stops by its signal. */
  private async within<T>(
    limit: { ms: number; caller?: AbortSignal; what: string },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const giveUp = () => late.abort(tookTooLong(limit.what, limit.ms));
    const stopTimer = this.deps.clock.setTimeout(giveUp, limit.ms);
    const signal = AbortSignal.any([late.signal, ...(limit.caller ? [limit.caller] : [])]);
    return untilAborted(work(signal), signal).finally(stopTimer);
  }

  private endUnasked(live: Live, reason: RecordingEnd): void {
    this.end(live, reason).catch(this.deps.onFault);
  }

  /** Once; whoever asks again gets the same. */
  private end(live: Live, reason: RecordingEnd): Promise<RecordingReport> {
    live.ending ??= this.finish(live, reason);
    return live.ending;
  }

  private async finish(live: Live, ended: RecordingEnd): Promise<RecordingReport> {
    live.cancelTimer();
    const durationMs = this.deps.clock.monotonic() - live.startedAt;
    const ms = ended === "server_stopped" ? lastStopMs : stopMs;
    const recording = await this.within({ ms, what: "stop" }, (signal) => live.recorder.stop(signal)).catch(
      lostWhole,
    );
    const lost = [...recording.lost];
    const files: RecordedFile[] = [];
    for (const file of recording.files) {
      const stored = await this.store(file).catch((error: unknown) => {
        lost.push(`${file.kind}: ${messageOf(error)}`);
      });
      if (stored) files.push(stored);
    }
    await rm(live.folder, { recursive: true, force: true });
    const report: RecordingReport = {
      recording_id: live.id,
      device_id: live.device.id,
      ended,
      started_at: new Date(live.videoAt).toISOString(),
      duration_ms: durationMs,
      frames: recording.frames,
      sound: live.recorder.sound,
      files,
      lost,
    };
    await this.keep(live, report);
    return report;
  }

  private async store({ kind, path, mimeType }: Recording["files"][number]): Promise<RecordedFile> {
    if (kind === "video") return { kind, ...(await this.deps.artifacts.putFile(path, mimeType)) };
    const { size } = await stat(path);
    // Playwright bounds no trace; a video stops growing by itself.
    if (size > mostFileBytes) throw new Error(`it has ${size} bytes, and at most ${mostFileBytes} are kept`);
    const masked = await maskTrace(await readFile(path), this.deps.secrets);
    return { kind, ...(await this.deps.artifacts.put(masked, mimeType)) };
  }

  /** Whoever did not stop it learns of it by the event, also after a restart. */
  private async keep(live: Live, report: RecordingReport): Promise<void> {
    this.reports.set(report.recording_id, { report, device: live.device });
    const [oldest] = this.reports.keys();
    if (this.reports.size > mostReports && oldest !== undefined) this.reports.delete(oldest);
    this.forget(live);
    const { device_id, ...payload } = report;
    await this.deps.db.transaction((tx) =>
      this.deps.events.append(tx, {
        type: "recording.finished",
        priority: "normal",
        source: live.source,
        device_id,
        payload,
      }),
    );
  }

  private async makeFolder(folder: string): Promise<void> {
    this.cleaned ??= rm(this.deps.folder, { recursive: true, force: true });
    await this.cleaned;
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  private isoAfter(ms: number): string {
    return new Date(this.deps.clock.now() + ms).toISOString();
  }
}

const lostWhole = (error: unknown): Recording => ({ files: [], frames: 0, lost: [messageOf(error)] });

function messageOf(error: unknown): string {
  if (error instanceof ToolError) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

/** By name, which follows the server's content type, and by content: text has no zero bytes. */
const isPicture = (name: string, content: Buffer): boolean =>
  /\.(jpe?g|png|webp|gif|woff2?)$/i.test(name) && content.subarray(0, 64).includes(0);

/** A trace without secrets: it says what was typed, shown and sent. Pictures stay as they are. */
export function maskTrace(zip: Buffer, { mask }: Pick<Secrets, "mask">): Promise<Buffer> {
  return changeZip(zip, (name, content) => {
    if (isPicture(name, content)) return content;
    const text = content.toString("utf8");
    const masked = mask(text).replace(heldValue, (_all, head: string, value: string) => {
      const cut = mask(`${value}…`);
      return head + (cut.endsWith("…") ? cut.slice(0, -1) : cut);
    });
    return masked === text ? content : Buffer.from(masked);
  });
}

/** What a field held when a snapshot was taken: of a secret that was being typed, its beginning. */
const heldValue = /("(?:__playwright_value_|value)":")((?:[^"\\]|\\.){4,})(?=")/g;

function noRecorder(device: OpenDevice): ToolError {
  return new ToolError(
    "CONTROLLER_UNAVAILABLE",
    [`${device.id} cannot be recorded: none of its controllers can.`, ...reasonsOf(device)].join(" "),
    "Take pictures with capture_screenshot, or record another device of list_hosts.",
    { device_id: device.id },
  );
}

function nothingToRecord(kinds: readonly RecordingKind[]): ToolError {
  return new ToolError(
    "INVALID_INPUT",
    "There is nothing to record.",
    `Leave ${kinds.join(" or ")} at true; this device can record ${kinds.join(" and ")}.`,
  );
}

function recordedAlready(device: OpenDevice, recordingId: string): ToolError {
  return new ToolError(
    "ALREADY_EXISTS",
    `${device.id} is being recorded: ${recordingId}.`,
    "Stop that recording with stop_recording first.",
    { recording_id: recordingId },
  );
}

const tookTooLong = (what: string, ms: number) =>
  new ToolError(
    "CONTROLLER_UNAVAILABLE",
    `The recorder did not ${what} within ${ms / 1_000} s.`,
    "It is free again: look at the device with capture_screenshot, then record anew.",
  );

function recordingNotFound(
  recordingId: string,
  open: readonly { recording_id: string; device_id: string }[],
  near: readonly string[],
): ToolError {
  const named = open.map(({ recording_id, device_id }) => `${recording_id} of ${device_id}`).join(", ");
  return new ToolError(
    "RECORDING_NOT_FOUND",
    `There is no recording "${recordingId}".`,
    near.length > 0
      ? `Did you mean ${near.join(", ")}? Recording now: ${named || "none"}.`
      : `Recording now: ${named || "none"}. Ended ones are forgotten when the server restarts: their files are in the event recording.finished.`,
    { nearest: near, open },
  );
}

const noTranscriber = ({ id }: OpenDevice) =>
  `no program transcribes speech for ${id}: set controllers.audio.transcribe of the device to one that has a speech model`;

import { randomUUID } from "node:crypto";
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { nearest, type Recorder, type Recording, type RecordingKind } from "@labwright/controllers";
import { ToolError } from "../../../errors.ts";
import type { CallContext, OpenDevice } from "../../ports.ts";
import { findPort } from "../portOf.ts";
import { maskTrace } from "./maskTrace.ts";
import { noRecorder, nothingToRecord, recordedAlready, recordingNotFound, tookTooLong } from "./problems.ts";
import type {
  RecordedFile,
  RecordingDependencies,
  RecordingEnd,
  RecordingReport,
  RecordingService,
  RecordingSpec,
  RecordingStart,
} from "./types.ts";

/** Ten minutes of a page that changes all the time have 6,000 pictures of some 30 kB. */
const mostFileBytes = 200_000_000;
/** Reports of ended recordings that are kept for whoever asks for them. */
const mostReports = 50;
/** A trace of ten busy minutes is written in seconds. */
const stopMs = 60_000;
/** A daemon that ends has little more time for everything it has to close. */
const lastStopMs = 5_000;
/** Nothing is waited for but an answer of the device. */
const startMs = 30_000;

/** One that goes on. */
type Live = {
  id: string;
  device: OpenDevice;
  recorder: Recorder;
  folder: string;
  startedAt: number;
  source: string;
  cancelTimer(): void;
  ending?: Promise<RecordingReport>;
};

export const createRecordings = (deps: RecordingDependencies): RecordingService => new Recordings(deps);

class Recordings implements RecordingService {
  private readonly deps: RecordingDependencies;
  private readonly live = new Map<string, Live>();
  private readonly reports = new Map<string, RecordingReport>();
  private cleaned: Promise<void> | undefined;

  constructor(deps: RecordingDependencies) {
    this.deps = deps;
  }

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
    } catch (error) {
      this.forget(live);
      await rm(live.folder, { recursive: true, force: true });
      throw error;
    }
    return { recording_id: live.id, records, until: this.isoAfter(spec.max_ms) };
  }

  async stop(recordingId: string): Promise<RecordingReport> {
    const live = this.live.get(recordingId);
    return live ? this.end(live, "stopped") : this.report(recordingId);
  }

  find(recordingId: string): RecordingReport | undefined {
    return this.live.has(recordingId) ? undefined : this.report(recordingId);
  }

  running(): number {
    return this.live.size;
  }

  async close(): Promise<void> {
    await Promise.all([...this.live.values()].map((live) => this.end(live, "server_stopped")));
  }

  private report(recordingId: string): RecordingReport {
    const report = this.reports.get(recordingId);
    if (report) return report;
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

  /** A start that came through after it was given up: nobody wants it, and the recorder must be free for the next. */
  private stopLate({ recorder, device }: Live): void {
    const isWanted = [...this.live.values()].some((other) => other.device.id === device.id);
    if (!isWanted) recorder.stop(AbortSignal.timeout(stopMs)).catch(() => undefined);
  }

  /** Rejects at the caller's abort or the deadline; `work` is told by its signal. */
  private async within<T>(
    limit: { ms: number; caller?: AbortSignal; what: string },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const late = new AbortController();
    const stopTimer = this.deps.clock.setTimeout(
      () => late.abort(tookTooLong(limit.what, limit.ms)),
      limit.ms,
    );
    const signal = limit.caller ? AbortSignal.any([limit.caller, late.signal]) : late.signal;
    let leave = () => {};
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(signal.reason);
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
    });
    gone.catch(() => undefined);
    try {
      return await Promise.race([work(signal), gone]);
    } finally {
      stopTimer();
      signal.removeEventListener("abort", leave);
    }
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
    this.reports.set(report.recording_id, report);
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

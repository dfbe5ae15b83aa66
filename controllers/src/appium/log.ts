import { z } from "zod";
import type { LogsSinceMark } from "../logs/checks.ts";
import { type CrashFailure, failuresIn } from "../logs/crashReader.ts";
import { type LogcatLine, parseLogcatLine, saidIn } from "../logs/logcatLine.ts";
import { LogRing, type WrittenLine } from "../logs/logRing.ts";
import type { LogSource } from "../ports.ts";
import { inTurn, untilAborted } from "../waiting/deadlines.ts";
import type { AppiumDevice } from "./device.ts";
import type { AppiumFacts } from "./facts.ts";
import { answerAs } from "./failures.ts";
import { crashIn, DeviceClock, saidInSyslog } from "./logLines.ts";

/** A log that was not read for long is large. */
const readMs = 60_000;
/** The last time that a Date can be. */
const latest = 8.64e15;
const entries = z.array(z.object({ message: z.string(), timestamp: z.number().min(0).max(latest) }));
type LogEntry = z.output<typeof entries>[number];

type Listener = (line: LogcatLine) => void;
/** Identified by its facts; with the device's clock. */
type Session = { facts: AppiumFacts; clock: DeviceClock };
const never = new AbortController().signal;

/** Entries of a log of the server, which gives each of them once. */
const readEntries = async (device: AppiumDevice, type: string): Promise<LogEntry[]> =>
  answerAs(entries, "getLogs", await device.call("getLogs", [type], never, { timeoutMs: readMs }));

/** Throws what {@link AppiumDevice.call} throws; the seconds are those of the device. */
export async function readClock(device: AppiumDevice, signal: AbortSignal): Promise<DeviceClock> {
  return new DeviceClock(
    answerAs(z.string(), "getDeviceTime", await device.mobile("getDeviceTime", {}, signal)),
  );
}

/** The log of a device. All readers share it, since the server returns each line only once. */
export class DeviceLog {
  readonly #device: AppiumDevice;
  readonly #ring = new LogRing();
  readonly #listeners = new Set<Listener>();
  readonly #inTurn = inTurn();
  #session: Session | undefined;
  /** Crashes from the reports of iOS, oldest first. */
  readonly #reported: CrashFailure[] = [];
  #mark: { facts: AppiumFacts; line: number; report: number } | undefined;

  constructor(device: AppiumDevice) {
    this.#device = device;
  }

  readonly source: LogSource = {
    lines: async ({ after = 0, limit }, signal) => {
      await this.read(signal);
      return this.#ring.newest(after, limit);
    },
  };

  /** Reads new lines. A reader that is cancelled loses none: the next one gets them. */
  async read(signal: AbortSignal): Promise<void> {
    await untilAborted(
      this.#inTurn(() => this.#read()),
      signal,
    );
  }

  /** The crashes that iOS has reported so far, oldest first; reads the newest reports. */
  async readReports(signal: AbortSignal): Promise<readonly CrashFailure[]> {
    const reading = this.#inTurn(async () => {
      for (const { message } of await readEntries(this.#device, "crashlog")) {
        const crash = crashIn(message);
        if (crash !== undefined) this.#reported.push(crash);
      }
    });
    await untilAborted(reading, signal);
    return this.#reported;
  }

  /** Makes {@link sinceMark} begin here. */
  async mark(signal: AbortSignal): Promise<void> {
    const report = (await this.#reports(signal)).length;
    await this.read(signal);
    this.#mark = { facts: this.#device.facts(), line: this.#ring.last, report };
  }

  forgetMark(): void {
    this.#mark = undefined;
  }

  /** Undefined where there is no mark. Lines that were written between two sessions are in no log of a server. */
  async sinceMark(signal: AbortSignal): Promise<LogsSinceMark | undefined> {
    const mark = this.#mark;
    if (mark === undefined) return undefined;
    const reported = (await this.#reports(signal)).slice(mark.report);
    await this.read(signal);
    const { lines, isWhole } = this.#ring.behind(mark.line);
    const facts = this.#device.facts();
    const failures = () =>
      facts.platform === "android"
        ? failuresIn(lines.flatMap(({ raw, at }) => parseLogcatLine(raw, () => at) ?? []))
        : reported;
    return {
      lines: lines.map(({ line: { source = "", text } }) => ({ tag: source, text })),
      failures,
      isWhole: isWhole && facts === mark.facts,
    };
  }

  async #reports(signal: AbortSignal): Promise<readonly CrashFailure[]> {
    return this.#device.facts().platform === "android" ? [] : this.readReports(signal);
  }

  onLine(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #read(): Promise<void> {
    const facts = this.#device.facts();
    if (facts.platform !== "android") {
      this.#ring.add((await readEntries(this.#device, "syslog")).map(lineOfSyslog));
      return;
    }
    const isNew = this.#session?.facts !== facts;
    const session =
      isNew || !this.#session ? { facts, clock: await readClock(this.#device, never) } : this.#session;
    const lines = (await readEntries(this.#device, "logcat")).flatMap((one) => lineOfLogcat(one, session));
    this.#session = session;
    this.#report(isNew ? this.#addFirst(lines) : this.#addNext(lines));
  }

  /** A new session starts with the device's kept lines, some of which were read before. */
  #addFirst(lines: readonly AndroidLine[]): readonly AndroidLine[] {
    const since = this.#ring.since() ?? 0;
    return this.#ring.addNew(lines.filter(({ at }) => at >= since));
  }

  #addNext(lines: readonly AndroidLine[]): readonly AndroidLine[] {
    this.#ring.add(lines);
    return lines;
  }

  #report(lines: readonly AndroidLine[]): void {
    for (const { logcat } of lines) if (logcat) for (const listener of [...this.#listeners]) listener(logcat);
  }
}

/** Without `logcat` if the user set another format for the log. */
type AndroidLine = WrittenLine & { logcat: LogcatLine | undefined };

function lineOfLogcat({ message, timestamp }: LogEntry, { clock }: Session): AndroidLine[] {
  if (message.startsWith("--------- ")) return [];
  const logcat = parseLogcatLine(message, (time) => clock.secondsOf(time));
  const said = logcat ? saidIn(logcat) : { level: "info" as const, text: message };
  return [{ raw: message, at: logcat?.at ?? timestamp / 1_000, said, logcat }];
}

/** iOS sends its lines as they are written, so the server's times are right. */
const lineOfSyslog = ({ message, timestamp }: LogEntry): WrittenLine => ({
  raw: message,
  at: timestamp / 1_000,
  said: saidInSyslog(message),
});

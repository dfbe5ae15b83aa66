import type { LogLine, LogSource } from "../ports.ts";
import { commandLine } from "./adb/quote.ts";
import type { AndroidDevice } from "./device.ts";

const keptLines = 5_000;
/** Of what was written before anybody asked, so much is read. */
const firstLines = 1_000;
const mostBytes = 16_000_000;

/** `1700000000.123  1234  1240 E Tag : text`, as threadtime with the modifier epoch prints it. */
const lineShape = /^\s*(\d+\.\d{3})\d*\s+(\d+)\s+(\d+)\s+([VDIWEFS])\s+(.*?)\s*: ?(.*)$/;

export type LogcatLine = { at: number; pid: string; level: string; tag: string; text: string };

/** Undefined for the headings of buffers and the like. */
export function parseLogcatLine(raw: string): LogcatLine | undefined {
  const [, at, pid, , level, tag, text] = lineShape.exec(raw.replace(/\r$/, "")) ?? [];
  if (at === undefined || pid === undefined || level === undefined) return undefined;
  return { at: Number(at), pid, level, tag: tag ?? "", text: text ?? "" };
}

const levels: Readonly<Record<string, LogLine["level"]>> = {
  V: "debug",
  D: "debug",
  I: "info",
  W: "warning",
};

/** The device's log, read when somebody asks: what came since is added to what is kept, and numbered. */
export function createLogs(device: AndroidDevice): LogSource {
  const log = new Logcat();
  let reading: Promise<unknown> = Promise.resolve();
  const read = async (signal: AbortSignal) => {
    const since = log.since();
    const from = since === undefined ? ["-t", `${firstLines}`] : ["-T", since.toFixed(3)];
    const dump = commandLine(["logcat", "-d", "-v", "threadtime", "-v", "epoch", ...from]);
    const { stdout } = await device.link().script(dump, signal, { mostBytes });
    log.add(stdout.split("\n"));
  };
  return {
    async lines({ after = 0, limit }, signal) {
      const mine = reading.then(() => read(signal));
      reading = mine.catch(() => undefined);
      await mine;
      return log.newest(after, limit);
    },
  };
}

type Kept = { line: LogLine; raw: string; at: number };

/** The lines that were read, each once. */
class Logcat {
  #kept: Kept[] = [];
  #seq = 0;

  /** From when to read on: one millisecond early, since not all lines of the last one may have been there. */
  since(): number | undefined {
    const last = this.#kept.at(-1)?.at;
    return last === undefined ? undefined : last - 0.001;
  }

  newest(after: number, limit: number): LogLine[] {
    return this.#kept
      .map(({ line }) => line)
      .filter(({ seq }) => seq > after)
      .slice(-limit);
  }

  /** What was read from {@link since} on: it begins with lines that are known. */
  add(raws: readonly string[]): void {
    const known = this.#knownSince(this.since());
    for (const raw of raws) {
      const count = known.get(raw) ?? 0;
      if (count > 0) known.set(raw, count - 1);
      else this.#keep(raw);
    }
    this.#kept = this.#kept.slice(-keptLines);
  }

  #knownSince(since = Number.POSITIVE_INFINITY): Map<string, number> {
    const known = new Map<string, number>();
    for (const { raw, at } of this.#kept) if (at >= since) known.set(raw, (known.get(raw) ?? 0) + 1);
    return known;
  }

  #keep(raw: string): void {
    const parsed = parseLogcatLine(raw);
    if (parsed === undefined) return;
    const { at, level, tag, text } = parsed;
    const line: LogLine = {
      seq: ++this.#seq,
      at: new Date(at * 1_000).toISOString(),
      level: levels[level] ?? "error",
      ...(tag !== "" && { source: tag }),
      text,
    };
    this.#kept.push({ line, raw, at });
  }
}

import { type LogEntry, logLevels } from "./log.ts";

/** Formats of `logcat -v`, and words that change them. The device's zone is UTC. */
export const logFormats: ReadonlySet<string> = new Set([
  ...["brief", "long", "process", "raw", "tag", "thread", "threadtime", "time"],
  ...["color", "descriptive", "epoch", "monotonic", "printable", "uid", "usec", "UTC", "year", "zone"],
]);

/** An entry as a line of text; without a format it is threadtime. */
export function entryText(entry: LogEntry, modifiers: readonly string[]): string {
  const { pid, tid, level, tag, text } = entry;
  const has = (word: string) => modifiers.includes(word);
  const time = timeText(entry.at, has);
  const id = (value: number) => String(value).padStart(5);
  if (has("raw")) return text;
  if (has("brief")) return `${level}/${tag}(${id(pid)}): ${text}`;
  if (has("tag")) return `${level}/${tag}: ${text}`;
  if (has("process")) return `${level}(${id(pid)}) ${text}  (${tag})`;
  if (has("thread")) return `${level}(${id(pid)}:${id(tid)}) ${text}`;
  if (has("time")) return `${time} ${level}/${tag}(${id(pid)}): ${text}`;
  if (has("long")) return `[ ${time} ${id(pid)}:${id(tid)} ${level}/${tag} ]\n${text}\n`;
  return `${time} ${id(pid)} ${id(tid)} ${level} ${tag.padEnd(8)}: ${text}`;
}

function timeText(at: number, has: (word: string) => boolean): string {
  if (has("epoch") || has("monotonic")) return (at / 1_000).toFixed(3).padStart(19);
  const [day = "", clock = ""] = new Date(at).toISOString().split("T");
  const text = `${has("year") ? day : day.slice(5)} ${clock.slice(0, has("usec") ? -1 : 12)}${has("usec") ? "000" : ""}`;
  return has("zone") ? `${text} +0000` : text;
}

const headerBytes = 20;

/** An entry as `logcat -B` writes it (AOSP, log/log_read.h, logger_entry of the first version): level, tag and text. */
export function entryBytes({ at, pid, tid, level, tag, text }: LogEntry): Buffer {
  // The numbers of levels begin with 2, verbose.
  const payload = Buffer.from(`${String.fromCharCode(logLevels.indexOf(level) + 2)}${tag}\0${text}\0`);
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16LE(payload.length, 0);
  header.writeUInt16LE(headerBytes, 2);
  header.writeInt32LE(pid, 4);
  header.writeInt32LE(tid, 8);
  header.writeInt32LE(Math.floor(at / 1_000), 12);
  header.writeInt32LE((at % 1_000) * 1_000_000, 16);
  return Buffer.concat([header, payload]);
}

import type { WrittenLine } from "../logs/logRing.ts";

/** `Nov 25 15:00:00 iPhone SpringBoard(FrontBoard)[58] <Notice>: text`, as devices relay it. */
const relayed = /^\w{3} +\d+ [\d:]{8} \S+ (.+?)(?:\([^)]*\))?\[\d+\] <(\w+)>: ?([\s\S]*)$/;
/** `2026-11-25 15:00:00.123 E  Shop[58:1a2b] text`, as a simulator's `log stream --style compact` prints it. */
const compact = /^\d{4}-\d\d-\d\d [\d:.]+ (\w{1,2}) +(.+?)\[\d+:\w+\] ?([\s\S]*)$/;

const levels: Readonly<Record<string, WrittenLine["said"]["level"]>> = {
  ...{ Debug: "debug", Db: "debug", Warning: "warning" },
  ...{ Error: "error", Critical: "error", Alert: "error", Emergency: "error", Fault: "error" },
  ...{ E: "error", F: "error", Er: "error", Ft: "error" },
};

/** What a line of iOS says: who wrote it, and how bad it is. A line of another shape is a text. */
export function saidInSyslog(message: string): WrittenLine["said"] {
  const [, source, level = "", text = ""] = relayed.exec(message) ?? [];
  if (source !== undefined) return { level: levels[level] ?? "info", source, text };
  const [, type = "", process, rest = ""] = compact.exec(message) ?? [];
  if (process !== undefined) return { level: levels[type] ?? "info", source: process, text: rest };
  return { level: "info", text: message };
}

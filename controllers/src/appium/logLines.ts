import { z } from "zod";
import type { CrashFailure } from "../logs/crashReader.ts";
import type { WrittenLine } from "../logs/logRing.ts";

const dayMs = 86_400_000;

/** Reads log times without year and zone, by the device's own clock. */
export class DeviceClock {
  readonly #year: number;
  readonly #zone: string;
  /** Seconds since 1970, in whole ones, when the device was asked. */
  readonly now: number;

  /** `iso` is as Appium gives it, `2026-11-25T15:00:00+01:00`. */
  constructor(iso: string) {
    this.now = Math.floor(Date.parse(iso) / 1_000);
    this.#year = Number(iso.slice(0, 4));
    this.#zone = /[+-]\d\d:?\d\d$/.exec(iso)?.[0] ?? "Z";
  }

  /** Seconds since 1970 of `11-25 15:00:00.123`: in the year before if it would be in the future. */
  secondsOf(time: string): number {
    const inYear = (year: number) => Date.parse(`${year}-${time.replace(" ", "T")}${this.#zone}`);
    const thisYear = inYear(this.#year);
    return (thisYear > this.now * 1_000 + dayMs ? inYear(this.#year - 1) : thisYear) / 1_000;
  }
}

/** `Nov 25 15:00:00 iPhone SpringBoard(FrontBoard)[58] <Notice>: text`, as devices relay it. */
const relayed = /^\w{3} +\d+ [\d:]{8} \S+ (.+?)(?:\([^)]*\))?\[\d+\] <(\w+)>: ?([\s\S]*)$/;
/** `2026-11-25 15:00:00.123 E  Shop[58:1a2b] text`, as a simulator's `log stream --style compact` prints it. */
const compact = /^\d{4}-\d\d-\d\d [\d:.]+ (\w{1,2}) +(.+?)\[\d+:\w+\] ?([\s\S]*)$/;

const levels: Readonly<Record<string, WrittenLine["said"]["level"]>> = {
  ...{ Debug: "debug", Db: "debug", Warning: "warning" },
  ...{ Error: "error", Critical: "error", Alert: "error", Emergency: "error", Fault: "error" },
  ...{ E: "error", F: "error", Er: "error", Ft: "error" },
};

/** The process, level and text of a line of iOS. A line of another shape is a text only. */
export function saidInSyslog(message: string): WrittenLine["said"] {
  const [, source, level = "", text = ""] = relayed.exec(message) ?? [];
  if (source !== undefined) return { level: levels[level] ?? "info", source, text };
  const [, type = "", process, rest = ""] = compact.exec(message) ?? [];
  if (process !== undefined) return { level: levels[type] ?? "info", source: process, text: rest };
  return { level: "info", text: message };
}

/** Reports of app crashes; other types are about memory, the system and usage. */
const crashType = "309";
const longest = 300;

const head = z.object({
  bug_type: z.string(),
  bundleID: z.string().optional(),
  app_name: z.string().optional(),
});
const body = z.object({
  exception: z
    .object({ type: z.string().optional(), signal: z.string().optional(), subtype: z.string().optional() })
    .optional(),
  termination: z.object({ indicator: z.string().optional() }).optional(),
});

/** The crash in an iOS report: a line of JSON plus a JSON body (.ips, since iOS 15), or text (.crash). */
export function crashIn(report: string): CrashFailure | undefined {
  return report.trimStart().startsWith("{") ? crashInIps(report.trimStart()) : crashInText(report);
}

function crashInIps(report: string): CrashFailure | undefined {
  const end = report.indexOf("\n");
  const known = parse(head, end < 0 ? report : report.slice(0, end));
  const packageName = known?.bundleID ?? known?.app_name;
  if (known?.bug_type !== crashType || packageName === undefined) return undefined;
  const { exception, termination } = parse(body, report.slice(end)) ?? {};
  const lines = [
    [exception?.type, exception?.signal].filter(Boolean).join(" "),
    exception?.subtype,
    termination?.indicator,
  ];
  return failed(packageName, lines);
}

function crashInText(report: string): CrashFailure | undefined {
  const line = (name: string) => new RegExp(`^${name}: *(.+)$`, "m").exec(report)?.[1];
  const packageName = line("Identifier") ?? line("Process")?.replace(/ \[\d+\]$/, "");
  const exception = line("Exception Type");
  if (packageName === undefined || exception === undefined) return undefined;
  return failed(packageName, [exception, line("Exception Subtype"), line("Termination Reason")]);
}

const failed = (packageName: string, lines: readonly (string | undefined)[]): CrashFailure => ({
  ...{ type: "failed", kind: "app_crash", packageName },
  excerpt: lines
    .filter(Boolean)
    .map((line) => line?.slice(0, longest))
    .join("\n"),
});

function parse<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

import { z } from "zod";
import type { CrashFailure } from "../logs/crashReader.ts";

/** Of an app that crashed; the others tell of memory, of the system and of its use. */
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

/**
 * What a report of iOS tells, where it is of an app that crashed: a line of JSON and then a body of JSON (.ips, since iOS 15),
 * or text (.crash).
 */
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

import type { LogLine } from "../ports.ts";

/**
 * `1700000000.123  1234  1240 E Tag : text`, as threadtime with the modifier epoch prints it; without the modifier the line
 * begins with `11-25 15:00:00.123`.
 */
const lineShape =
  /^\s*(\d+\.\d{3}|\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})\d*\s+(\d+)\s+(\d+)\s+([VDIWEFS])\s+(.*?)\s*: ?(.*)$/;

/** `at` is in seconds since 1970. */
export type LogcatLine = { at: number; pid: string; level: string; tag: string; text: string };

/** Undefined for the headings of buffers and the like. `secondsOf` reads the time, which is epoch if left out. */
export function parseLogcatLine(
  raw: string,
  secondsOf: (time: string) => number = Number,
): LogcatLine | undefined {
  const [, time, pid, , level, tag, text] = lineShape.exec(raw.replace(/\r$/, "")) ?? [];
  if (time === undefined || pid === undefined || level === undefined) return undefined;
  return { at: secondsOf(time), pid, level, tag: tag ?? "", text: text ?? "" };
}

const levels: Readonly<Record<string, LogLine["level"]>> = {
  V: "debug",
  D: "debug",
  I: "info",
  W: "warning",
};

export const saidIn = ({ level, tag, text }: LogcatLine): Pick<LogLine, "level" | "source" | "text"> => ({
  level: levels[level] ?? "error",
  ...(tag !== "" && { source: tag }),
  text,
});

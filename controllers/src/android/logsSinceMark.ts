import type { LogsSinceMark } from "../logs/checks.ts";
import { failuresIn } from "../logs/crashReader.ts";
import { type LogcatLine, parseLogcatLine } from "../logs/logcatLine.ts";
import { commandLine } from "./adb/quote.ts";
import type { AndroidSession } from "./session.ts";

export const markTag = "Labwright";
const mostBytes = 32_000_000;

/** What the device wrote behind the last mark; undefined where there is no mark. */
export async function logsSinceMark(
  { device, trail: { mark } }: AndroidSession,
  signal: AbortSignal,
): Promise<LogsSinceMark | undefined> {
  if (mark === undefined) return undefined;
  const since = `${mark.second - 1}.000`;
  const dump = ["logcat", "-d", "-v", "threadtime", "-v", "epoch", "-b", "main,system,crash", "-T", since];
  const { stdout } = await device.link().script(commandLine(dump), signal, { mostBytes });
  const all = stdout.split("\n").flatMap((raw) => parseLogcatLine(raw) ?? []);
  const at = all.findIndex(({ tag, text }) => tag === markTag && text === mark.token);
  if (at >= 0) return sinceMark(all.slice(at + 1), true);
  return sinceMark(
    all.filter(({ at }) => at >= mark.second + 1),
    false,
  );
}

const sinceMark = (lines: readonly LogcatLine[], isWhole: boolean): LogsSinceMark => ({
  lines,
  failures: () => failuresIn(lines),
  isWhole,
});

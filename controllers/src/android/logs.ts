import { randomUUID } from "node:crypto";
import type { ScreenSource } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { LogsSinceMark } from "../logs/checks.ts";
import { CrashReader, failuresIn } from "../logs/crashReader.ts";
import type { CrashSource } from "../logs/crashWatch.ts";
import { type LogcatLine, parseLogcatLine, saidIn } from "../logs/logcatLine.ts";
import { LogRing } from "../logs/logRing.ts";
import type { LogSource } from "../ports.ts";
import { inTurn } from "../waiting/deadlines.ts";
import { commandLine } from "./adb/quote.ts";
import type { AndroidDevice } from "./device.ts";
import type { AndroidSession } from "./session.ts";

/** How many older lines the first read takes. */
const firstLines = 1_000;
const mostBytes = 32_000_000;
const markTag = "Labwright";
/** Only the tags that report crashes, from now on. */
const crashLine =
  'logcat -v threadtime -v epoch -b main,system,crash -T "$(date +%s).000" -s AndroidRuntime:E DEBUG:F ActivityManager:I ActivityTaskManager:I';

async function readLog(device: AndroidDevice, options: readonly string[], signal: AbortSignal) {
  const dump = commandLine(["logcat", "-d", "-v", "threadtime", "-v", "epoch", ...options]);
  const { stdout } = await device.link().script(dump, signal, { mostBytes });
  return stdout.split("\n").flatMap((raw) => {
    const line = parseLogcatLine(raw);
    return line === undefined ? [] : [{ raw, line }];
  });
}

/** The device's log, read on request: new lines are added to the kept ones. */
export function createLogs(device: AndroidDevice): LogSource {
  const ring = new LogRing();
  const reading = inTurn();
  return {
    async lines({ after = 0, limit }, signal) {
      await reading(async () => {
        const since = ring.since();
        const from = since === undefined ? ["-t", `${firstLines}`] : ["-T", since.toFixed(3)];
        const lines = await readLog(device, from, signal);
        ring.addNew(lines.map(({ raw, line }) => ({ raw, at: line.at, said: saidIn(line) })));
      });
      return ring.newest(after, limit);
    },
  };
}

/** Writes a marker line into the device's log; checks read from there on. */
export async function markLog({ device, trail }: AndroidSession, signal: AbortSignal): Promise<void> {
  const token = randomUUID();
  const lines = [
    ["date", "+%s"],
    ["log", "-t", markTag, token],
  ];
  const { stdout, stderr, code } = await device.link().runAll(lines, signal);
  const second = Number(/^(\d+)\s*$/m.exec(stdout)?.[1]);
  if (code !== 0 || !Number.isFinite(second))
    throw new DeviceError(
      "DEVICE_ERROR",
      `The log was not marked: ${`${stdout} ${stderr}`.trim().slice(0, 300)}. Read it with view_logs instead.`,
    );
  trail.mark = { token, second };
}

export async function logsSinceMark(
  { device, trail: { mark } }: AndroidSession,
  signal: AbortSignal,
): Promise<LogsSinceMark | undefined> {
  if (mark === undefined) return undefined;
  const options = ["-b", "main,system,crash", "-T", `${mark.second - 1}.000`];
  const all = (await readLog(device, options, signal)).map(({ line }) => line);
  const at = all.findIndex(({ tag, text }) => tag === markTag && text === mark.token);
  const isLater = (line: LogcatLine) => line.at >= mark.second + 1;
  const lines = at >= 0 ? all.slice(at + 1) : all.filter(isLater);
  return { lines, failures: () => failuresIn(lines), isWhole: at >= 0 };
}

export const crashesOf = (device: AndroidDevice, screen: ScreenSource): CrashSource => ({
  kinds: ["app_crash", "anr"],
  takePicture: (signal) => screen.capture({ format: "jpeg" }, signal),
  async follow(report, signal) {
    const crashes = new CrashReader(report);
    try {
      for await (const bytes of device.link().stream(crashLine, signal)) crashes.push(bytes);
    } finally {
      crashes.end();
    }
  },
});

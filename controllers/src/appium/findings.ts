import type { ScreenSource } from "../contract.ts";
import { type CrashEvent, CrashReader } from "../logs/crashReader.ts";
import type { CrashSource } from "../logs/crashWatch.ts";
import { pause } from "../waiting/deadlines.ts";
import type { AppiumDevice } from "./device.ts";
import type { Platform } from "./facts.ts";
import { type DeviceLog, readClock } from "./log.ts";

/** Poll interval, since a server pushes nothing. */
const everyMs = 2_000;
/** As XCUITest counts the states of an app: 2 to 4 have a process. */
const runningFrom = 2;

type Report = (event: CrashEvent) => void;

/** Crashes: by the log of Android, which also reports apps that do not respond, and by the crash reports of iOS. */
export const crashesOf = (
  device: AppiumDevice,
  log: DeviceLog,
  screen: ScreenSource,
  platform: Platform | undefined,
): CrashSource => ({
  kinds: platform === "android" ? ["app_crash", "anr"] : ["app_crash"],
  takePicture: (signal) => screen.capture({ format: "jpeg" }, signal),
  follow: (report, signal) =>
    platform === "android"
      ? followLog(device, log, report, signal)
      : followReports(device, log, report, signal),
});

/** Skips the lines from before. */
async function followLog(device: AppiumDevice, log: DeviceLog, report: Report, signal: AbortSignal) {
  const { now } = await readClock(device, signal);
  const crashes = new CrashReader(report);
  const leave = log.onLine((line) => {
    if (line.at >= now) crashes.read(line);
  });
  try {
    await repeat(() => log.read(signal), signal);
  } finally {
    leave();
    crashes.end();
  }
}

/** The server lists reports since its session began, so the first read skips past ones. */
async function followReports(device: AppiumDevice, log: DeviceLog, report: Report, signal: AbortSignal) {
  const crashed = new Set<string>();
  let reportedCount = (await log.readReports(signal)).length;
  await repeat(async () => {
    const reported = await log.readReports(signal);
    for (const crash of reported.slice(reportedCount)) {
      crashed.add(crash.packageName);
      report(crash);
    }
    reportedCount = reported.length;
    for (const id of [...crashed]) {
      // An app that was removed has no state, and stays crashed.
      const state = await device.mobile("queryAppState", { bundleId: id }, signal).catch(() => undefined);
      if (Number(state) >= runningFrom && crashed.delete(id)) report({ type: "started", packageName: id });
    }
  }, signal);
}

/** Retries failures. An ended session is reopened by its next user. */
async function repeat(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => undefined);
    await pause(everyMs, signal);
  }
}

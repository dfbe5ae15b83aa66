import type { ScreenSource } from "../contract.ts";
import { CrashReader } from "../logs/crashReader.ts";
import type { CrashSource } from "../logs/crashWatch.ts";
import type { AndroidDevice } from "./device.ts";

/** Only who tells of crashes, from now on: what was written before is over. */
const logLine =
  'logcat -v threadtime -v epoch -b main,system,crash -T "$(date +%s).000" -s AndroidRuntime:E DEBUG:F ActivityManager:I ActivityTaskManager:I';

/** Crashes of a device, by the log of its connection. */
export const crashesOf = (device: AndroidDevice, screen: ScreenSource): CrashSource => ({
  kinds: ["app_crash", "anr"],
  takePicture: (signal) => screen.capture({ format: "jpeg" }, signal),
  async follow(tell, signal) {
    const crashes = new CrashReader(tell);
    try {
      for await (const bytes of device.link().stream(logLine, signal)) crashes.push(bytes);
    } finally {
      crashes.end();
    }
  },
});

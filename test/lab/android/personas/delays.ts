/**
 * How long commands take on real devices, by how their line begins; the longest beginning counts. A request to the
 * UiAutomator2 server is the line `request GET /source`, with its path below the session.
 */
export type Delay = {
  command: string;
  ms: number;
  apiLevels?: { from?: number; to?: number };
  source: string;
};

/** What others have measured and published. Everything else takes no time. */
export const documentedDelays: readonly Delay[] = [
  {
    command: "screencap -p",
    ms: 2_122,
    source:
      "Median on an emulator with Android 15, 1440x3120: elliotgao2.github.io/handsets, Why adb screencap is slow",
  },
  { command: "screencap", ms: 675, source: "The same page, raw" },
  {
    command: "uiautomator dump",
    ms: 2_150,
    source: "2.1 to 2.2 s on heavy screens: github.com/mobile-next/mobilecli, pull request 286",
  },
  {
    command: "uiautomator dump (busy)",
    ms: 11_400,
    source: "A screen that never rests: github.com/ShawnPana/phone-harness, pull request 77",
  },
  {
    command: "input",
    ms: 1_160,
    apiLevels: { to: 30 },
    source:
      "Until Android 11 each call starts a Java machine; on a Note 4: prog.world, how to speed up adb input",
  },
  {
    command: "input",
    ms: 50,
    apiLevels: { from: 31 },
    source:
      "From Android 12 on input only calls cmd; about 50 ms in one public measurement, whose page was not kept",
  },
  {
    command: "request",
    ms: 30,
    source:
      "27 to 45 ms for small requests, on a phone of 1440x2960: the log in github.com/appium/appium, issue 17257",
  },
  {
    command: "request GET /source",
    ms: 1_000,
    source:
      "0.8 to 1.0 s on every screen by an agent that stays, with a real app: github.com/mobile-next/mobilecli, pull request 286",
  },
  {
    command: "request POST /appium/gestures/click",
    ms: 100,
    source: "About 100 ms for a click by a server that stays: github.com/xiaocong/uiautomator, issue 132",
  },
];

/** How long a line takes on a device of this API level; no time where nothing is known. */
export function delayOf(delays: readonly Delay[], line: string, apiLevel: number): number {
  const fits = delays.filter(({ command, apiLevels: { from = 0, to = Number.POSITIVE_INFINITY } = {} }) => {
    return line.startsWith(command) && apiLevel >= from && apiLevel <= to;
  });
  return fits.toSorted((a, b) => b.command.length - a.command.length)[0]?.ms ?? 0;
}

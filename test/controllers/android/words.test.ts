import { androidFactory } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { parseDevices } from "#controllers/android/adb/devices.ts";
import { commandLine } from "#controllers/android/adb/quote.ts";
import { serverPort } from "#controllers/android/adb/server.ts";
import { typing } from "#controllers/android/commands/text.ts";
import { type CrashEvent, CrashReader } from "#controllers/logs/crashReader.ts";
import { parseLogcatLine } from "#controllers/logs/logcatLine.ts";
import { findKeyCode } from "#controllers/phones/androidKeys.ts";

describe("a command line for a device", () => {
  it.each([
    [["getprop", "ro.build.version.sdk"], "getprop ro.build.version.sdk"],
    [["echo", "$(reboot)"], "echo '$(reboot)'"],
    [["echo", "it's"], "echo 'it'\\''s'"],
    [["echo", "a\nb", ""], "echo 'a\nb' ''"],
  ])("%j is %s", (args, line) => expect(commandLine(args)).toBe(line));

  it("takes no null character", () => {
    expect(() => commandLine(["a\0b"])).toThrow(expect.objectContaining({ code: "INVALID_PARAMS" }));
  });
});

describe("what adb lists", () => {
  it("is read with states of several words", () => {
    const text = [
      "R58M12345              device usb:1-1 product:a model:Pixel_8 device:b transport_id:3",
      "192.168.1.20:5555      offline transport_id:12",
      "0123456789ABCDEF       no permissions (user in plugdev group; are your udev rules wrong?); see [http://x] usb:1 transport_id:4",
      "* daemon started successfully",
      "",
    ].join("\n");
    expect(parseDevices(text)).toEqual([
      { serial: "R58M12345", state: "device", transport: 3, model: "Pixel_8" },
      { serial: "192.168.1.20:5555", state: "offline", transport: 12 },
      { serial: "0123456789ABCDEF", state: "no permissions", transport: 4 },
    ]);
  });

  it("is that of the port of the settings, else of the environment, else the usual one", () => {
    expect(serverPort(6000, { ANDROID_ADB_SERVER_PORT: "6001" })).toBe(6000);
    expect(serverPort(undefined, { ANDROID_ADB_SERVER_PORT: "6001" })).toBe(6001);
    expect(serverPort(undefined, { ANDROID_ADB_SERVER_PORT: "many" })).toBe(5037);
    expect(serverPort(undefined, {})).toBe(5037);
  });
});

describe("settings", () => {
  const problems = (settings: unknown) => androidFactory.settings.safeParse(settings).success;

  it("take a serial or an address, and claim it", () => {
    expect(androidFactory.claims?.({ serial: "R58" })).toEqual(["serial:R58"]);
    expect(androidFactory.claims?.({ address: "tv.lan:5555" })).toEqual(["serial:tv.lan:5555"]);
    expect(problems({ serial: "R58", address: "tv.lan:5555" })).toBe(false);
  });

  it.each(["", "a b", "$(reboot)", "x\ny", "a;b"])("refuse the serial %j", (serial) => {
    expect(problems({ serial })).toBe(false);
  });

  it.each([
    "tv",
    "tv:",
    "tv:port",
    "-x:5555",
    "tv:5555;reboot",
    "http://tv:5555",
  ])("refuse the address %j", (address) => expect(problems({ address })).toBe(false));
});

it("a key by Android's own name is Android's: KEYCODE_MUTE is the microphone's", () => {
  expect([findKeyCode("MUTE"), findKeyCode("KEYCODE_MUTE"), findKeyCode("KEYCODE_BACK")]).toEqual([
    164, 91, 4,
  ]);
  expect(findKeyCode("KEYCODE_NOWHERE")).toBeUndefined();
});

describe("typing by adb alone", () => {
  it("never has a per cent sign before an s in one piece, which Android reads as a blank", () => {
    expect(typing("50%sure %s\nnext\tfield")).toEqual([
      ["input", "text", "50%"],
      ["input", "text", "sure %"],
      ["input", "text", "s"],
      ["input", "keyevent", "66"],
      ["input", "text", "next"],
      ["input", "keyevent", "61"],
      ["input", "text", "field"],
    ]);
  });

  it.each(["é", "😀", "日本", "\u0007"])("refuses %j without repeating it", (text) => {
    const attempt = () => typing(`secret ${text}`);
    expect(attempt).toThrow(expect.objectContaining({ code: "UNICODE_UNSUPPORTED" }));
    expect(attempt).not.toThrow(/secret/);
  });
});

describe("the log", () => {
  it("is read by lines of threadtime with seconds since 1970", () => {
    expect(parseLogcatLine("         1700000000.123  1234  1240 E AndroidRuntime: FATAL: x")).toEqual({
      at: 1_700_000_000.123,
      pid: "1234",
      level: "E",
      tag: "AndroidRuntime",
      text: "FATAL: x",
    });
    expect(parseLogcatLine("--------- beginning of crash")).toBeUndefined();
  });

  const crash = (...texts: string[]) =>
    texts.map((text) => `1700000000.123  4321  4321 E AndroidRuntime: ${text}\n`).join("");

  function eventsOf(...parts: readonly string[]): CrashEvent[] {
    const events: CrashEvent[] = [];
    const reader = new CrashReader((event) => events.push(event));
    for (const part of parts) reader.push(Buffer.from(part));
    reader.end();
    return events;
  }

  it("reports a crash once, with its lines, however they are cut into pieces", () => {
    const text = crash("FATAL EXCEPTION: main", "Process: com.example:remote, PID: 4321", "Boom", "\tat x.Y");
    const excerpt = "FATAL EXCEPTION: main\nProcess: com.example:remote, PID: 4321\nBoom\n\tat x.Y";
    const reported = [{ type: "failed", kind: "app_crash", packageName: "com.example", excerpt }];
    expect(eventsOf(text)).toEqual(reported);
    expect(eventsOf(...text)).toEqual(reported);
  });

  it("reports crashes of native code, apps that do not respond, and starts", () => {
    const lines = [
      "1700000000.1230  99  99 F DEBUG   : pid: 1, tid: 1, name: x  >>> com.native <<<",
      "1700000001.123  800  812 E ActivityManager: ANR in com.slow (com.slow/.Main)",
      "1700000001.123  800  812 E ActivityManager: Reason: Input dispatching timed out",
      "1700000002.123  800  812 I ActivityTaskManager: Displayed com.slow/.Main: +350ms",
      "1700000003.123  800  812 I ActivityManager: Start proc 4400:com.native/u0a100 for next-top-activity",
    ];
    expect(eventsOf(`${lines.join("\n")}\n`)).toMatchObject([
      { kind: "app_crash", packageName: "com.native" },
      { kind: "anr", packageName: "com.slow", excerpt: expect.stringContaining("Input dispatching") },
      { type: "started", packageName: "com.slow" },
      { type: "started", packageName: "com.native" },
    ]);
  });

  it("takes the words of an app for no crash of another", () => {
    const line = "1700000000.123  4321  4321 E MyApp: FATAL EXCEPTION: main\n";
    expect(eventsOf(line, "1700000000.123  4321  4321 E MyApp: Process: com.victim, PID: 1\n")).toEqual([]);
  });
});

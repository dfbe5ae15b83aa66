import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { apkOf } from "../../../fixtures/androidApk.ts";
import { startUserland } from "../../../fixtures/androidUserland.ts";
import { noFaults } from "../../../lab/android/faults.ts";
import { documentedDelays } from "../../../lab/android/index.ts";
import { ManualClock } from "../../../lab/android/ui/manualClock.ts";

const shop = "dev.labwright.shop";
const samples = "dev.labwright.samples";

describe("apps", () => {
  it("start cold and warm, stop, and have a process meanwhile", async () => {
    const { run } = startUserland("phone");
    expect((await run(`pidof ${shop}`)).code).toBe(1);
    const cold = await run(`am start -W -n ${shop}/.Main`);
    expect(cold.stdout).toMatch(
      /LaunchState: COLD\nActivity: dev\.labwright\.shop\/\.Main\nTotalTime: \d+\n/,
    );
    const first = await run(`pidof ${shop}`);
    expect((await run("dumpsys window")).stdout).toContain(
      `mCurrentFocus=Window{b1f u0 ${shop}/${shop}.Main}`,
    );
    await run("input keyevent HOME");
    expect((await run(`am start -W ${shop}`)).stdout).not.toContain("COLD");
    await run(`am force-stop ${shop}`);
    expect((await run(`pidof ${shop}`)).code).toBe(1);
    await run(`am start ${shop}`);
    expect((await run(`pidof ${shop}`)).stdout).not.toBe(first.stdout);
  });

  it("say what there is not", async () => {
    const { run, system } = startUserland("phone");
    expect(await run(`am start -n ${shop}/.Nope`)).toMatchObject({
      code: 1,
      stderr: `Error type 3\nError: Activity class {${shop}/.Nope} does not exist.\n`,
    });
    expect((await run("am start -a android.intent.action.VIEW -d nosuch://x")).stderr).toContain(
      "unable to resolve",
    );
    expect((await run("pm path com.nope")).code).toBe(1);
    expect((await run("dumpsys package com.nope")).stdout).toContain("Unable to find package");
    expect((await run("pm grant com.nope android.permission.CAMERA")).code).toBe(255);
    expect(system.unknown).toEqual([]);
    await run("dumpsys nosuchservice; cmd nosuch thing; nosuchprogram -x");
    expect(system.unknown).toEqual(["dumpsys nosuchservice", "cmd nosuch thing", "nosuchprogram -x"]);
  });

  it("crash and hang in the log, as Android writes it", async () => {
    const { run, ui } = startUserland("phone");
    await run(`am start ${samples}`);
    const { stdout: pid } = await run(`pidof ${samples}`);
    ui.crash(samples, "The button was pressed");
    const { stdout } = await run("logcat -d -b crash");
    expect(stdout).toMatch(/E AndroidRuntime: FATAL EXCEPTION: main\n/);
    expect(stdout).toContain(`Process: ${samples}, PID: ${pid.trim()}`);
    await run(`am start ${samples}`);
    ui.notResponding(samples, "Input dispatching timed out");
    expect((await run("logcat -d ActivityManager:E '*:S'")).stdout).toMatch(
      /E ActivityManager: ANR in dev\.labwright\.samples\n.*PID: \d+\n.*Reason: Input dispatching timed out\n/,
    );
  });

  it("are granted permissions that they ask for", async () => {
    const { run, ui } = startUserland("phone");
    const granted = async () =>
      (await run(`dumpsys package ${samples}`)).stdout.includes("CAMERA: granted=true");
    expect(await granted()).toBe(false);
    expect((await run(`pm grant ${samples} android.permission.CAMERA`)).code).toBe(0);
    expect(await granted()).toBe(true);
    await run(`pm revoke ${samples} android.permission.CAMERA`);
    expect(await granted()).toBe(false);
    ui.permission(samples, "android.permission.CAMERA", true);
    expect(await granted()).toBe(true);
    expect((await run(`pm clear ${samples}`)).stdout).toBe("Success\n");
    expect(await granted()).toBe(false);
    expect((await run(`pm grant ${samples} android.permission.NOPE`)).stderr).toContain("has not requested");
  });

  it("are updated, but not by an older one", async () => {
    const { run, system } = startUserland("phone");
    const install = async (versionCode: number) => {
      const apk = apkOf({
        packageName: "com.example.a",
        versionCode,
        versionName: "1",
        permissions: ["p.A"],
      });
      system.files.store("/data/local/tmp/a.apk", apk);
      return run("pm install -r -g /data/local/tmp/a.apk");
    };
    expect(await install(2)).toMatchObject({ code: 0, stdout: "Success\n" });
    expect((await install(1)).stdout).toContain("INSTALL_FAILED_VERSION_DOWNGRADE");
    expect((await run("dumpsys package com.example.a")).stdout).toContain("p.A: granted=true");
    expect((await run("am start -W com.example.a")).stdout).toContain("Status: ok");
    expect((await run("pm uninstall com.example.a")).stdout).toBe("Success\n");
    expect((await run("pm list packages com.example")).stdout).toBe("");
    expect((await run("pm uninstall com.android.systemui")).stdout).toContain("DELETE_FAILED");
  });
});

describe("the screen", () => {
  it("is dumped to a file and to the caller", async () => {
    const { run } = startUserland("phone");
    await run(`am start ${shop}`);
    const { stdout } = await run("uiautomator dump /dev/tty");
    expect(stdout).toMatch(/^<\?xml version='1\.0' .*<\/hierarchy>UI hierchary dumped to: \/dev\/tty\n$/s);
    expect((await run("uiautomator dump")).stdout).toBe("UI hierchary dumped to: /sdcard/window_dump.xml\n");
    expect((await run("cat /sdcard/window_dump.xml")).stdout).toBe(stdout.replace(/UI hier.*\n$/, ""));
  });

  it("is not dumped while it has no root, never rests, or another program has UiAutomation", async () => {
    const { run, ui, system } = startUserland("phone");
    ui.faults.nullRoots = 1;
    expect((await run("uiautomator dump")).stderr).toContain(
      "null root node returned by UiTestAutomationBridge",
    );
    expect((await run("uiautomator dump")).stdout).toContain("dumped to");
    ui.faults.neverIdle = true;
    expect((await run("uiautomator dump")).stderr).toBe("ERROR: could not get idle state.\n");
    ui.faults.neverIdle = false;
    system.automation.set("other", () => undefined);
    expect(await run("uiautomator dump")).toMatchObject({ code: 137, stderr: "Killed \n" });
  });

  it("gives its pixels raw and as a PNG, of each display", async () => {
    const { bytes, run, ui } = startUserland("phone2");
    const raw = await bytes("screencap");
    expect([0, 4, 8].map((at) => raw.readUInt32LE(at))).toEqual([720, 1280, 1]);
    expect(raw.length).toBe(16 + 720 * 1280 * 4);
    const png = await bytes("screencap -p");
    const { data } = await sharp(png).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
    expect(Buffer.compare(data, raw.subarray(16))).toBe(0);
    expect((await run("screencap -d 1")).stderr).toContain("not valid");
    ui.faults.secondDisplay = { width: 800, height: 480 };
    expect((await bytes("screencap -d 4619827551948147201")).readUInt32LE(0)).toBe(800);
  });

  it("turns, and says so everywhere", async () => {
    const { run, ui } = startUserland("phone");
    await run("settings put system accelerometer_rotation 0; settings put system user_rotation 1");
    expect(ui.space()).toMatchObject({ width: 2400, height: 1080, rotation: 90 });
    expect((await run("dumpsys window | grep -c cur=2400x1080")).stdout).toBe("1\n");
    await run("wm user-rotation free");
    expect(ui.space().rotation).toBe(0);
    expect((await run("content query --uri content://sms")).stderr).toContain("Permission Denial");
  });

  it("takes taps, swipes, keys and text", async () => {
    const { run, ui } = startUserland("phone");
    await run("am start com.android.settings");
    const before = (await run("uiautomator dump /dev/tty")).stdout;
    await run("input swipe 500 1800 500 600 200");
    expect((await run("uiautomator dump /dev/tty")).stdout).not.toBe(before);
    await run("cmd statusbar expand-notifications");
    expect(ui.active().kind).toBe("system");
    await run("input keyevent KEYCODE_BACK");
    expect(ui.active().kind).toBe("application");
    expect(await run("input text 'ä'")).toMatchObject({
      code: 255,
      stderr: expect.stringContaining("NullPointer"),
    });
    expect((await run("input tap here")).code).toBe(255);
    await run("input keyevent 26");
    expect((await run("dumpsys power | grep mWakefulness=")).stdout).toBe("  mWakefulness=Asleep\n");
  });
});

describe("the log", () => {
  it("is shown in each format, by level, buffer, count and time, and cleared", async () => {
    const { run, system } = startUserland("phone");
    await run("logcat -c");
    const write = (at: number, level: "I" | "E", tag: string, text: string) =>
      system.log.write({ pid: 77, level, tag, buffer: "main", at }, text);
    write(Date.UTC(2026, 0, 2, 3, 4, 5, 6), "I", "Tag", "first");
    write(Date.UTC(2026, 0, 2, 3, 4, 6, 0), "E", "Other", "second");
    const lines = async (options: string) => (await run(`logcat -d ${options}`)).stdout.replace(/^-.*\n/, "");
    expect(await lines("-v threadtime")).toBe(
      "01-02 03:04:05.006    77    77 I Tag     : first\n01-02 03:04:06.000    77    77 E Other   : second\n",
    );
    expect(await lines("-v brief")).toBe("I/Tag(   77): first\nE/Other(   77): second\n");
    expect(await lines("-v epoch '*:E'")).toBe("     1767323046.000    77    77 E Other   : second\n");
    expect(await lines("-v raw -s Tag")).toBe("first\n");
    expect(await lines("-v raw -t 1")).toBe("second\n");
    expect(await lines("-v raw -T 1767323045.500")).toBe("second\n");
    expect(await lines("-v raw -T '2026-01-02 03:04:05.500'")).toBe("second\n");
    expect(await lines("-v raw -b crash")).toBe("");
    await run("logcat -c");
    expect(await lines("-v raw")).toBe("");
  });
});

it("takes as long as documented, by the device's clock", async () => {
  const clock = new ManualClock();
  const { run, system } = startUserland("phone2", { clock, delays: documentedDelays, faults: noFaults() });
  let isDone = false;
  const tap = run("input tap 1 1").then(() => {
    isDone = true;
  });
  await run("true");
  clock.pass(1_159);
  await run("true");
  expect(isDone).toBe(false);
  clock.pass(1);
  await tap;
  system.parts.faults.extraDelayMs.getprop = 5;
  const slow = run("getprop");
  await run("true");
  clock.pass(5);
  expect((await slow).code).toBe(0);
});

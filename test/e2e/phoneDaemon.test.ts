import { describe, expect, onTestFinished, test, vi } from "vitest";
import { markedProcesses } from "../faults/processes.ts";
import type { AndroidLab } from "../fixtures/androidLab.ts";
import { type Bench, kill, type WireHost, within } from "../fixtures/daemon.ts";
import { startPhoneDaemon } from "../fixtures/phoneDaemon.ts";

vi.setConfig({ testTimeout: 240_000 });

let lab: AndroidLab;
let bench: Bench;
let host: WireHost;
let daemon: number;

/** A daemon that has two phones, watches them, and reads their elements by `backend`. */
async function start(backend: string, more: object = {}): Promise<void> {
  const webView = { chromium: "chromium" };
  const phones = [{ persona: "phone", webView } as const, { persona: "phone2" } as const];
  const started = await startPhoneDaemon(phones, { backend, ...more });
  onTestFinished(() => started.end());
  ({ lab, bench, host, daemon } = started);
  for (const device_id of ["phone1", "phone2"]) expect((await open(device_id)).error).toBeUndefined();
  await expect.poll(followed, within).toEqual([true, true]);
}

const open = (device_id: string) =>
  host.call("execute_device_action", {
    device_id,
    actions: [{ command: "open_app", params: { app: { package: "com.android.settings" } } }],
  });
const followed = () =>
  lab.devices.map(({ device }) => device.traffic.current.some(({ service }) => service.includes("logcat")));
const current = () => lab.devices.flatMap(({ device }) => device.traffic.current);
const sessions = () => lab.devices.filter(({ device }) => device.uia2 !== undefined).length;
/** What was started for this adb server, but for the server itself. */
const driverPrograms = () =>
  markedProcesses(`ANDROID_ADB_SERVER_PORT=${lab.adbPort}`)
    .map(({ command }) => command)
    .filter((command) => !command.includes("nodaemon"));

/** The streams that were open have ended. The bridge starts the next daemon by itself, which opens some of its own. */
async function killDaemon(): Promise<void> {
  const before = current();
  kill(daemon, "SIGKILL");
  await expect.poll(() => current().filter((stream) => before.includes(stream)), within).toEqual([]);
  expect(bench.processes()).not.toContain(daemon);
}

/** The adb server is the user's, and was not started again. */
async function goesOn(): Promise<void> {
  expect(await lab.ask("host:version")).toMatch(/^[0-9a-f]{4}$/);
  await expect.poll(async () => (await open("phone1")).error, within).toBeUndefined();
  expect(bench.daemon()?.pid).not.toBe(daemon);
  expect((await host.call("dump_ui_elements", { device_id: "phone1" })).text).toContain("Bluetooth");
}

describe("a daemon that is killed with -9 while it has two phones leaves nothing, and the next one goes on", () => {
  test("in the middle of a dump", async () => {
    await start("dump");
    for (const { device } of lab.devices) device.faults.extraDelayMs.uiautomator = 5_000;
    const cut = host.call("dump_ui_elements", { device_id: "phone1" }).catch(() => undefined);
    await expect
      .poll(() => lab.devices[0]?.device.traffic.services.at(-1), within)
      .toContain("uiautomator dump");
    await killDaemon();
    for (const { device } of lab.devices) device.faults.extraDelayMs = {};
    await cut;
    await goesOn();
  });

  test("with a session of the driver on each, and chromedriver on one: no program, forwarded port or instrumentation", async () => {
    await start("uiautomator2", { chromedriver: "chromedriver" });
    for (const device_id of ["phone1", "phone2"])
      expect((await host.call("dump_ui_elements", { device_id })).text).toContain("Bluetooth");
    expect(sessions()).toBe(2);
    lab.devices[0]?.device.ui.open("labsamples://web");
    await lab.devices[0]?.device.ui.settle();
    expect((await host.call("dump_ui_elements", { device_id: "phone1" })).text).toContain(
      'textbox "Your name"',
    );
    expect(driverPrograms()).toContainEqual(expect.stringContaining("chromedriver"));
    expect(driverPrograms()).toContainEqual(expect.stringContaining("driverProgram.js"));
    expect(await lab.ask("host:list-forward")).not.toBe("");
    await killDaemon();
    await expect.poll(driverPrograms, within).toEqual([]);
    await expect.poll(() => lab.ask("host:list-forward"), within).toBe("");
    await expect.poll(sessions, within).toBe(0);
    await goesOn();
  });
});

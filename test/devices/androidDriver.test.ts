import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { driverProgram, nothingLeft } from "../controllers/android/driverTraces.ts";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";

let lab: AndroidLab;
let dataDir: string;
let daemon: DaemonProcess;

beforeEach(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  dataDir = mkdtempSync(join(tmpdir(), "labwright-driver-"));
  symlinkSync(resolve(".setup/addons"), join(dataDir, "addons"));
  const settings = `{ serial: "${lab.devices[0]?.serial}", adb_port: ${lab.adbPort} }`;
  const device = `{ name: phone, model: android_mobile, controllers: { android: ${settings} } }`;
  daemon = await startDaemonProcess({ dataDir, config: `devices: [${device}]\n` });
});
afterEach(async () => {
  if (daemon.isAlive()) daemon.signal("SIGKILL");
  await daemon.ended;
  await lab.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function look(): Promise<void> {
  expect(await daemon.call("take_control")).toMatchObject({ success: true });
  expect(await daemon.call("dump_ui_elements")).toMatchObject({ success: true });
  expect(await driverProgram(lab)).toBeGreaterThan(0);
}

it.each([
  "SIGKILL",
  "SIGTERM",
] as const)("a daemon that is ended by %s leaves no process, forward or instrumentation of the driver", async (signal) => {
  await look();
  daemon.signal(signal);
  await daemon.ended;
  await nothingLeft(lab);
});

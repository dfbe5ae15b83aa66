import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startAndroidLab } from "../fixtures/androidLab.ts";
import { kill, productBench, within } from "../fixtures/daemon.ts";

vi.setConfig({ testTimeout: 180_000 });

test("a daemon that is killed with -9 while it has two phones leaves nothing; the user's adb server lives on, and the next daemon uses it", async () => {
  const lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "phone2" }] });
  onTestFinished(() => lab.close());
  const bench = productBench();
  onTestFinished(() => bench.end());
  const lines = lab.devices.map(
    ({ serial }, at) =>
      `  - { name: phone${at + 1}, model: android_mobile, watch: true, controllers: { android: { serial: "${serial}", adb_port: ${lab.adbPort} } } }`,
  );
  const config = join(bench.dataDir, "labwright.yaml");
  writeFileSync(config, ["server: { name: lab }", "devices:", ...lines, ""].join("\n"));
  const first = await bench.startDaemon(["--config", config, "--log-level", "error"]);
  const host = await bench.host("anna", { args: ["--config", config] });
  const open = (device_id: string) =>
    host.call("execute_device_action", {
      device_id,
      actions: [{ command: "open_app", params: { app: { package: "com.android.settings" } } }],
    });
  for (const device_id of ["phone1", "phone2"]) expect((await open(device_id)).error).toBeUndefined();
  const followed = () =>
    lab.devices.map(({ device }) => device.traffic.current.some(({ service }) => service.includes("logcat")));
  await expect.poll(followed, within).toEqual([true, true]);

  // In the middle of a call, with the phones watched.
  for (const { device } of lab.devices) device.faults.extraDelayMs.uiautomator = 5_000;
  const cut = host.call("dump_ui_elements", { device_id: "phone1" }).catch(() => undefined);
  await expect
    .poll(() => lab.devices[0]?.device.traffic.services.at(-1), within)
    .toContain("uiautomator dump");
  const current = () => lab.devices.flatMap(({ device }) => device.traffic.current);
  const before = current();
  kill(first, "SIGKILL");
  for (const { device } of lab.devices) device.faults.extraDelayMs = {};
  await cut;

  // The bridge starts the next daemon by itself, which opens streams of its own.
  await expect.poll(() => current().filter((stream) => before.includes(stream)), within).toEqual([]);
  expect(bench.processes()).not.toContain(first);
  expect(await lab.ask("host:list-forward")).toBe("");
  for (const { device } of lab.devices) expect(device.system.automation.size).toBe(0);
  expect(await lab.ask("host:version")).toMatch(/^[0-9a-f]{4}$/);

  await expect.poll(async () => (await open("phone1")).error, within).toBeUndefined();
  expect(bench.daemon()?.pid).not.toBe(first);
  expect((await host.call("dump_ui_elements", { device_id: "phone1" })).text).toContain("Bluetooth");
});

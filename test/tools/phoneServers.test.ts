import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AdbRelay, startAdbRelay } from "../fixtures/adbRelay.ts";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const settings = "com.android.settings";

let lab: AndroidLab;
let newer: AdbRelay;
let older: AdbRelay;
let product: Product;
let client: TestClient;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "phone2" }] });
  [newer, older] = await Promise.all([startAdbRelay(lab.adbPort, 42), startAdbRelay(lab.adbPort, 40)]);
  const line = (name: string, serial = "", adb_port = 0) =>
    `  - { name: ${name}, model: android_mobile, controllers: { android: { serial: "${serial}", adb_port: ${adb_port} } } }`;
  const lines = [
    line("newer", lab.devices[0]?.serial, newer.port),
    line("older", lab.devices[1]?.serial, older.port),
  ];
  product = await openProduct(["devices:", ...lines, "unsafe: { device_shell: true }"].join("\n"));
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await newer.close();
  await older.close();
  await lab.close();
});

test("an adb server newer than the program adb serves all that needs no program, and is never ended", async () => {
  const device_id = "newer";
  const acted = await client.call("execute_device_action", {
    device_id,
    actions: [
      { command: "open_app", params: { app: { package: settings } } },
      { command: "device_shell", params: { command: "getprop ro.serialno" } },
      { command: "press_key", params: { key: "DOWN" } },
    ],
  });
  expect(acted.error).toBeUndefined();
  expect(acted.text).toContain(lab.devices[0]?.device.persona.properties["ro.serialno"]);
  expect((await client.call("dump_ui_elements", { device_id })).text).toContain("Battery");
  expect((await client.call("capture_screenshot", { device_id })).error).toBeUndefined();
  await mkdir(product.config.folders.uploads, { recursive: true });
  await writeFile(join(product.config.folders.uploads, "notes.txt"), "by the socket");
  const push = { command: "push_file", params: { file: "notes.txt" } };
  expect((await client.call("execute_device_action", { device_id, actions: [push] })).error).toBeUndefined();
  expect(lab.devices[0]?.device.system.files.read("/sdcard/Download/notes.txt")).toBeDefined();
  // The driver starts the program adb, which would end this server.
  const { text } = await client.call("get_device_info", { device_id });
  expect(text).toMatch(
    /read by uiautomator dump: .* version 1\.0\.42 and .*\/adb of 1\.0\.\d+, which would end it/,
  );
  expect(text).toMatch(/Put the adb that started the server first on the PATH/);
  expect(newer.asked).not.toContain("host:kill");
});

test("an adb server older than connections can be named by is ADB_TOO_OLD, and is never ended", async () => {
  const { error } = await client.call("dump_ui_elements", { device_id: "older" });
  expect(error).toMatchObject({ code: "ADB_TOO_OLD", message: expect.stringMatching(/1\.0\.40.*Install/) });
  expect(new Set(older.asked)).toEqual(new Set(["host:version", "host:track-devices-l"]));
});

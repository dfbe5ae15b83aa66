import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { appiumFactory, type DeviceFinding, sensorNames } from "@labwright/controllers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { type AppiumServer, startAppiumServer } from "../../fixtures/appiumServer.ts";
import { never, openAndroid, portOf } from "../android/openAndroid.ts";
import { controllerContract } from "../contract.ts";
import { findingSourceContract, logSourceContract } from "../ports.ts";
import { recordingShows } from "../recordings.ts";
import { expectFling, expectGestures } from "./gestures.ts";
import { makeAppium, openAppium } from "./openAppium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

const shop = { package: "dev.labwright.shop" };

let lab: AndroidLab;
let server: AppiumServer;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  server = await startAppiumServer(lab);
  // The first session of a phone installs what the others find.
  await (await openAppium(settingsOf({}))).close();
});
afterAll(async () => {
  await server?.close();
  await lab?.close();
});

const phone = () => {
  const [found] = lab.devices;
  if (!found) throw new Error("The laboratory has no phone.");
  return found;
};
/** What a real phone needs only once is left out; a test of its own does it all. */
const quick = {
  "appium:skipServerInstallation": true,
  "appium:skipDeviceInitialization": true,
  "appium:skipUnlock": true,
  "appium:skipLogcatCapture": true,
};
const settingsOf = (more: object = quick) => ({
  url: server.url,
  capabilities: {
    platformName: "Android",
    "appium:udid": phone().serial,
    "appium:adbPort": lab.adbPort,
    ...more,
  },
});

const endless = { command: "wait_for", params: { text: "No such text", timeout_ms: 60_000 } };
controllerContract("appium remote of Android behind a real Appium server", async () => {
  const { remote, close } = makeAppium(settingsOf());
  return { controller: remote, factory: appiumFactory, endless, dispose: close };
});

it("a session that began while the screen was turned has elements and pictures in one plane", async () => {
  phone().device.ui.rotate(90);
  const { run, remote, close } = await openAppium(settingsOf());
  await run("open_app", { app: shop });
  const dump = await portOf(remote.elements).dump({ interactiveOnly: false }, never);
  expect(dump.space).toMatchObject({ width: 2400, height: 1080 });
  const far = dump.elements.find(({ rect }) => rect !== undefined && rect.x + rect.width > 1_080);
  expect(await portOf(remote.screen).capture({}, never)).toMatchObject(dump.space);
  expect(await portOf(remote.screen).capture({ ref: far?.ref ?? "" }, never)).toMatchObject({
    width: far?.rect?.width,
  });
  await close();
  phone().device.ui.rotate(0);
});

/** As the server runs for a user: it reads the phone's log. */
const openWithLog = () => openAppium(settingsOf({ ...quick, "appium:skipLogcatCapture": false }));

logSourceContract("Android behind a real Appium server", async () => {
  const { remote, run, close } = await openWithLog();
  const cause = async () => {
    await run("close_app", { app: shop });
    await run("open_app", { app: shop });
  };
  return { port: portOf(remote.logs), cause, dispose: close };
});

/** Lines of the second in which listening began count as new. */
const listens = () => new Promise((resolve) => setTimeout(resolve, 300));

findingSourceContract("Android behind a real Appium server", async () => {
  const { remote, run, close } = await openWithLog();
  await run("open_app", { app: shop });
  const cause = async () => {
    await listens();
    phone().device.ui.crash(shop.package, "for the test");
  };
  const dispose = async () => {
    if (phone().device.ui.active().kind === "dialog") await run("handle_dialog", { accept: false });
    await close();
  };
  return { port: portOf(remote.findings), cause, dispose };
});

it("reports a crash and an app that does not respond, once each, and nothing from before", async () => {
  const app = { package: "dev.labwright.samples" };
  phone().device.ui.start({ packageName: app.package });
  phone().device.ui.crash(app.package, "long ago");
  // The times of logs have whole seconds.
  const second = Math.floor(Date.now() / 1_000);
  await vi.waitFor(() => expect(Math.floor(Date.now() / 1_000)).toBeGreaterThan(second), 2_000);
  const { remote, run, close } = await openWithLog();
  await run("handle_dialog", { accept: false });
  await run("open_app", { app });
  const reported: DeviceFinding[] = [];
  portOf(remote.findings).onFinding((finding) => reported.push(finding));
  await listens();
  phone().device.ui.crash(app.package, "the button was pressed");
  await vi.waitFor(() => expect(reported).toHaveLength(1), { timeout: 10_000 });
  await run("handle_dialog", { accept: false });
  await run("open_app", { app });
  await vi.waitFor(() => expect(reported).toHaveLength(2), { timeout: 10_000 });
  phone().device.ui.notResponding(app.package, "Input dispatching timed out");
  await vi.waitFor(() => expect(reported).toHaveLength(3), { timeout: 10_000 });
  expect(reported).toMatchObject([
    { kind: "app_crash", state: "began", facts: { package: app.package }, frame: { mimeType: "image/jpeg" } },
    { kind: "app_crash", state: "ended" },
    { kind: "anr", state: "began", facts: { excerpt: expect.stringContaining("Input dispatching") } },
  ]);
  expect(reported[0]?.facts?.excerpt).toContain("the button was pressed");
  await run("handle_dialog", { accept: false });
  await close();
});

it("gives its log in the phone's own time, each line once in all sessions, or says that it is not captured", async () => {
  const { remote, run, close } = await openWithLog();
  await run("open_app", { app: shop });
  const logs = portOf(remote.logs);
  const before = await logs.lines({ limit: 5_000 }, never);
  const boot = before.find(({ text }) => text.startsWith("Entered the Android system server"));
  expect(boot).toMatchObject({ level: "info", source: "SystemServer" });
  expect(Date.now() - Date.parse(boot?.at ?? "")).toBeGreaterThan(1_000);
  phone().device.crashInstrumentation();
  await expect(run("go_home")).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
  await remote.open(never);
  const after = await logs.lines({ after: before.at(-1)?.seq ?? 0, limit: 5_000 }, never);
  expect(after.filter(({ text }) => text.startsWith("Entered the Android system server"))).toEqual([]);
  await close();
  const silent = await openAppium(settingsOf());
  await expect(portOf(silent.remote.logs).lines({ limit: 1 }, never)).rejects.toMatchObject({
    message: expect.stringContaining("getLogs"),
  });
  await silent.close();
});

it("lists apps, reads sensors, and records", async () => {
  const { remote, close } = await openAppium(settingsOf());
  const { apps } = await portOf(remote.apps).installedApps(never);
  expect(new Set(apps.map(({ id }) => id)).size).toBe(apps.length);
  expect(apps.find(({ id }) => id === shop.package)).toMatchObject({
    version: expect.stringMatching(/^\d+$/),
  });
  const { readings, absent } = await portOf(remote.sensors).sensors(never);
  expect(readings).toEqual(
    expect.arrayContaining([
      { name: "battery.level", value: 80, unit: "%" },
      { name: "battery.charging", value: false },
      { name: "network.online", value: true },
      { name: "network.type", value: "wifi" },
      { name: "orientation", value: "portrait" },
    ]),
  );
  const named = [...readings, ...absent].map(({ name }) => name.split(".")[0]);
  expect(new Set(named)).toEqual(new Set(sensorNames));
  const folder = await mkdtemp(join(tmpdir(), "labwright-recording-"));
  const recorder = portOf(remote.recorder);
  await recorder.start({ kinds: ["video"], folder, mostBytes: 50_000_000, ended: () => undefined }, never);
  await recordingShows(folder, portOf(remote.screen));
  expect(await recorder.stop(never)).toMatchObject({ lost: [], files: [{ kind: "video" }] });
  await rm(folder, { recursive: true });
  await close();
});

it("a lamp is bought through the real driver, which installs all that it needs before", async () => {
  phone().device.ui.clearData(shop.package);
  const { run, read, lines, remote, close } = await openAppium(settingsOf({}));
  expect(remote.facts?.()).toMatchObject({ version: "Android 14", screen: { width: 1080, height: 2400 } });
  await run("open_app", { app: shop });
  expect(await read("app_shown", { app: shop })).toMatchObject({ holds: true });
  expect(await lines()).toEqual(
    expect.arrayContaining(['button "Cart"', 'textbox "Search" = ', 'listitem "Lamp"']),
  );
  await run("input_text", { selector: "Search", text: "LAMP grüße 👍🏽" });
  expect(await read("element_value", { selector: "Search", value: "LAMP grüße 👍🏽" })).toMatchObject({
    holds: true,
  });
  expect(await read("keyboard_shown")).toMatchObject({ holds: true });
  await run("hide_keyboard");
  await run("input_text", { selector: "Search", text: "lamp" });
  await run("click_element", { selector: "Lamp" });
  await run("click_element", { selector: "Buy" });
  await run("click_element", { selector: "Cart" });
  await run("click_element", { selector: "More Lamp" });
  expect(await read("text_visible", { text: "80 €" })).toMatchObject({ holds: true });
  await close();
});

it("scrolls, holds, turns, presses keys, takes pictures and knows what runs", async () => {
  const app = { package: "com.android.settings" };
  const { run, read, remote, close } = await openAppium(settingsOf());
  await run("open_app", { app });
  await run("scroll_to_element", { selector: "About phone" });
  expect(await read("element_visible", { selector: "About phone" })).toMatchObject({ holds: true });
  await run("scroll", { direction: "top" });
  await run("click_element", { selector: "Network and internet" });
  await run("go_back");
  expect(await read("element_visible", { selector: "Wi-Fi" })).toMatchObject({ holds: true });
  await run("rotate", { to: "landscape" });
  expect(await read("orientation_is", { orientation: "landscape" })).toMatchObject({ holds: true });
  expect(await portOf(remote.screen).capture({}, never)).toMatchObject({
    width: 2400,
    height: 1080,
    rotation: 90,
  });
  await run("write_clipboard", { text: "grüße" });
  expect(await run("read_clipboard")).toMatchObject({ data: { value: "grüße" } });
  expect(await read("app_running", app)).toMatchObject({ holds: true });
  await run("close_app", { app });
  expect(await read("app_running", app)).toMatchObject({ holds: false });
  await expect(run("open_app", { app: { package: "com.nope" } })).rejects.toMatchObject({
    code: "APP_NOT_INSTALLED",
  });
  await close();
  expect(phone().device.ui.space()).toMatchObject({ width: 1080, height: 2400 });
});

it("drags, pinches, holds, taps twice and flings", async () => {
  const opened = await openAppium(settingsOf());
  await expectGestures(opened, "dev.labwright.samples:id/");
  await expectFling(opened, { package: "com.android.settings" });
  await opened.close();
});

it("clears an app, gives it permissions and files, and judges the log behind a mark", async () => {
  const folder = await mkdtemp(join(tmpdir(), "labwright-files-"));
  const { run, read, close } = await openAppium(settingsOf({ ...quick, "appium:skipLogcatCapture": false }), {
    uploadPath: (name) => join(folder, name),
    temporaryFolder: async () => folder,
  });
  const { ui } = phone().device;
  await run("open_app", { app: shop });
  await run("mark_logs");
  expect(await read("no_crash_since", {})).toMatchObject({ holds: true });
  ui.crash(shop.package, "for the test");
  await vi.waitFor(async () => expect(await read("no_crash_since", shop)).toMatchObject({ holds: false }), {
    timeout: 10_000,
  });
  expect(await read("log_contains", { text: "for the test" })).toMatchObject({ holds: true });
  expect(await read("log_contains", { text: "not in the log" })).toMatchObject({ holds: false });
  await run("handle_dialog", { accept: false });
  await run("clear_app", shop);
  expect(await read("app_installed", shop)).toMatchObject({ holds: true });
  expect(await read("app_installed", { package: "com.nope" })).toMatchObject({ holds: false });
  const samples = { package: "dev.labwright.samples" };
  await run("grant_permission", { permission: "CAMERA", ...samples });
  await expect(run("grant_permission", { permission: "NOT_THERE", ...samples })).rejects.toMatchObject({
    code: "DEVICE_ERROR",
  });
  await writeFile(join(folder, "note.txt"), "grüße");
  await run("push_file", { file: "note.txt" });
  const { file = "" } = await run("pull_file", { path: "/sdcard/Download/note.txt" });
  expect(await readFile(file, "utf8")).toBe("grüße");
  await close();
  await rm(folder, { recursive: true });
});

it("sees a toast", async () => {
  const { run, read, close } = await openAppium(settingsOf());
  await run("open_app", { app: { package: "dev.labwright.samples" } });
  await run("scroll_to_element", { selector: "Show a toast" });
  await run("click_element", { selector: "Show a toast" });
  expect(await read("toast_seen", { text: "Hello from a toast" })).toMatchObject({ holds: true });
  expect(await read("toast_seen", { text: "Another" })).toMatchObject({ holds: false });
  await close();
});

it("a driver that dies on the device ends the session, and the next call opens another", async () => {
  const { run, lines, remote, close } = await openAppium(settingsOf());
  await run("open_app", { app: shop });
  phone().device.crashInstrumentation();
  await expect(lines()).rejects.toMatchObject({ code: "TRANSPORT_LOST" });
  await remote.open(never);
  expect(await lines()).toContain('button "Cart"');
  await close();
});

it.each([
  [{ "appium:udid": "nope" }, "DEVICE_NOT_FOUND"],
  [{ "appium:automationName": "Nope" }, "DEVICE_ERROR"],
  [{ "appium:appPackage": "com.nope", "appium:appActivity": ".Main" }, "APP_NOT_INSTALLED"],
])("capabilities %j end in %s", async (capabilities, code) => {
  await expect(openAppium(settingsOf({ ...quick, ...capabilities }))).rejects.toMatchObject({ code });
});

it("takes the phone from a session of the driver android, which says so and leaves Appium's alone", async () => {
  const { serial } = phone();
  const other = await openAndroid({ serial, adb_port: lab.adbPort, backend: "uiautomator2" });
  const snapshot = () => other.dump();
  expect((await snapshot()).elements).not.toEqual([]);
  const { lines, close } = await openAppium(settingsOf());
  expect(await lines()).not.toEqual([]);
  await expect(snapshot()).rejects.toMatchObject({ code: "UIA_BUSY" });
  expect(await lines()).not.toEqual([]);
  await other.close();
  expect(await lines()).not.toEqual([]);
  await close();
});

import { appiumFactory } from "@labwright/controllers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { type AppiumServer, startAppiumServer } from "../../fixtures/appiumServer.ts";
import { never, portOf } from "../android/openAndroid.ts";
import { controllerContract } from "../contract.ts";
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

const endless = { command: "wait_for", params: { text: "Nobody shows this", timeout_ms: 60_000 } };
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

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../../fixtures/androidLab.ts";
import { type AppiumServer, startAppiumServer } from "../../fixtures/appiumServer.ts";
import { never, portOf } from "../android/openAndroid.ts";
import { openAppium } from "./openAppium.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 90_000 });

const samples = "dev.labwright.samples";
const own = `WEBVIEW_${samples}`;

let lab: AndroidLab;
let server: AppiumServer;
let phone: Awaited<ReturnType<typeof openAppium>>;
beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone", webView: { chromium: "chromium" } }] });
  server = await startAppiumServer(lab);
  const [found] = lab.devices;
  phone = await openAppium({
    url: server.url,
    capabilities: {
      platformName: "Android",
      "appium:udid": found?.serial,
      "appium:adbPort": lab.adbPort,
      "appium:chromedriverExecutable": "/usr/bin/chromedriver",
      "appium:skipDeviceInitialization": true,
      "appium:skipUnlock": true,
      "appium:skipLogcatCapture": true,
    },
  });
});
afterAll(async () => {
  await phone?.close();
  await server?.close();
  await lab?.close();
});

const device = () => lab.at(0).device;
async function showPage(): Promise<void> {
  device().ui.stop(samples);
  device().ui.open("labsamples://web");
  await device().ui.settle();
}
const snapshot = () => phone.dump();

it("the page in a WebView is read through a real Appium server once a context was named, and touches stay native", async () => {
  await showPage();
  expect(await phone.lines()).not.toContain('textbox "Your name" = ');
  expect((await phone.run("switch_context", { context: own })).data).toEqual({
    context: own,
    contexts: ["NATIVE_APP", own],
  });
  expect(await phone.lines()).toContain('textbox "Your name" = ');
  await phone.run("input_text", { selector: "Your name", text: "Zoë 👍🏽" });
  await phone.run("click_element", { selector: "id=order" });
  expect(
    await phone.read("element_text", { selector: "id=said", text: "Ordered for Zoë 👍🏽" }),
  ).toMatchObject({
    holds: true,
  });
  const [texts, lines] = await Promise.all([
    phone.read("text_visible", { text: "Tomato" }),
    phone.lines(),
    portOf(phone.remote.screen).capture({}, never),
  ]);
  expect(texts.holds).toBe(true);
  expect(lines).toContain('button "Rate us"');
  await phone.run("switch_context", { context: "NATIVE_APP" });
  expect(await phone.lines()).not.toContain('textbox "Your name" = Zoë 👍🏽');
});

it("a context that there is not is CONTEXT_NOT_FOUND, and the next client begins with accessibility", async () => {
  await showPage();
  await phone.run("switch_context", { context: "auto" });
  expect(await phone.lines()).toContain('textbox "Your name" = ');
  await expect(phone.run("switch_context", { context: "WEBVIEW_other" })).rejects.toMatchObject({
    code: "CONTEXT_NOT_FOUND",
  });
  phone.remote.handOver?.();
  expect(await phone.lines()).not.toContain('textbox "Your name" = ');
});

it.each([
  ["the app does not allow it", { webViewsNotDebuggable: true }, "WEBVIEW_NOT_DEBUGGABLE"],
  [
    "the server's chromedriver is for another version",
    { webViewVersion: "113.0.5672.136" },
    "CHROMEDRIVER_MISMATCH",
  ],
])("a page cannot be read where %s", async (_, faults, code) => {
  const before = { ...device().faults };
  Object.assign(device().faults, faults);
  try {
    await showPage();
    await phone.run("switch_context", { context: "auto" });
    const { notices, elements } = await snapshot();
    expect(notices).toEqual([expect.stringContaining(code)]);
    expect(elements.map(({ name }) => name)).toContain("Order now");
  } finally {
    Object.assign(device().faults, before);
    phone.remote.handOver?.();
  }
});

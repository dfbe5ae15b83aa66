import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import type { TestClient } from "../fixtures/client.ts";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type LabIos, startLabIos } from "../lab/ios/index.ts";

vi.setConfig({ testTimeout: 120_000 });

/** One app on three kinds of devices: nodes, edges and the test say nothing of either. */
const shopYaml = (url: string) => `name: shop
models: [web, android_mobile, ios_mobile]
app: { url: "${url}", package: dev.labwright.shop }
nodes:
  Shop: check "Search" is shown
  Cart: check text "Your cart"
  Account: check text "Account"
  Lamp: check "Buy" is shown
edges:
  Shop -> Lamp: { steps: click "Lamp", back: click "Shop" }
  Shop -> Cart: { steps: click "Cart", back: click "Shop" }
  Shop -> Account: { steps: click "Account", back: click "Shop" }
tests:
  - name: a lamp is bought
    steps:
      - go to Shop
      - type "LAMP" into "Search"
      - check "Chair" is not shown
      - go to Lamp
      - check text "40 €"
      - click "Buy"
      - click "Cart"
      - check text "Your cart"
      - click "More Lamp"
      - check text "80 €"
      - click "Remove Lamp"
      - check text "The cart is empty"
  - name: a lamp is left in the cart
    steps: [go to Lamp, click "Buy", go to Cart, check text "40 €"]
  - name: a wrong password is told
    steps:
      - go to Account
      - type "anna" into "User"
      - type "no'; $(reboot)" into "Password"
      - click "Log in"
      - check text "User or password is wrong"
`;

const site = createServer(async (_, response) => {
  response.writeHead(200, { "content-type": "text/html" });
  response.end(await readFile(new URL("../shop/index.html", import.meta.url)));
});
let lab: AndroidLab;
let ios: LabIos;
let product: Product;
let client: TestClient;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "phone2" }] });
  ios = await startLabIos();
  const port = await listenOnLoopback(site);
  const phones = lab.devices.map(
    ({ serial }, at) =>
      `  - { name: phone${at + 1}, model: android_mobile, watch: ${at === 0}, controllers: { android: { serial: "${serial}", adb_port: ${lab.adbPort} } } }`,
  );
  product = await openProduct(
    [
      "limits: { alert_pending_ms: 50, alert_active_ms: 100, alert_settle_ms: 1 }",
      "devices:",
      "  - { name: browser, model: web }",
      ...phones,
      `  - { name: iphone, model: ios_mobile, controllers: { appium: { url: "${ios.url}", capabilities: { platformName: iOS } } } }`,
    ].join("\n"),
  );
  await product.watching.start();
  client = await product.connect();
  const imported = await client.call("import_userinterface", {
    yaml: shopYaml(`http://127.0.0.1:${port}/`),
    file: "shop.yaml",
  });
  expect(imported.error).toBeUndefined();
});
afterAll(async () => {
  await product?.dispose();
  await lab?.close();
  await ios?.close();
  await closeServer(site);
});
beforeEach(() => {
  for (const ui of [...lab.devices.map(({ device }) => device.ui), ios.ui]) {
    ui.clearData("dev.labwright.shop");
    ui.home();
  }
});

const phone = (at: 0 | 1) => {
  const found = lab.devices[at];
  if (!found) throw new Error(`The laboratory has no phone ${at + 1}.`);
  return found.device;
};

test.each([
  "browser",
  "phone1",
  "phone2",
  "iphone",
])("every edge of the shop's tree validates on %s", async (device_id) => {
  const { structured, text } = await client.call("validate_navigation", {
    userinterface_name: "shop",
    device_id,
    wait_ms: 90_000,
  });
  expect(structured, text).toMatchObject({ status: "passed", passed: 7, problems: [] });
});

test.each([
  "a lamp is bought",
  "a wrong password is told",
])("%s, unchanged on a browser, on two Android phones and on an iPhone", async (testcase) => {
  for (const device_id of ["browser", "phone1", "phone2", "iphone"]) {
    const { structured, text } = await client.call("execute_testcase", {
      testcase,
      device_id,
      wait_ms: 90_000,
    });
    expect(structured.status, `${device_id}: ${text}`).toBe("passed");
  }
});

test("a test that is wrong fails on a phone, with what the screen shows in place of it", async () => {
  const testcase = {
    name: "a table is bought",
    userinterface_name: "shop",
    steps: ["go to Lamp", 'check text "41 €"'],
  };
  const saved = await client.call("save_testcase", { testcase });
  expect(saved.error).toBeUndefined();
  const { structured, text } = await client.call("execute_testcase", {
    testcase: testcase.name,
    device_id: "phone1",
    wait_ms: 60_000,
  });
  expect(structured.status).toBe("failed");
  expect(text).toContain("40 €");
});

test("an app that is not installed passes no test, whatever another app shows", async () => {
  const yaml = `name: ghost
models: [android_mobile]
app: { package: com.nosuch.app }
nodes:
  Home: check text "Settings"
tests:
  - name: a ghost is seen
    steps:
      - go to Home
      - check text "Settings"
`;
  expect((await client.call("import_userinterface", { yaml, file: "ghost.yaml" })).error).toBeUndefined();
  phone(0).ui.start({ packageName: "com.android.settings" });
  const asked = { testcase: "a ghost is seen", device_id: "phone1", wait_ms: 60_000 };
  const { structured, text } = await client.call("execute_testcase", asked);
  expect(structured, text).toMatchObject({ status: "error", reason: { code: "APP_NOT_INSTALLED" } });
});

test("a test that asks for a fresh start is refused on a phone, which has none, before anything runs", async () => {
  const steps = ["go to Shop", 'check "Search" is shown'];
  const testcase = { name: "a new visitor", userinterface_name: "shop", fresh: true, steps };
  expect((await client.call("save_testcase", { testcase })).error).toBeUndefined();
  const asked = { testcase: testcase.name, wait_ms: 60_000 };
  expect((await client.call("execute_testcase", { ...asked, device_id: "phone1" })).error).toMatchObject({
    code: "CONTROLLER_UNAVAILABLE",
    hint: expect.stringContaining("clear_app"),
  });
  const overridden = await client.call("execute_testcase", { ...asked, device_id: "phone1", fresh: false });
  expect(overridden.structured.status, overridden.text).toBe("passed");
  const browser = await client.call("execute_testcase", { ...asked, device_id: "browser" });
  expect(browser.structured.status, browser.text).toBe("passed");
});

test("a test on a phone begins with what the one before left, and with clear_app afresh", async () => {
  const left = await client.call("execute_testcase", {
    testcase: "a lamp is left in the cart",
    device_id: "phone1",
    wait_ms: 60_000,
  });
  expect(left.structured.status, left.text).toBe("passed");
  const steps = [{ clear_app: {} }, "go to Cart", 'check text "The cart is empty"'];
  const testcase = { name: "the cart of a new visitor", userinterface_name: "shop", steps };
  expect((await client.call("save_testcase", { testcase })).error).toBeUndefined();
  const asked = { testcase: testcase.name, device_id: "phone1", wait_ms: 60_000 };
  const { structured, text } = await client.call("execute_testcase", asked);
  expect(structured.status, text).toBe("passed");
});

test("what is done on one phone reaches no other, and a lease keeps others out", async () => {
  const second = await product.connect({ client: "other" });
  const { structured } = await client.call("take_control", { device_id: "phone1" });
  const open = [{ command: "open_app", params: { app: { package: "dev.labwright.shop" } } }];
  expect(
    (await second.call("execute_device_action", { device_id: "phone1", actions: open })).error,
  ).toMatchObject({
    code: "DEVICE_HELD",
  });
  const before = phone(1).traffic.opens;
  expect(
    (await client.call("execute_device_action", { session_id: structured.session_id, actions: open })).error,
  ).toBeUndefined();
  expect(phone(0).ui.front().packageName).toBe("dev.labwright.shop");
  expect(phone(1).traffic.opens).toBe(before);
  await client.call("release_control", { session_id: structured.session_id });
});

test("a file of a phone becomes an artifact", async () => {
  phone(0).system.files.store("/sdcard/Download/list.txt", Buffer.from("lamp, chair"));
  const actions = [{ command: "pull_file", params: { path: "/sdcard/Download/list.txt" } }];
  const { text } = await client.call("execute_device_action", { device_id: "phone1", actions });
  const uri = /artifact:\/\/[0-9a-f]{64}/.exec(text)?.[0] ?? "";
  const { bytes } = await product.artifacts.get(uri.replace("artifact://", ""));
  expect(Buffer.from(bytes).toString()).toBe("lamp, chair");
});

test.each([
  "phone1",
  "iphone",
])("what is typed into a password field of %s is recorded as a secret", async (device_id) => {
  const act = (...actions: object[]) =>
    client.call("execute_device_action", { device_id, actions, look: false });
  await act(
    { command: "open_app", params: { app: { package: "dev.labwright.shop" } } },
    { command: "click_element", params: { selector: "Account" } },
  );
  const started = await client.call("start_recording", { device_id, kind: "steps" });
  const { recording_id } = started.structured;
  await act({ command: "click_element", params: { selector: "Password" } });
  for (const text of ["hunt", "er2"]) await act({ command: "type_text", params: { text } });
  await act({ command: "click_element", params: { selector: "User" } });
  await act({ command: "input_text", params: { selector: "Password", text: "hunter2" } });
  const { structured } = await client.call("stop_recording", { recording_id });
  expect(JSON.stringify(structured)).not.toMatch(/hunt|er2/);
  expect(structured.steps).toMatchObject([
    { command: "click_element" },
    { command: "type_text", params: { text: "{{secret.PASSWORD}}" } },
    { command: "click_element" },
    { command: "input_text", params: { text: "{{secret.PASSWORD}}" } },
  ]);
  await client.call("release_control", { device_id });
});

test("a phone says that its own traffic passes no rule of ours", async () => {
  const { structured } = await client.call("get_device_info", { device_id: "phone1" });
  expect(structured).toMatchObject({ version: "Android 14", note: expect.stringContaining("url_policy") });
});

test("a crash of an app becomes one alert, with what the log says and a picture", async () => {
  phone(0).ui.start({ packageName: "dev.labwright.shop" });
  phone(0).ui.crash("dev.labwright.shop", "java.lang.IllegalStateException: no lamp");
  const crashes = async () => {
    const { structured } = await client.call("list_alerts", {});
    const alerts = structured.alerts;
    return Array.isArray(alerts) ? alerts.filter(({ kind }) => kind === "app_crash") : [];
  };
  await expect.poll(crashes, { timeout: 20_000 }).toMatchObject([
    {
      device_id: "lab/phone1",
      state: "active",
      message: expect.stringMatching(/^app_crash of dev\.labwright\.shop for \d+ s$/),
      start_frame: expect.stringMatching(/^artifact:/),
    },
  ]);
});

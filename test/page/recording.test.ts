import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { nodesBelow } from "../lab/android/labUi.ts";
import { isShown, newAddress, openPage, startBrowser, views, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-recording-"));
const app = `<!doctype html><title>Notes</title><style>body { margin: 0 } button, input { display: block; width: 640px; height: 200px; margin: 0 }</style>
  <input aria-label="Note"><button onclick="said.textContent = 'Kept: ' + document.querySelector('input').value">Keep</button>
  <h1 id="said">Nothing yet</h1>`;

let site: Awaited<ReturnType<typeof serve>>;
let lab: AndroidLab;
let daemon: DaemonProcess;
let browser: Browser;
beforeAll(async () => {
  site = await serve((_, response) => void response.setHeader("content-type", "text/html").end(app));
  lab = await startAndroidLab({ devices: [{ persona: "phone" }] });
  const android = JSON.stringify(lab.at(0).settings);
  const config = [
    "server: { name: lab }\ndevices:\n  - { name: browser, model: web }",
    `  - { name: phone, model: android_mobile, controllers: { android: ${android} } }\n`,
  ].join("\n");
  const env = { LABWRIGHT_SECRET_PASSWORD: "not that" };
  [browser, daemon] = await Promise.all([
    startBrowser(),
    startDaemonProcess({ dataDir: join(folder, "data"), config, env }),
  ]);
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await lab.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

let tries = 0;

describe.each(views)("at $width px, $colorScheme", (view) => {
  it("records clicks on the picture and typed text as a test that passes, and lists it among the device's events", async () => {
    const test = `keeps a note ${++tries}`;
    await daemon.call("take_control", { device_id: "browser", force: true });
    await daemon.call("release_control", { device_id: "browser" });
    const { page, trouble, close } = await openPage(
      browser,
      await newAddress(daemon, "/devices/lab%2Fbrowser"),
      view,
    );
    await page.getByRole("button", { name: "Take control" }).click();
    const open = page.getByRole("button", { name: "Open it and show its picture" });
    const screen = page.getByRole("application");
    await open.or(screen).waitFor();
    if (await open.isVisible()) await open.press("Enter");
    await page.getByLabel("Address or app to open first").fill(site.url);
    await page.getByRole("button", { name: "Record", exact: true }).press("Enter");
    await isShown(page, "open_app");
    const width = () => screen.locator("img").evaluate((image) => Reflect.get(image, "naturalWidth"));
    await expect.poll(width, within).toBe(1280);
    /** Clicks a place of the device's window. */
    const clickAt = async (x: number, y: number) => {
      const scale = ((await screen.boundingBox())?.width ?? 0) / 1280;
      await screen.click({ position: { x: x * scale, y: y * scale } });
    };
    await clickAt(300, 100);
    await page.keyboard.type("buy milk");
    await isShown(page, /text: buy milk$/m);
    await clickAt(300, 300);
    await isShown(page, /"?Keep/);
    expect(await widthOver(page)).toBe(0);
    await page.getByRole("button", { name: "Stop", exact: true }).press("Enter");
    await page.getByLabel("text visible Kept: buy milk").check();
    await page.getByLabel("Name of the test").fill(test);
    await page.getByRole("button", { name: "Save the test" }).press("Enter");
    await page.getByRole("link", { name: `Saved. Open ${test}` }).waitFor();
    expect(await widthOver(page)).toBe(0);
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByRole("button", { name: "Take control" }).waitFor();

    const run = await daemon.call("execute_testcase", {
      ...{ testcase: test, device_id: "browser", wait_ms: 60_000 },
    });
    expect(run.result).toMatchObject({ status: "passed" });
    const loaded = await daemon.call("load_testcase", { testcase: test });
    expect(loaded.result).toMatchObject({
      testcase: {
        steps: [
          { open_app: { app: site.url } },
          `click 'role=textbox[name="Note"]'`,
          'type "buy milk"',
          `click 'role=button[name="Keep"]'`,
          'check text "Kept: buy milk"',
        ],
      },
    });
    await page.getByRole("region", { name: "Last minutes" }).getByRole("link", { name: test }).waitFor();
    expect(trouble).toEqual([]);
    await close();
  });
});

it("records a phone by its picture: taps by their elements, and a password by the name of a secret", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/devices/lab%2Fphone"));
  await page.getByRole("button", { name: "Take control" }).click();
  const open = page.getByRole("button", { name: "Open it and show its picture" });
  const screen = page.getByRole("application");
  await open.or(screen).waitFor();
  if (await open.isVisible()) await open.click();
  await page.getByLabel("Address or app to open first").fill("dev.labwright.shop");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await isShown(page, "open_app");
  const width = async () =>
    Number(await screen.locator("img").evaluate((image) => Reflect.get(image, "naturalWidth")));
  await expect.poll(width, within).toBeGreaterThan(0);
  /** Taps the middle of a node of the phone, on its picture. */
  const tap = async (text: string) => {
    const nodes = lab
      .at(0)
      .device.ui.windows()
      .flatMap(({ root }) => nodesBelow(root));
    const { bounds } = nodes.find((node) => [node.text, node.hint].includes(text)) ?? {};
    if (!bounds) throw new Error(`The phone does not show ${text}.`);
    const scale = ((await screen.boundingBox())?.width ?? 0) / (await width());
    const position = { x: (bounds.x + bounds.width / 2) * scale, y: (bounds.y + bounds.height / 2) * scale };
    await screen.click({ position });
  };
  await tap("Account");
  await isShown(page, /Account/);
  await expect
    .poll(
      () =>
        tap("User").then(
          () => true,
          () => false,
        ),
      within,
    )
    .toBe(true);
  await page.keyboard.type("anna");
  await isShown(page, /text: anna$/m);
  await tap("Password");
  await page.keyboard.type("hunter2");
  await isShown(page, /secret\.PASSWORD/);
  await tap("Log in");
  await isShown(page, /Log in/);
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByLabel("Name of the test").fill("signs in");
  await page.getByRole("button", { name: "Save the test" }).click();
  await page.getByRole("link", { name: "Saved. Open signs in" }).waitFor();
  await page.getByRole("button", { name: "Release" }).click();
  await page.getByRole("button", { name: "Take control" }).waitFor();
  const run = await daemon.call("execute_testcase", {
    ...{ testcase: "signs in", device_id: "phone", wait_ms: 60_000 },
  });
  expect(run).toMatchObject({ result: { status: "passed" } });
  const loaded = await daemon.call("load_testcase", { testcase: "signs in" });
  expect(loaded.result.testcase).toMatchObject({
    steps: [
      { open_app: { app: "dev.labwright.shop" } },
      `click 'role=button[name="Account"]'`,
      'click "id=dev.labwright.shop:id/user"',
      'type "anna"',
      'click "id=dev.labwright.shop:id/password"',
      'type "{{secret.PASSWORD}}"',
      `click 'role=button[name="Log in"]'`,
      'check text "User or password is wrong"',
    ],
  });
  expect(trouble).toEqual([]);
  await close();
});

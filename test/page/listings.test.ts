import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { isShown, newAddress, openPage, startBrowser, views, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-listings-"));
const markup = '<img src=x onerror="document.body.remove()">';

let daemon: DaemonProcess;
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
async function call(tool: string, args: Record<string, unknown>) {
  const { error, result } = await daemon.call(tool, args);
  expect(error).toBeUndefined();
  return result;
}

const limits = "{ alert_pending_ms: 100, alert_active_ms: 300, alert_settle_ms: 1 }";
const config = `server: { name: lab }
limits: ${limits}
devices:
  - { name: browser, model: web }
  - { name: box, model: simulated, watch: true, controllers: { simulated: { serial: ${folder} } } }
`;
beforeAll(async () => {
  site = await serve(
    (_request, response) => void response.setHeader("content-type", "text/html").end("<p>ready"),
  );
  const start = { dataDir: join(folder, "data"), config, env: { XDG_RUNTIME_DIR: folder } };
  [browser, daemon] = await Promise.all([startBrowser(), startDaemonProcess(start)]);
  const steps = [
    { navigate_to_url: { url: site.url } },
    { text_visible: { text: "ready" } },
    { condition: 'word == "ready"' },
  ];
  const inputs = [{ name: "word", default: "ready" }];
  for (const name of ["greets", markup])
    await call("save_testcase", { testcase: { name, tags: ["smoke"], fresh: false, inputs, steps } });
  for (const word of ["ready", "gone"])
    await call("execute_testcase", {
      testcase: "greets",
      device_id: "browser",
      inputs: { word },
      wait_ms: 60_000,
    });
  const yearly = { testcase: "greets", device_id: "browser", inputs: { word: "ready" }, cron: "30 3 1 1 *" };
  await call("create_deployment", { name: "yearly", ...yearly });
  for (const [code, testcase] of [
    ["REQ-1", "greets"],
    ["REQ-2", undefined],
  ] as const) {
    await call("create_requirement", { code, name: `${code} holds ${markup}` });
    if (testcase) await call("link_testcase_to_requirement", { requirement: code, testcase });
  }
  await fault(true);
}, 60_000);
const fault = (on: boolean) =>
  call("execute_device_action", {
    ...{ device_id: "box", actions: [{ command: "simulate_fault", params: { kind: "blackscreen", on } }] },
  });
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});
/** Ends whoever's lease. */
async function free() {
  await call("take_control", { device_id: "browser", force: true });
  await call("release_control", { device_id: "browser" });
}
const open = async (page: Page, room: string, name: string) => {
  await page.getByRole("link", { name: room, exact: true }).focus();
  await page.keyboard.press("Enter");
  const link = page.getByRole("row").getByRole("link", { name }).first();
  await link.waitFor();
  expect(await widthOver(page)).toBe(0);
  await link.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name }).waitFor();
  expect(await widthOver(page)).toBe(0);
  expect(await page.locator("main img[src=x]").count()).toBe(0);
};

describe.each(views)("at $width px, $colorScheme", (view) => {
  it("lists and shows tests, schedules, alerts and requirements by keyboard, and their texts as text", async () => {
    const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/tests"), view);
    await page.getByLabel("Search").fill("GREET");
    await isShown(page, "1 of 2");
    expect(await page.locator(".strip a").allTextContents()).toEqual(["✓", "✗"]);
    await open(page, "Tests", "greets");
    await isShown(page, '- check text "ready"');
    expect(await page.getByRole("row").filter({ hasText: "lab/browser" }).count()).toBe(2);

    await open(page, "Schedules", "yearly");
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("button", { name: "Pause" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByText("and its history").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    await open(page, "Alerts", "blackscreen");
    const frame = page.getByRole("img", { name: "When it began" });
    await expect
      .poll(() => frame.evaluate((image) => Reflect.get(image, "naturalWidth")), within)
      .toBeGreaterThan(0);

    await open(page, "Requirements", "REQ-1");
    await isShown(page, markup);
    await page.getByRole("link", { name: "greets" }).click();
    await page.getByRole("link", { name: /REQ-1/ }).waitFor();
    expect(trouble).toEqual([]);
    await close();
  });
});

it("runs a test with inputs, and says once for each cause that it failed, that a device is lost, that an alert is new", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/tests/greets"));
  await free();
  await page.clock.install();
  await page.reload();
  /** The page asks again now instead of in some seconds. */
  const soon = () => page.clock.fastForward(5_000);
  const notices = page.getByRole("log", { name: "Notifications" });
  await page.getByLabel("word").fill("gone");
  for (const ended of [1, 2]) {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("link", { name: "Open the run" }).waitFor();
    await expect.poll(() => page.locator(".strip .bad").count(), within).toBe(1 + ended);
  }
  await soon();
  await notices.getByText("greets: failed").waitFor();
  expect(await notices.getByRole("link").count()).toBe(1);
  await notices.getByRole("button", { name: "Dismiss" }).click();
  await notices.getByRole("link").waitFor({ state: "detached" });

  let questions = [{ id: "1", from: "assistant", text: markup }];
  await page.route("**/agent/questions", (route) => route.fulfill({ json: { questions } }));
  await page.route("**/tools/list_hosts", async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace('"status":"online"}', '"status":"unplugged"}');
    await route.fulfill({ response, body });
  });
  await call("publish_event", { alert: { kind: "ci_failure", message: markup } });
  await soon();
  const asked = notices.getByRole("link", { name: `assistant asks: ${markup}` });
  await asked.waitFor();
  await notices.getByRole("link", { name: "unplugged" }).waitFor();
  questions = [];
  await soon();
  await asked.waitFor({ state: "detached" });
  await notices.getByRole("link", { name: markup, exact: true }).click();
  await page.getByRole("button", { name: "Acknowledge" }).click();
  await page.getByText("acknowledged").waitFor();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Resolve" }).click();
  await isShown(page, "resolved");
  expect(trouble).toEqual([]);
  await close();
});

it("runs a schedule now with its inputs, and deletes it after a confirmation", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/schedules"));
  await free();
  await page.getByRole("link", { name: "yearly" }).click();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("link", { name: "Open the run" }).click();
  await page.getByText("passed").first().waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await isShown(page, "No schedules yet");
  expect(trouble).toEqual([]);
  await close();
});

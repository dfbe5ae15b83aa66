import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { within } from "../fixtures/daemon.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { openPrograms } from "../fixtures/program.ts";
import { isShown, newAddress, openPage, startBrowser, views, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-page-"));
const dataDir = join(folder, "data");
/** What a screen says and would do if it were taken for markup. */
const markup = '<img src=x onerror="document.body.remove()">';
const escaped = markup.replaceAll("<", "&lt;");

const app = `<!doctype html><title>${escaped}</title><style>body { margin: 0 } button { width: 640px; height: 360px }</style>
  <button onclick="state.textContent = 'pressed'; field.focus()">${escaped}</button>
  <p id="state">untouched</p><input id="field" oninput="fetch('/typed/' + encodeURIComponent(this.value))">`;
const typed: string[] = [];

let site: Awaited<ReturnType<typeof serve>>;
let daemon: DaemonProcess;
let browser: Browser;
beforeAll(async () => {
  site = await serve((request, response) => {
    const [, text] = /^\/typed\/(.*)$/.exec(request.url ?? "") ?? [];
    if (text !== undefined) typed.push(decodeURIComponent(text));
    const [, ground] = /^\/ground\/(\w+)$/.exec(request.url ?? "") ?? [];
    const page = ground === undefined ? app : `<!doctype html><body style="background: ${ground}">`;
    response.setHeader("content-type", "text/html").end(page);
  });
  const config = `server: { name: lab }\ndevices:\n  - { name: browser, model: web }\n  - { name: box, model: simulated }\n`;
  [browser, daemon] = await Promise.all([startBrowser(), startDaemonProcess({ dataDir, config })]);
  await saveTest();
  for (const testcase of ["shows", "lacks"])
    await daemon.call("execute_testcase", { testcase, device_id: "browser", wait_ms: 60_000 });
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

async function saveTest() {
  const open = { navigate_to_url: { url: site.url } };
  const shows = (text: string) => ({ text_visible: { text } });
  const tests = { shows: [open, shows("untouched")], lacks: [open, shows(`no ${markup}`)] };
  for (const [name, steps] of Object.entries(tests))
    expect(await daemon.call("save_testcase", { testcase: { name, fresh: false, steps } })).toMatchObject({
      success: true,
    });
}

/** In its own pixels. A text is only evaluated, not called. */
const naturalWidth = (image: object): unknown => Reflect.get(image, "naturalWidth");

/** Whether a picture has the colour of a highlight's frame. */
async function hasRed(picture: Buffer): Promise<boolean> {
  const pixels = await sharp(picture).removeAlpha().raw().toBuffer();
  for (let at = 0; at < pixels.length; at += 3) {
    const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
    if (red > 180 && green < 90 && blue < 110) return true;
  }
  return false;
}

describe.each(views)("at $width px, $colorScheme", (view) => {
  it("shows devices, runs and a failed run by keyboard, as text, asking no one else", async () => {
    const { page, trouble, close } = await openPage(browser, await newAddress(daemon), view);
    await isShown(page, "lab/browser");
    expect(page.url()).not.toContain("ticket");
    expect(await page.context().cookies()).toEqual([]);
    expect(await widthOver(page)).toBe(0);
    const ground = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(ground).toBe(view.colorScheme === "dark" ? "rgb(18, 21, 27)" : "rgb(246, 247, 249)");

    await page.getByRole("link", { name: "Runs" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "shows" }).waitFor();
    await page.getByLabel("Status").selectOption("failed");
    await page.getByRole("link", { name: "shows" }).waitFor({ state: "detached" });
    expect(await widthOver(page)).toBe(0);
    await page.getByRole("link", { name: "lacks" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Expected", { exact: true }).waitFor();
    await isShown(page, `no ${markup}`);
    const shot = page.locator(".shot img").first();
    await expect.poll(() => shot.evaluate(naturalWidth), within).toBeGreaterThan(0);
    expect(await widthOver(page)).toBe(0);
    expect(await page.locator("main img[src=x]").count()).toBe(0);

    await page.getByRole("link", { name: "Link to step 2" }).click();
    await page.reload();
    await page.locator("details.step.target").waitFor();
    expect(trouble).toEqual([]);
    await close();
  });
});

it("follows an address that changes while it is first drawn", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon));
  await page.addInitScript(`new MutationObserver((_, observer) => {
    if (!document.querySelector("#page > *")) return;
    observer.disconnect();
    location.hash = "#/runs";
  }).observe(document, { childList: true, subtree: true })`);
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  expect(trouble).toEqual([]);
  await close();
});

it("shows a device live, and passes clicks and keys on while it is held", async () => {
  const act = async (command: string, params: object) => {
    const actions = [{ command, params }];
    await daemon.call("execute_device_action", { device_id: "browser", actions, look: false });
    await daemon.call("release_control", { device_id: "browser" });
  };
  await act("navigate_to_url", { url: site.url });
  const { page, trouble, close } = await openPage(
    browser,
    await newAddress(daemon, "/devices/lab%2Fbrowser"),
  );
  // Playwright takes such pictures for ended with the first one.
  const network = await page.context().newCDPSession(page);
  const aborted: string[] = [];
  network.on("Network.loadingFailed", ({ type, canceled }) => canceled && aborted.push(type));
  await network.send("Network.enable");
  const picture = page.getByRole("img", { name: "What lab/browser shows now" });
  await expect.poll(() => picture.evaluate(naturalWidth), within).toBe(1280);
  await act("element_highlight", { selector: "css=button", seconds: 300 });
  const isFramed = async () => hasRed(await picture.screenshot());
  await expect.poll(isFramed, within).toBe(true);
  await act("navigate_to_url", { url: site.url });
  await expect.poll(isFramed, within).toBe(false);
  await page.getByRole("button", { name: "Take control" }).click();
  const screen = page.getByRole("application");
  await screen.waitFor();
  await expect.poll(() => screen.locator("img").evaluate(naturalWidth), within).toBe(1280);
  const box = await screen.boundingBox();
  await screen.click({ position: { x: (box?.width ?? 0) / 4, y: (box?.height ?? 0) / 4 } });
  await page.keyboard.type("hello <b>");
  await expect.poll(() => typed.at(-1), within).toBe("hello <b>");
  const held = await daemon.call("take_control", { device_id: "browser" }, "other/1");
  expect(held.error?.code).toBe("DEVICE_HELD");

  const other = await openPage(browser, await newAddress(daemon, "/devices/lab%2Fbrowser"));
  await isShown(other.page, /held by page\/[0-9a-f]{12}/);
  expect(await other.page.getByRole("application").count()).toBe(0);
  await other.page.getByRole("button", { name: /^Take it from page/ }).click();
  await other.page.getByRole("dialog").getByText("What it runs there ends").waitFor();
  await other.page.keyboard.press("Escape");
  await other.close();
  await page.getByRole("button", { name: "Release" }).click();
  await page.getByRole("button", { name: "Take control" }).waitFor();
  // Who leaves is sent no more pictures.
  await page.getByRole("link", { name: "All devices" }).click();
  await expect.poll(() => aborted, within).toContainEqual(expect.not.stringMatching("Fetch"));
  expect(trouble).toEqual([]);
  await close();
});

/** Red, green and blue of a picture's middle. */
async function middleOf(picture: Buffer): Promise<number[]> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = 3 * (Math.floor(info.height / 2) * info.width + Math.floor(info.width / 2));
  return [...data.subarray(at, at + 3)].map((value) => 255 * Math.round(value / 255));
}

it("shows what was on the screen at an event, and follows the newest until one is chosen", async () => {
  const [red, lime, blue] = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ];
  const { page, trouble, close } = await openPage(
    browser,
    await newAddress(daemon, "/devices/lab%2Fbrowser"),
    views[0],
  );
  const minutes = page.getByRole("region", { name: "Last minutes" });
  const colour = async () => middleOf(await minutes.getByRole("img").screenshot());
  const show = async (ground: string) => {
    const navigation = {
      command: "navigate_to_url",
      params: { url: `${site.url}/ground/${ground}` },
      wait_ms: 1_100,
    };
    await daemon.call("execute_device_action", { device_id: "browser", actions: [navigation], look: false });
    expect((await daemon.call("capture_screenshot", { device_id: "browser" })).error).toBeUndefined();
    await daemon.call("publish_event", { type: `lab.${ground}`, device_id: "browser" });
  };
  await show("red");
  await expect.poll(colour, within).toEqual(red);
  await show("lime");
  await expect.poll(colour, within).toEqual(lime);
  const event = minutes.getByRole("listitem").filter({ hasText: "lab.red" }).getByRole("button");
  await event.press("Enter");
  await expect.poll(colour, within).toEqual(red);
  expect(await event.getAttribute("aria-pressed")).toBe("true");
  await show("blue");
  await minutes.getByText("lab.blue").waitFor();
  expect(await colour()).toEqual(red);
  expect(await widthOver(page)).toBe(0);

  const slider = minutes.getByRole("slider");
  await slider.press("End");
  await expect.poll(colour, within).toEqual(blue);
  await slider.press("Home");
  await isShown(page, /^Picture 1 of/);
  await slider.press("ArrowRight");
  await isShown(page, /^Picture 2 of/);
  await minutes.getByRole("button", { name: "Newest" }).press("Enter");
  await expect.poll(colour, within).toEqual(blue);
  expect(trouble).toEqual([]);
  await close();
});

it("shows a run while it runs, stops it, and links its report, which a person opens without a token", async () => {
  const actions = Array.from({ length: 9 }, () => ({
    command: "press_key",
    params: { key: "HOME" },
    wait_ms: 8_000,
  }));
  const begun = await daemon.call("execute_device_action", { device_id: "box", actions, wait_ms: 0 });
  const { execution_id } = z.object({ execution_id: z.string() }).parse(begun.result);
  const { page, close } = await openPage(browser, await newAddress(daemon, `/runs/${execution_id}`));
  await page.getByRole("button", { name: "Stop the run" }).click();
  await isShown(page, "cancelled");
  await page.getByRole("button", { name: "Make a report" }).click();
  const link = await page.getByRole("link", { name: "Open the report" }).getAttribute("href");
  const report = await fetch(link ?? "");
  expect(report.status).toBe(200);
  expect(report.headers.get("content-security-policy")).toContain("sandbox");
  expect(await report.text()).toContain("cancelled");
  await close();
});

it("is opened by the command line, once", async () => {
  const programs = openPrograms(dataDir);
  const { code, out, err } = await programs.start("open", ["run", "--print"]).ended;
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("60 s") });
  const { page, close } = await openPage(browser, out.trim());
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await close();
  const again = await openPage(browser, out.trim());
  await isShown(again.page, /used already/);
  await isShown(again.page, "labwright open");
  await again.close();
});

it("says that the server is away, and after its restart how to sign in again", async () => {
  const { page, close } = await openPage(browser, await newAddress(daemon));
  await isShown(page, "lab/browser");
  const { port } = daemon.file();
  daemon.signal("SIGKILL");
  await daemon.ended;
  await isShown(page, /does not answer/);
  // What it knew last stays.
  await isShown(page, "lab/browser");
  daemon = await startDaemonProcess({ dataDir, args: ["--port", String(port)] });
  await isShown(page, /not signed in/);
  await close();
});

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { isShown, newAddress, openPage, startBrowser, views, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-page-runs-"));
/** What the shop says of a payment. */
let answer = { status: 200, text: "Paid" };
const shop = `<!doctype html><title>Shop</title><body style="margin:0;font:40px monospace"><p id="state">...</p><script>
  fetch("/pay", { method: "POST", body: "card=1" }).then(async (reply) => {
    state.textContent = await reply.text();
    if (!reply.ok) console.error("payment refused <b>");
  })</script>`;
/** The time of this machine in 50 ms, as 20 black and white columns, under a text that changes twice. */
const clockPage = `<!doctype html><title>Clock</title><body style="margin:0"><p id="state">wait</p>
  <div id="bits" style="display:flex;height:80vh"></div><script>
  const cells = Array.from({ length: 20 }, () => bits.appendChild(document.createElement("i")));
  for (const cell of cells) cell.style.flex = 1;
  const draw = () => {
    const code = Math.floor(Date.now() / 50) % 2 ** 20;
    cells.forEach((cell, at) => (cell.style.background = (code >> at) & 1 ? "black" : "white"));
    requestAnimationFrame(draw);
  };
  draw();
  setTimeout(() => (state.textContent = "Half"), 1500);
  setTimeout(() => (state.textContent = "Whole"), 3000);
</script>`;

let site: Awaited<ReturnType<typeof serve>>;
let daemon: DaemonProcess;
let browser: Browser;
/** Runs of one test: a good one, and then one that failed. */
let failed: string;
beforeAll(async () => {
  site = await serve((request, response) => {
    if (request.url === "/pay") {
      response.statusCode = answer.status;
      response.setHeader("content-type", "text/plain").end(answer.text);
    } else response.setHeader("content-type", "text/html").end(request.url === "/clock" ? clockPage : shop);
  });
  const config = "server: { name: lab }\ndevices:\n  - { name: browser, model: web }\n";
  [browser, daemon] = await Promise.all([
    startBrowser(),
    startDaemonProcess({ dataDir: join(folder, "data"), config }),
  ]);
  const steps = [{ navigate_to_url: { url: site.url } }, { text_visible: { text: "Paid" } }];
  const inputs = [{ name: "card", default: "visa" }];
  for (const [name, tag] of [
    ["pay", "smoke"],
    ["never runs", "slow"],
  ]) {
    const testcase = { name, tags: [tag], fresh: false, inputs, steps };
    expect(await daemon.call("save_testcase", { testcase })).toMatchObject({ success: true });
  }
  await runPay();
  answer = { status: 502, text: "Declined" };
  failed = await runPay();
  const actions = [{ command: "read_console", params: {} }];
  await daemon.call("execute_device_action", { device_id: "browser", actions, look: false });
  // A run leaves its device with its client for a while.
  await daemon.call("release_control", { device_id: "browser" });
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

async function runPay(): Promise<string> {
  const place = { testcase: "pay", device_id: "browser", wait_ms: 60_000 };
  const { result } = await daemon.call("execute_testcase", { ...place, inputs: { card: "amex" } });
  return z.object({ execution_id: z.string() }).parse(result).execution_id;
}

describe.each(views)("at $width px, $colorScheme", (view) => {
  it("shows why a run failed: beside the last good one, its requests, and step by step with the arrow keys", async () => {
    const { page, trouble, close } = await openPage(
      browser,
      await newAddress(daemon, `/runs/${failed}`),
      view,
    );
    const first = page.locator(".note.bad", { hasText: "The first difference" });
    // The page's request failed in the step before the one that failed.
    await first.getByText(/HTTP_ERROR: POST .* answered 502/).waitFor();
    await page.getByText("was passed, now failed").waitFor();
    expect(await page.getByText("The first difference").count()).toBe(1);
    await first.getByText(/changed, in the dashed frames/).waitFor();
    expect(await first.locator("rect.changed").count()).toBeGreaterThan(0);
    await isShown(page, /payment refused <b>/);
    await isShown(page, /502 POST .*\/pay/);
    await page.locator(".log").getByText("Answer").first().click();
    await isShown(page, "Declined");
    expect(await widthOver(page)).toBe(0);

    await page.getByRole("link", { name: /^See what did not pass/ }).focus();
    await page.keyboard.press("Enter");
    const player = page.getByRole("region", { name: "Step by step" });
    await player.getByText(/^Step 2 of 2/).waitFor();
    await player.getByText("Expected", { exact: true }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await player.getByText(/^Step 1 of 2/).waitFor();
    await player.getByRole("slider").focus();
    await page.keyboard.press("ArrowRight");
    await player.getByText(/^Step 2 of 2/).waitFor();
    expect(await widthOver(page)).toBe(0);
    expect(trouble).toEqual([]);
    await close();
  });
});

it("shows what was recorded of a run, from where it begins, and at the step that is shown", async () => {
  const device_id = "browser";
  const steps = [
    { navigate_to_url: { url: `${site.url}/clock` } },
    'check text "Half"',
    'check text "Whole"',
  ];
  const testcase = { name: "clock", fresh: false, steps };
  expect(await daemon.call("save_testcase", { testcase, replace: true })).toMatchObject({ success: true });
  const recording = await daemon.call("start_recording", { device_id });
  const { recording_id } = z.object({ recording_id: z.string() }).parse(recording.result);
  const actions = [{ command: "navigate_to_url", params: { url: site.url } }];
  expect(await daemon.call("execute_device_action", { device_id, actions })).toMatchObject({ success: true });
  const ran = await daemon.call("execute_testcase", { testcase: "clock", device_id, wait_ms: 60_000 });
  expect(await daemon.call("stop_recording", { recording_id })).toMatchObject({ success: true });
  const { execution_id, status } = z
    .object({ execution_id: z.string(), status: z.string() })
    .parse(ran.result);
  expect(status).toBe("passed");
  await daemon.call("release_control", { device_id });

  const url = daemonUrl(daemon.file(), `/api/v1/executions/${execution_id}`);
  const reply = await (await fetch(url, { headers: daemonHeaders(daemon.file(), "test") })).json();
  const run = runSchema.parse(reply);
  const { page, trouble, close } = await openPage(
    browser,
    await newAddress(daemon, `/runs/${execution_id}`),
    views[0],
  );
  const part = page.getByRole("region", { name: "Recorded" });
  const shown = async () => shownSchema.parse(await page.evaluate(timeShown));
  const placeShown = async () => (await shown())?.currentTime;
  const [{ from_s } = { from_s: Number.NaN }] = run.recordings;
  await expect.poll(placeShown, patience).toBeGreaterThan(from_s - 0.01);
  for (const [index, { started_at }] of [...run.steps.entries()].slice(1)) {
    await page.evaluate(`location.hash = "#/runs/${execution_id}/${index + 1}"`);
    const place = from_s + (Date.parse(started_at) - Date.parse(run.started_at)) / 1_000;
    await expect.poll(placeShown, patience).toBeCloseTo(place, 2);
    // A picture is taken every 100 ms, and takes some to be drawn.
    const late = (Date.parse(started_at) % clockMs) - ((await shown())?.ms ?? 0);
    expect(late, `ms behind step ${index + 1}`).toBeGreaterThan(-100);
    expect(late, `ms behind step ${index + 1}`).toBeLessThan(2_000);
  }
  await part.getByText("labwright trace trace.zip").waitFor();
  expect(await widthOver(page)).toBe(0);
  expect(trouble).toEqual([]);
  await close();
});

it("runs a failed run again with its inputs, and the failed ones of a list", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, `/runs/${failed}`));
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => !url.hash.includes(failed));
  await isShown(page, /^failed$/);
  await isShown(page, "amex");
  const history = page.getByRole("list", { name: /^History/ });
  await expect.poll(() => history.getByRole("link").count()).toBe(await countOfRuns());
  await history.locator("[aria-current][aria-label^=failed]").waitFor();

  answer = { status: 200, text: "Paid" };
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("button", { name: "Run the failed ones again (1)" }).click();
  await isShown(page, "Started 1.");
  // The newest run of the test has passed by then.
  await page.getByRole("button", { name: /^Run the failed ones/ }).waitFor({ state: "detached" });
  const typed = page.getByLabel("Whole name");
  await typed.pressSequentially("no such run");
  await isShown(page, "No run matches");
  expect(await typed.inputValue()).toBe("no such run");
  await typed.fill("pay");
  await page.getByRole("list", { name: /^History/ }).waitFor();
  const tag = page.getByLabel("Tag");
  expect(await tag.locator("option").allTextContents()).toEqual(["any", "slow", "smoke"]);
  await tag.selectOption("slow");
  await isShown(page, "No run matches");
  await tag.selectOption("smoke");
  await page.getByRole("row").getByRole("link", { name: "pay" }).first().waitFor();
  await tag.selectOption("");
  await typed.fill("");
  const single = page.getByRole("link", { name: "read_console" });
  await page.getByRole("row").getByRole("link", { name: "pay" }).first().waitFor();
  expect(await single.count()).toBe(0);
  await page.getByLabel("Kind").selectOption("actions");
  await single.first().waitFor();
  answer = { status: 502, text: "Declined" };
  expect(trouble).toEqual([]);
  await close();
});

const patience = { timeout: 20_000 };
const clockMs = 50 * 2 ** 20;
const runSchema = z.object({
  started_at: z.string(),
  recordings: z.array(z.object({ from_s: z.number() })),
  steps: z.array(z.object({ started_at: z.string() })),
});
const shownSchema = z.object({ currentTime: z.number(), duration: z.number(), ms: z.number() }).optional();
/** What the video shows of {@link clockPage}; undefined until it shows something. */
const timeShown = `(() => {
  const video = document.querySelector("video");
  if (!video || video.readyState < 2 || video.seeking) return undefined;
  const { currentTime, duration, videoWidth: width, videoHeight: height } = video;
  const canvas = new OffscreenCanvas(20, 1).getContext("2d");
  for (let at = 0; at < 20; at++)
    canvas.drawImage(video, ((at + 0.5) * width) / 20, height / 2, 1, 1, at, 0, 1, 1);
  const { data } = canvas.getImageData(0, 0, 20, 1);
  let code = 0;
  for (let at = 0; at < 20; at++) if (data[at * 4] < 128) code += 2 ** at;
  return { currentTime, duration, ms: code * 50 };
})()`;

async function countOfRuns(): Promise<number> {
  const { result } = await daemon.call("get_execution_results", { name: "pay" });
  return z.object({ executions: z.array(z.unknown()) }).parse(result).executions.length;
}

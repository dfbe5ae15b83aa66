import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
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
    } else response.setHeader("content-type", "text/html").end(shop);
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
  answer = { status: 502, text: "Declined" };
  expect(trouble).toEqual([]);
  await close();
});

async function countOfRuns(): Promise<number> {
  const { result } = await daemon.call("get_execution_results", { name: "pay" });
  return z.object({ executions: z.array(z.unknown()) }).parse(result).executions.length;
}

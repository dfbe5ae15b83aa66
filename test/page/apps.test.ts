import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { isShown, newAddress, openPage, startBrowser, views, widthOver } from "./pages.ts";

const folder = mkdtempSync(join(tmpdir(), "labwright-apps-"));
const markup = "<b>Cart</b>";
const app = `<!doctype html><title>Shop</title><h1>Shop</h1>
  <button onclick="document.querySelector('h1').textContent = 'Cart'">Open the cart</button>
  <button onclick="document.querySelector('h1').textContent = 'Shop'">Back</button>`;
const yamlOf = (url: string) => `name: shop
app: { url: "${url}" }
nodes:
  Home: check text "Shop"
  "${markup}": check text "Cart"
  Gone: check text "Nowhere" within 300 ms
edges:
  Home -> ${markup}: { steps: click "Open the cart", back: click "Back" }
  Home -> Gone: click "Back"
`;

let site: Awaited<ReturnType<typeof serve>>;
let daemon: DaemonProcess;
let browser: Browser;
beforeAll(async () => {
  site = await serve((_, response) => void response.setHeader("content-type", "text/html").end(app));
  const config = `server: { name: lab }\ndevices:\n  - { name: browser, model: web }\n`;
  [browser, daemon] = await Promise.all([
    startBrowser(),
    startDaemonProcess({ dataDir: join(folder, "data"), config }),
  ]);
  for (const yaml of [yamlOf(site.url), largeApp()])
    expect((await daemon.call("import_userinterface", { yaml })).error).toBeUndefined();
});
afterAll(async () => {
  await browser.close();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** 500 places, six below each. */
function largeApp(): string {
  const places = Array.from({ length: 500 }, (_, at) => `P${at}`);
  const ways = places.slice(1).map((name, at) => `  P${Math.floor(at / 6)} -> ${name}: click "Next"`);
  return `name: large\nmodels: [web]\nnodes: { ${places.map((name) => `${name}: {}`).join(", ")} }\nedges:\n${ways.join("\n")}\n`;
}

describe.each(views)("at $width px, $colorScheme", (view) => {
  it("shows an app as a map or a list, goes to a place, and runs a way, by keyboard", async () => {
    // The other view's page holds the device for a minute after its runs.
    await daemon.call("take_control", { device_id: "browser", force: true });
    await daemon.call("release_control", { device_id: "browser" });
    const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/apps"), view);
    await page.getByRole("link", { name: "shop", exact: true }).press("Enter");
    await page.getByRole("button", { name: view.width < 640 ? "Map" : "List" }).press("Enter");
    await page.getByRole("button", { name: markup, exact: true }).waitFor();
    expect(await widthOver(page)).toBe(0);
    await page.getByRole("button", { name: "Map" }).press("Enter");
    await page.getByRole("button", { name: markup, exact: true }).press("Enter");
    await isShown(page, "text_visible");
    await page.getByRole("button", { name: `Go to ${markup}` }).press("Enter");
    await isShown(page, "passed");
    await page.getByRole("button", { name: `Home → ${markup}, 100%` }).press("Enter");
    await isShown(page, /Worked \d of \d times \(likely/);
    await page.getByRole("button", { name: "Home → Gone" }).press("Enter");
    await page.getByRole("button", { name: "Run it" }).press("Enter");
    await isShown(page, "failed");
    await page.getByRole("link", { name: "Open the run" }).press("Enter");
    await page.getByRole("heading", { name: "Steps" }).waitFor();
    expect(await widthOver(page)).toBe(0);
    expect(trouble).toEqual([]);
    await close();
  });
});

it("shows 500 places folded, unfolds them, and zooms", async () => {
  const { page, trouble, close } = await openPage(browser, await newAddress(daemon, "/apps/large"));
  const places = page.locator(".place");
  await places.first().waitFor();
  expect(await places.count()).toBeLessThanOrEqual(60);
  const fold = page.getByRole("button", { name: /^Unfold what/ }).first();
  const shown = await places.count();
  await fold.press("Enter");
  await expect.poll(() => places.count()).toBe(shown + 6);
  const map = page.locator(".map svg");
  const width = Number(await map.getAttribute("width"));
  await page.getByLabel(/^Map/).press("+");
  await expect.poll(async () => Number(await map.getAttribute("width"))).toBeGreaterThan(width);
  expect(trouble).toEqual([]);
  await close();
});

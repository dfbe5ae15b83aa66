import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { z } from "zod";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { newAddress, openPage, startBrowser } from "./pages.ts";

const target = "docs/pictures";
const largestBytes = 50_000;
const sizes = [
  { name: "narrow", width: 390, height: 844 },
  { name: "wide", width: 1280, height: 800 },
];
const schemes = ["light", "dark"] as const;
const failing = "Two lamps cost 80 €";
const failingTest = `name: ${failing}
app: shop
tags: [smoke]
covers: [SHOP-3]
steps:
  - go to Shop
  - click "Lamp", then click "Buy"
  - go to Cart
  - click "More Lamp"
  - check text "Total 80 €"
`;
const requirements = {
  "SHOP-1": "All products are listed",
  "SHOP-2": "Products can be found",
  "SHOP-3": "The cart adds up",
  "SHOP-5": "An order can be followed",
};

/** A room as it is taken: where it is, and what is waited for or chosen there. */
type Shown = { name: string; to: string; ready(page: Page): Promise<unknown> };

const folder = mkdtempSync(join(tmpdir(), "labwright-pictures-"));
const dataDir = join(folder, "data");
const config = `server: { name: lab }
devices:
  - { name: browser, model: web }
  - { name: box, model: simulated }
`;
const bin = join(process.cwd(), "mcp-server/bin/labwright.js");

/** Serves a shop whose cart adds up wrongly and tests it: what the pictures show has happened. */
export async function main(): Promise<number> {
  const html = readFileSync("test/shop/index.html", "utf8");
  const broken = html.replace("total + price(name) * count", "total + price(name) + count");
  if (broken === html) throw new Error("The shop has changed: the fault of the pictures is not in it.");
  const site = await serve((_, response) => void response.setHeader("content-type", "text/html").end(broken));
  const [browser, daemon] = await Promise.all([startBrowser(), startDaemonProcess({ dataDir, config, bin })]);
  try {
    const shown = await playScene(daemon, site.url);
    mkdirSync(target, { recursive: true });
    for (const size of sizes)
      for (const scheme of schemes) await takeAll(browser, daemon, { shown, size, scheme });
    return 0;
  } finally {
    await browser.close();
    daemon.signal("SIGTERM");
    await daemon.ended;
    await site.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function call(on: DaemonProcess, tool: string, args: Record<string, unknown>) {
  const { result, error } = await on.call(tool, args);
  if (error) throw new Error(`${tool}: ${error.message}`);
  return result;
}

async function playScene(on: DaemonProcess, url: string): Promise<Shown[]> {
  const app = readFileSync("test/shop/shop.yaml", "utf8").replace("http://127.0.0.1/", url);
  for (const [name, text] of Object.entries({ "apps/shop.yaml": app, "tests/lamps.yaml": failingTest })) {
    const file = join(folder, "project", "labwright", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  // Twice: a history.
  for (const _ of [1, 2]) await runTests();
  for (const node of ["Lamp", "Cart", "Account", "Shop"]) {
    const place = { device_id: "browser", userinterface_name: "shop", node };
    await call(on, "navigate_to_node", place);
    await call(on, "save_node_screenshot", place);
  }
  for (const [code, name] of Object.entries(requirements))
    await call(on, "create_requirement", { code, name });
  await call(on, "release_control", { device_id: "browser" });
  const nightly = { name: "nightly", testcase: failing, device_id: "browser", cron: "0 3 * * *" };
  await call(on, "create_deployment", { ...nightly, timezone: "Europe/Paris" });
  const message = "The picture has not changed for 5 minutes.";
  await call(on, "publish_event", { alert: { kind: "freeze", message, device_id: "box" } });
  const { executions } = z
    .object({ executions: z.array(z.object({ execution_id: z.string() })).min(1) })
    .parse(await call(on, "get_execution_results", { status: "failed", kind: "testcase" }));
  const [failed] = executions;
  return [
    {
      name: "device",
      to: "/devices/lab%2Fbrowser",
      async ready(page) {
        // A device closes when it rests.
        const open = page.getByRole("button", { name: /^Open it/ });
        const picture = page.locator(".screen img");
        await picture.or(open).first().waitFor();
        if (await open.isVisible()) await open.click();
        await picture.waitFor();
      },
    },
    {
      name: "app",
      to: "/apps/shop",
      async ready(page) {
        await page.getByRole("button", { name: "Cart", exact: true }).click();
        await page.getByRole("button", { name: "Go to Cart" }).waitFor();
        await page.evaluate("scrollTo(0, 0)");
      },
    },
    {
      name: "run",
      to: `/runs/${failed?.execution_id}`,
      ready: (page) => page.locator(".shot img").first().waitFor(),
    },
    { name: "tests", to: "/tests", ready: (page) => page.getByText(failing).first().waitFor() },
    {
      name: "requirements",
      to: "/requirements",
      ready: (page) => page.getByText("SHOP-3").first().waitFor(),
    },
  ];
}

/** One test fails, so the command ends with 1. */
function runTests(): Promise<void> {
  const args = [bin, "run", "labwright", "--device", "browser", "--tag", "smoke", "--data-dir", dataDir];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: join(folder, "project") }, (error, out, err) =>
      error?.code === 1 ? resolve() : reject(new Error(`The tests did not fail: ${out}${err}`)),
    );
  });
}

type Taken = { shown: readonly Shown[]; size: (typeof sizes)[number]; scheme: (typeof schemes)[number] };

async function takeAll(by: Browser, on: DaemonProcess, { shown, size, scheme }: Taken): Promise<void> {
  const { name: sizeName, ...viewport } = size;
  const { page, close } = await openPage(by, await newAddress(on), { ...viewport, colorScheme: scheme });
  for (const { name, to, ready } of shown) {
    await page.goto(new URL(`/#${to}`, page.url()).href);
    await ready(page);
    await page.locator(".loading").first().waitFor({ state: "detached" });
    const bytes = await sharp(await page.screenshot())
      .png({ palette: true, compressionLevel: 9 })
      .toBuffer();
    const file = join(target, `${name}-${sizeName}-${scheme}.png`);
    if (bytes.length > largestBytes) throw new Error(`${file} has ${bytes.length} bytes.`);
    writeFileSync(file, bytes);
  }
  await close();
}

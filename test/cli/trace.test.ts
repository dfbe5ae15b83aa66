import { writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser } from "../controllers/web/seeingPage.ts";
import { run, temporaryFolder } from "./fixtures.ts";

const folder = temporaryFolder();
let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
  const context = await browser.newContext();
  await context.tracing.start({ screenshots: true, snapshots: true });
  const page = await context.newPage();
  await page.setContent("<h1>Tea shop</h1><button>Pay</button>");
  await page.click("button");
  await context.tracing.stop({ path: join(folder.path, "shop.zip") });
  await context.close();
}, 60_000);
afterAll(async () => {
  await browser.close();
  folder.remove();
});

/** Starts the command; `stop` is Ctrl-C. */
async function shown(file: string) {
  const ctrlC = new AbortController();
  let onLine = (_: string) => {};
  const address = new Promise<string>((resolve) => {
    onLine = resolve;
  });
  const ended = run(["trace", file], {
    cwd: folder.path,
    signal: ctrlC.signal,
    onOut: (text) => onLine(text.trim()),
  });
  return {
    address: await address,
    stop() {
      ctrlC.abort();
      return ended;
    },
  };
}

/** The status of an answer. */
const ask = (url: string, options: { method?: string; headers?: Record<string, string> } = {}) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });

test("a trace is shown in Playwright's viewer, which asks nobody else, until Ctrl-C", async () => {
  const { address, stop } = await shown("shop.zip");
  const page = await browser.newPage();
  const errors: string[] = [];
  const hosts = new Set<string>();
  page.on("pageerror", ({ message }) => errors.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.context().on("request", (one) => hosts.add(new URL(one.url()).host));
  await page.goto(address);
  await page.getByText("Set content").first().waitFor();
  await page.getByText("Click").first().click();
  const snapshot = page.frameLocator("iframe.snapshot-visible, iframe[name=snapshot]").first();
  await snapshot.getByRole("heading", { name: "Tea shop" }).waitFor();
  expect(errors).toEqual([]);
  expect([...hosts].filter((host) => host !== "" && host !== new URL(address).host)).toEqual([]);
  await page.close();
  expect(await stop()).toMatchObject({ code: 130, err: "" });
  await expect(ask(address)).rejects.toMatchObject({ code: "ECONNREFUSED" });
}, 60_000);

test("nothing but the viewer and the one trace is served, at an address that cannot be guessed", async () => {
  await writeFile(join(folder.path, "other.zip"), "PK other");
  const { address, stop } = await shown("shop.zip");
  const at = (path: string) => new URL(path, address).href;
  expect(await ask(at("trace.zip"))).toBe(200);
  for (const path of [
    "/index.html",
    "/trace.zip",
    "other.zip",
    "shop.zip",
    "..%2f..%2fpackage.json",
    "%2e%2e/x",
    ".",
  ])
    expect([path, await ask(at(path))]).toEqual([path, 404]);
  expect(await ask(at("trace.zip"), { headers: { host: "evil.example" } })).toBe(404);
  expect(await ask(at("trace.zip"), { method: "POST" })).toBe(405);
  await stop();
});

test.each([
  ["there is none", "absent.zip", "absent.zip"],
  ["it is a folder", ".", "is a folder"],
  ["it is not a ZIP file", "text.zip", "is not a trace"],
])("a file is refused if %s", async (_, file, why) => {
  await writeFile(join(folder.path, "text.zip"), "text");
  const { code, err } = await run(["trace", file], { cwd: folder.path });
  expect(code).toBe(2);
  expect(err).toContain(why);
});

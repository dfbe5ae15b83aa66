import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findBrowser } from "@labwright/controllers";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import type { TestClient } from "../fixtures/client.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";
import { connectionTo } from "./fixtures.ts";

let site: Site;
let product: Product;
let client: TestClient;
let connection: RunConnection;
const display = process.env.DISPLAY;
const folder = mkdtempSync(join(tmpdir(), "labwright-browsers-"));
beforeAll(async () => {
  delete process.env.DISPLAY;
  site = await startSite();
  product = await openProduct("devices: [{ name: web, model: web }]");
  client = await product.connect();
  connection = connectionTo(product, client);
});
afterAll(async () => {
  if (display !== undefined) process.env.DISPLAY = display;
  await product.dispose();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

async function save(name: string, path: string, text: string, more: object = {}): Promise<void> {
  const url = `${site.url}${path}`;
  const blocks = [
    { id: "start", type: "start" },
    { id: "go", type: "action", command: "navigate_to_url", params: { url } },
    { id: "look", type: "verification", command: "text_visible", params: { text } },
    { id: "done", type: "success" },
  ];
  const edges = blocks.slice(1).map(({ id }, at) => ({ from: blocks[at]?.id, to: id }));
  const { error } = await client.call("save_testcase", {
    testcase: { name, blocks, edges, ...more },
    replace: true,
  });
  expect(error).toBeUndefined();
}

async function run(more: Partial<RunOptions>) {
  let output = "";
  const note = (text: string) => {
    output += text;
  };
  const terminal = { out: note, err: note, cwd: folder, signal: new AbortController().signal };
  const code = await runTestcases({ testcases: [], inputs: [], repeat: 1, ...more }, connection, terminal);
  return { code, output };
}

test("workers are browsers of their own that end with the run, and a set-up test runs once for all", async () => {
  await save("sign in", "/form?setup", "Agree");
  const names = ["one", "two", "three", "four"];
  for (const name of names) await save(name, "/second", "Second", { setup: "sign in" });
  const before = site.requests.length;
  const { code, output } = await run({ testcases: names, workers: 2 });
  expect(output).toContain("2 workers: web, web-2\n");
  expect(code).toBe(0);
  expect(site.requests.slice(before).filter((one) => one === "GET /form?setup")).toHaveLength(1);
  expect(product.services.devices.list().map(({ name }) => name)).toEqual(["web"]);
  expect(product.services.devices.openCount()).toBe(1);
});

test("a browser that cannot show its window says so before the first test", async () => {
  await expect(run({ testcases: ["one"], headed: true })).rejects.toMatchObject({
    code: "BROWSER_UNUSABLE",
    message: expect.stringContaining("there is no display"),
  });
  expect(product.services.devices.list().map(({ name }) => name)).toEqual(["web"]);
  expect(await product.services.devices.leases()).toEqual([]);
});

test("a failed test keeps its video and trace, and terminal and reports say where; a passed one keeps none", async () => {
  await save("traced good", "/second", "Second");
  await save("traced bad", "/second", "Nowhere");
  const testcases = ["traced good", "traced bad"];
  const both = { video: "on-failure", trace: "on-failure" } as const;
  const { code, output } = await run({ testcases, ...both, report: "out" });
  expect(code).toBe(1);
  const [, id = ""] = /failed +traced bad .* (\w+)\n/.exec(output) ?? [];
  const shown = output.split("\n").filter((line) => line.includes("trace "));
  expect(shown[0]?.trim()).toBe(`trace    labwright trace out/traces/${id}.zip`);
  const files = readdirSync(join(folder, "out/traces"));
  expect(files).toHaveLength(shown.length);
  expect(files.every((file) => file.startsWith(id))).toBe(true);
  const trace = readFileSync(join(folder, `out/traces/${id}.zip`)).toString("latin1");
  expect(trace).toMatch(/^PK.*trace\.trace/s);
  const read = (name: string) => readFileSync(join(folder, "out", name), "utf8");
  expect(output).toContain(`video    out/videos/${id}.webm\n`);
  expect(readdirSync(join(folder, "out/videos"))).toEqual([`${id}.webm`]);
  const probe = ["-v", "error", "-show_entries", "format=duration:stream=codec_name", "-of", "json"];
  const probed = execFileSync("ffprobe", [...probe, join(folder, `out/videos/${id}.webm`)], {
    encoding: "utf8",
  });
  expect(JSON.parse(probed).streams).toMatchObject([{ codec_name: "vp8" }]);
  expect(Number(JSON.parse(probed).format.duration)).toBeGreaterThan(0);
  expect(await played(join(folder, "out/report.html"))).toBeGreaterThan(0);
  expect(read("report.html")).toContain(`href="traces/${id}.zip"`);
  expect(read("junit.xml")).toContain(`[[ATTACHMENT|traces/${id}.zip]]`);
  expect(JSON.parse(read("ctrf.json")).results.tests[1].attachments).toContainEqual({
    ...{ name: "trace", contentType: "application/zip", path: `traces/${id}.zip` },
  });
  for (const [name, text] of [
    ["junit.xml", `[[ATTACHMENT|videos/${id}.webm]]`],
    ["ctrf.json", `"contentType": "video/webm"`],
  ] as const)
    expect(read(name)).toContain(text);
  const inFolder = await run({ testcases: ["traced bad"], trace: "on-failure" });
  expect(inFolder.output).toMatch(/labwright trace \.labwright\/traces\/\w+\.zip/);
  expect(existsSync(join(folder, ".labwright/traces"))).toBe(true);
});

/** Seconds of the first video of a report, in a real browser that opened it as a file. */
async function played(report: string): Promise<number> {
  const path = findBrowser({ headless: true })?.path;
  const browser = await chromium.launch({ ...(path && { executablePath: path }), args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(report).href);
    const length = () => page.evaluate('document.querySelector("video").duration');
    await expect.poll(length, { timeout: 20_000 }).toBeGreaterThan(0);
    return z.number().parse(await length());
  } finally {
    await browser.close();
  }
}

test("a failed step says in the terminal which errors the page threw and which dialogs were dismissed", async () => {
  const body = `<button onclick="alert('Saved it'); setTimeout(() => { throw new Error('cart broke') })">Save</button>`;
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end(body));
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
  const steps = [`open ${url}`, { click_element: { selector: "Save" } }, 'check text "Done" within 1 s'];
  const { error } = await client.call("save_testcase", { testcase: { name: "broken cart", steps } });
  expect(error).toBeUndefined();
  const { code, output } = await run({ testcases: ["broken cart"] });
  server.closeAllConnections();
  server.close();
  expect(code).toBe(1);
  expect(output).toMatch(/found .*cart broke/s);
  expect(output).toContain("Saved it");
});

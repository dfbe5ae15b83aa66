import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBrowser, findProgram } from "@labwright/controllers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mergeReports } from "#mcp-server/cli/commands/report.ts";
import { type RunConnection, type RunOptions, runTestcases } from "#mcp-server/cli/run/run.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";
import { connectionTo } from "./fixtures.ts";

const executable_path = fileURLToPath(new URL("../fixtures/firefoxBidi.mjs", import.meta.url));
const hasFirefox = findProgram("firefox-esr") !== undefined || process.env.CI === "true";

let site: Site;
let product: Product;
let connection: RunConnection;
const folder = mkdtempSync(join(tmpdir(), "labwright-matrix-"));
const file = "labwright/tests/form.feature";
beforeAll(async () => {
  site = await startSite();
  const device = (name: string, web: object) => ({ name, model: "web", controllers: { web } });
  const firefox = { browser: "firefox", channel: "moz-firefox", executable_path };
  const devices = [
    ...[{ name: "web", model: "web" }, device("far", { cdp: "http://127.0.0.1:9" })],
    device("debian-firefox", firefox),
  ];
  product = await openProduct(`devices: ${JSON.stringify(devices)}`);
  connection = connectionTo(product, await product.connect());
  write(
    "labwright/apps/form.yaml",
    "name: form",
    `app: { url: "${site.url}/form" }`,
    "nodes:",
    '  Form: check text "Agree"',
  );
  write(
    file,
    ...["Feature: Form", "  Background:", "    Given I am on the Form page"],
    ...["  Scenario: Tick", '    When I tick "Agree"', '    Then the "Agree" checkbox should be checked'],
    ...["  Scenario: Wrong", '    Then I should see "Nowhere at all" within 1 s'],
  );
});
afterAll(async () => {
  await product?.dispose();
  await site?.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, ...lines: string[]): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), `${lines.join("\n")}\n`);
}
const read = (name: string) => readFileSync(join(folder, name), "utf8");

async function run(more: Partial<RunOptions>) {
  let output = "";
  const note = (text: string) => {
    output += text;
  };
  const terminal = { out: note, err: note, cwd: folder, signal: new AbortController().signal };
  const code = await runTestcases(
    { testcases: [file], inputs: [], repeat: 1, ...more },
    connection,
    terminal,
  );
  return { code, output };
}

test("each test runs once on each entry, and an entry that is not there is neither passed nor unsaid", async () => {
  expect(findBrowser({ browser: "webkit" })).toBeUndefined();
  const { code, output } = await run({ matrix: ["chrome", "webkit", "phone"], report: "out" });
  expect(code).toBe(2);
  expect(output).toMatch(
    /^chrome: web-2\n\[1\/2\] passed +Form: Tick .* web-2 [\s\S]*\[2\/2\] failed +Form: Wrong /m,
  );
  expect(output).toMatch(
    /^webkit: cannot be used, so 2 tests did not run on it\. BROWSER_NOT_FOUND: .*npx playwright-core install webkit/m,
  );
  expect(output).toMatch(
    /^phone: cannot be used, so 2 tests did not run on it\. DEVICE_NOT_FOUND: .*android_mobile/m,
  );
  const lines = [
    ...["chrome: 2 runs: 1 passed, 1 failed", "webkit: 2 tests not run: BROWSER_NOT_FOUND"],
    "phone: 2 tests not run: DEVICE_NOT_FOUND",
    "2 runs: 1 passed, 1 failed, 4 not run",
  ];
  expect(output.endsWith(`${lines.join("\n")}\n`)).toBe(true);
  expect(product.services.devices.list().map(({ name }) => name)).toEqual(["web", "far", "debian-firefox"]);
  expectGrouped("out");
  await mergeReports(
    { folders: ["out"], report: "merged" },
    { out: () => undefined, cwd: folder, signal: new AbortController().signal },
  );
  expectGrouped("merged");
});

function expectGrouped(report: string): void {
  const suites = [
    ...read(`${report}/junit.xml`).matchAll(
      /<testsuite name="([^"]*)".* tests="(\d+)" failures="(\d+)" errors="(\d+)"/g,
    ),
  ];
  expect(suites.map(([, ...facts]) => facts.join(" "))).toEqual([
    "chrome 2 1 0",
    "webkit 2 0 2",
    "phone 2 0 2",
  ]);
  const { tests } = JSON.parse(read(`${report}/ctrf.json`)).results;
  const ends = tests.map(
    (one: { suite: string[]; name: string; status: string }) => `${one.suite[0]} ${one.name} ${one.status}`,
  );
  expect(ends).toContain("webkit Form: Tick failed");
  expect(ends.filter((end: string) => end.endsWith(" passed"))).toEqual(["chrome Form: Tick passed"]);
  const page = read(`${report}/report.html`);
  expect(page).toMatch(
    /Test case<\/th><th scope="col">chrome<\/th><th scope="col">webkit<\/th><th scope="col">phone<\/th><\/tr>/,
  );
  expect(page).toMatch(/<h2>chrome: 2 runs: 1 passed, 1 failed<\/h2>/);
  expect(page).toMatch(/webkit: Form: Tick: BROWSER_NOT_FOUND: .*npx playwright-core install webkit/);
}

test("entries that all pass end with success; a failure on one of them does not", async () => {
  const passed = await run({ matrix: ["chromium", "web"], grep: "Tick", workers: 2 });
  expect(passed).toMatchObject({ code: 0, output: expect.stringMatching(/\n2 runs: 2 passed\n$/) });
  const failed = await run({ matrix: ["chromium"], grep: "Wrong" });
  expect(failed).toMatchObject({ code: 1, output: expect.stringMatching(/\n1 run: 0 passed, 1 failed\n$/) });
});

test.skipIf(!hasFirefox)("a Firefox that is installed is an entry like any other", async () => {
  const { code, output } = await run({ matrix: ["debian-firefox"], grep: "Tick", report: "two" });
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining("1 run: 1 passed") });
  const [ran] = JSON.parse(read("two/ctrf.json")).results.tests;
  expect(ran).toMatchObject({
    suite: ["debian-firefox", "form"],
    browser: expect.stringMatching(/^moz-firefox \d/),
  });
});

test("a browser is not made of a device that cannot be one, and a wrong word is refused before anything runs", async () => {
  const elsewhere = await run({ matrix: ["firefox"], device: "far" });
  expect(elsewhere).toMatchObject({ code: 2, output: expect.stringContaining("DEVICE_NOT_COPIED") });
  const before = site.requests.length;
  await expect(run({ matrix: ["chrome", "fierfox"] })).rejects.toMatchObject({
    ...{ code: "INVALID_INPUT", message: expect.stringContaining('"fierfox"') },
    hint: expect.stringContaining("Did you mean firefox?"),
  });
  expect(site.requests.length).toBe(before);
});

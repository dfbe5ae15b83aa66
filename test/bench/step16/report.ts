import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { htmlReport } from "#mcp-server/services/runs/reports/html.ts";
import type { ReportEntry } from "#mcp-server/services/runs/reports/index.ts";
import { openPage, startBrowser } from "../../page/pages.ts";
import { execution, failedEntry, head, historyOf, step } from "../../services/runs/reports/samples.ts";
import { servePages } from "../pages.ts";
import type { Measurement } from "../rows.ts";
import { type Bench, browserArgs, type Sides } from "../sides.ts";
import { median, ratiosOf } from "../statistics.ts";

const run = promisify(execFile);
const tests = 5_000;
const rounds = 5;
const failures = 20;

/** 100 of 5,000 tests failed, each with a picture of its own; 50 were flaky. */
function largeReport(png: Buffer): string {
  const entries = Array.from({ length: tests }, (_, at): ReportEntry => {
    const facts = { id: crypto.randomUUID(), name: `checkout ${at}` };
    const steps = Array.from({ length: 6 }, (_, index) => step(index));
    if (at % 50 === 0) {
      const bytes = Buffer.concat([png, Buffer.from(facts.id)]);
      const uri = `artifact://${facts.id.replaceAll("-", "")}`;
      const { execution: failed, steps: ends } = failedEntry();
      const end = ends.slice(-1).map((last) => ({
        ...last,
        index: 5,
        artifacts: [{ kind: "screenshot_after", uri, mime_type: "image/png" }],
      }));
      const pictures = new Map([[uri, { mimeType: "image/png", bytes, width: 1_280, height: 720 }]]);
      return {
        ...{ execution: { ...failed, ...facts }, steps: [...steps.slice(0, 5), ...end], pictures },
        history: historyOf(15),
      };
    }
    const attempts = [
      { id: "1", status: "failed" as const, duration_ms: 9 },
      { id: "2", status: "passed" as const, duration_ms: 9 },
    ];
    const flaky = at % 100 === 1 && { flaky: true, attempts };
    return {
      ...{ execution: execution({ ...facts, ...flaky }), steps, pictures: new Map() },
      ...(flaky && { history: historyOf(15) }),
    };
  });
  return htmlReport(entries, head);
}

/** From the address until the filter shows the one test whose name was typed. */
async function opens(browser: Browser, file: string, round: number): Promise<number> {
  const startedAt = performance.now();
  const { page, trouble, close } = await openPage(browser, pathToFileURL(file).href);
  await page.getByLabel("Name or reason").fill(`checkout ${4_000 + round}`);
  await page.getByText(`1 of ${tests} shown`).waitFor();
  const ms = performance.now() - startedAt;
  await page.getByRole("heading", { name: `checkout ${4_000 + round}` }).click();
  await page.locator("details.test[open]:visible details.step").nth(5).waitFor();
  if (trouble.length > 0) throw new Error(`The report complained: ${trouble.join("; ")}`);
  await close();
  return ms;
}

async function measureOpening(browser: Browser, { sides, note }: Bench): Promise<Measurement> {
  const { page, close } = await openPage(browser, "data:text/html,<h1>Shop</h1><p>1 item left</p>");
  const html = largeReport(await page.screenshot());
  await close();
  const file = join(sides.scratch, "large.html");
  await writeFile(file, html);
  const times: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const ms = await opens(browser, file, round + 1);
    if (round >= 0) times.push(ms);
  }
  const size = (html.length / 1_000_000).toFixed(1);
  note(
    `report: ${size} MB, open after ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`,
  );
  return { id: "report.opens", ours: median(times), runs: rounds };
}

/** Each test expects another total than its page shows. */
const failing = Array.from({ length: failures }, (_, at) => ({
  name: `total of basket ${at + 10}`,
  path: `/basket/${at + 10}`,
  expected: `Total ${at + 42}.50 EUR`,
  found: `Total ${at + 42}.75 EUR`,
}));
type Failing = (typeof failing)[number];
type Site = Awaited<ReturnType<typeof servePages>>;

/** Runs a command that must end with exit code 1: its tests fail. */
async function runFailing(args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }): Promise<void> {
  const code = await run(process.execPath, args, options).then(
    () => 0,
    (error: { code?: number; stdout?: string; stderr?: string }) =>
      error.code === 1 ? 1 : `${error.code}: ${error.stdout}${error.stderr}`,
  );
  if (code !== 1) throw new Error(`${args.join(" ")} ended with ${code}`);
}

async function ourReport(sides: Sides, site: Site): Promise<string> {
  const dataDir = await sides.newDataDir();
  const config = await sides.newConfig({});
  const server = sides.ours(dataDir, { config });
  const folder = join(sides.scratch, "ours");
  try {
    await server.initialize();
    for (const { name, path, expected } of failing) {
      const blocks = [
        { id: "start", type: "start" },
        { id: "open", type: "action", command: "navigate_to_url", params: { url: site.url(path) } },
        {
          id: "look",
          type: "verification",
          command: "text_visible",
          params: { text: expected },
          timeout_ms: 500,
        },
        { id: "done", type: "success" },
      ];
      const edges = ["open", "look", "done"].map((to, at) => ({ from: blocks[at]?.id, to }));
      await server.call("save_testcase", { testcase: { name, blocks, edges } });
    }
    const labwright = join(sides.root, "mcp-server", "bin", "labwright.js");
    const args = [labwright, "run", "--data-dir", dataDir, "--config", config, "--report", folder];
    await runFailing(args, { cwd: sides.scratch });
  } finally {
    await server.end();
    await sides.stopDaemon(dataDir);
  }
  return join(folder, "report.html");
}

async function theirReport(sides: Sides, site: Site): Promise<string> {
  const folder = join(sides.scratch, "theirs");
  await mkdir(folder);
  const { resolve } = createRequire(join(sides.root, "test", "package.json"));
  const package_ = join(resolve("@playwright/test/package.json"), "..");
  const launchOptions = { executablePath: sides.browser, args: browserArgs };
  const use = { launchOptions, screenshot: "on", viewport: { width: 1_280, height: 720 } };
  await writeFile(
    join(folder, "playwright.config.mjs"),
    `export default ${JSON.stringify({ use, workers: 1 })};`,
  );
  const bodies = failing.map(
    ({ name, path, expected }) => `test(${JSON.stringify(name)}, async ({ page }) => {
  await page.goto(${JSON.stringify(site.url(path))});
  await expect(page.locator("h1")).toHaveText(${JSON.stringify(expected)}, { timeout: 500 });
});`,
  );
  const imports = `import { expect, test } from ${JSON.stringify(join(package_, "index.mjs"))};`;
  await writeFile(join(folder, "basket.spec.mjs"), [imports, ...bodies].join("\n"));
  const env = { ...process.env, PLAYWRIGHT_HTML_OPEN: "never", PLAYWRIGHT_HTML_OUTPUT_DIR: "report" };
  await runFailing([join(package_, "cli.js"), "test", "--reporter=html"], { cwd: folder, env });
  return join(folder, "report", "index.html");
}

/** Whether each text is on the visible part of the page, in the smallest element that has it whole. */
const areSeen = (texts: readonly string[]): string => `${JSON.stringify(texts)}.every((text) =>
  [...document.querySelectorAll("body *")].some((element) => {
    if (!element.textContent.includes(text)) return false;
    if ([...element.children].some((child) => child.textContent.includes(text))) return false;
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && top < innerHeight && bottom > 0 && element.checkVisibility();
  }))`;

/** From opening the report until what a test expected and what it found are on the screen, by the links that lead there. */
async function findCause(browser: Browser, file: string, { name, expected, found }: Failing) {
  const startedAt = performance.now();
  const { page, close } = await openPage(browser, pathToFileURL(file).href);
  const link = page.getByRole("link", { name }).first();
  await link.waitFor();
  const texts = areSeen([expected, found]);
  let clicks = 0;
  if (!(await page.evaluate(texts))) {
    await link.click();
    clicks += 1;
    await waitFor(page, texts, name);
  }
  const ms = performance.now() - startedAt;
  await close();
  return { ms, clicks };
}

async function waitFor(page: Page, condition: string, name: string): Promise<void> {
  await page.waitForFunction(condition, undefined, { timeout: 10_000 }).catch(async () => {
    throw new Error(`${page.url()} does not show why "${name}" failed: ${await page.innerText("body")}`);
  });
}

async function measureCauses(browser: Browser, { sides, note }: Bench): Promise<Measurement[]> {
  const pages = failing.map(({ path, found }) => [path, `<h1>${found}</h1>`]);
  const site = await servePages(Object.fromEntries(pages));
  const files = [await ourReport(sides, site), await theirReport(sides, site)];
  await site.close();
  const [ours, theirs] = files.map(() => ({ ms: [] as number[], clicks: 0 }));
  if (!ours || !theirs) return [];
  for (const [at, test] of failing.entries()) {
    const both = files.map((file, side) => ({ file, sum: side === 0 ? ours : theirs }));
    for (const { file, sum } of at % 2 === 0 ? both : both.toReversed()) {
      const { ms, clicks } = await findCause(browser, file, test);
      sum.ms.push(ms / 1_000);
      sum.clicks += clicks;
    }
  }
  note(`report: clicks to ${failures} causes: ${ours.clicks}, in Playwright's ${theirs.clicks}`);
  const runs = failures;
  return [
    { id: "report.clicks", ours: ours.clicks, theirs: theirs.clicks, runs },
    {
      ...{ id: "report.seconds", ours: median(ours.ms), theirs: median(theirs.ms), runs },
      ratios: ratiosOf(ours.ms, theirs.ms),
    },
  ];
}

/** A report of many tests, and the way from a report to the cause of a failure, next to that of Playwright. */
export async function measureReport(bench: Bench): Promise<Measurement[]> {
  const browser = await startBrowser();
  try {
    return [await measureOpening(browser, bench), ...(await measureCauses(browser, bench))];
  } finally {
    await browser.close();
  }
}

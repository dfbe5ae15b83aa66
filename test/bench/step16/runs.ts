import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { programBundle } from "../../fixtures/bundle.ts";
import { newAddress, openPage, startBrowser } from "../../page/pages.ts";
import type { Measurement } from "../rows.ts";
import type { Bench } from "../sides.ts";
import { median } from "../statistics.ts";
import { startLookedAt } from "./daemon.ts";

const tests = 50;
const runsOfEach = 20;
const rounds = 11;

/** Within the package, where storage finds its migrations. */
const cache = "mcp-server/node_modules/.cache/labwright";

async function storeRuns(root: string, dataDir: string): Promise<void> {
  const outfile = join(root, cache, "seedRuns.mjs");
  await build({ ...programBundle, entryPoints: [join(root, "test/bench/step16/seedRuns.ts")], outfile });
  const child = spawn(process.execPath, [outfile, dataDir, String(tests * runsOfEach)], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`the runs could not be stored: the program ended with ${code}`);
}

/** One person who opens the page and looks for the runs of one test. */
async function findRuns(browser: Browser, address: string, name: string): Promise<number> {
  const startedAt = performance.now();
  const { page, trouble, close } = await openPage(browser, address);
  const filter = page.getByLabel(/name|search/i).first();
  await filter.pressSequentially(name);
  const rows = page.locator("tbody tr");
  await rows.nth(runsOfEach).waitFor({ state: "detached" });
  await rows
    .filter({ hasText: name })
    .nth(runsOfEach - 1)
    .waitFor();
  const ms = performance.now() - startedAt;
  if (trouble.length > 0) throw new Error(`The page complained: ${trouble.join("; ")}`);
  await close();
  return ms;
}

/** The room of runs with 1,000 of them, each time in a browser context that has not seen the page before. */
export async function measureRuns({ sides, note }: Bench): Promise<Measurement[]> {
  const dataDir = await sides.newDataDir();
  await storeRuns(sides.root, dataDir);
  const daemon = await startLookedAt(sides, dataDir);
  const browser = await startBrowser();
  try {
    const times: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const ms = await findRuns(browser, await newAddress(daemon, "/runs"), `checkout ${20 + round}`);
      if (round >= 0) times.push(ms);
    }
    note(`runs: usable after ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`);
    return [{ id: "runs.usable", ours: median(times), runs: times.length }];
  } finally {
    await browser.close();
    await daemon.end();
  }
}

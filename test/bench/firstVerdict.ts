import { execFile } from "node:child_process";
import { lstat, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findBrowser } from "@labwright/controllers";
import { install, npmEnv, packInto, programIn } from "../fixtures/packed.ts";
import { servePages } from "./pages.ts";
import type { Measurement } from "./rows.ts";
import { browserArgs, type Sides } from "./sides.ts";
import { alternate, median, ratiosOf, timed } from "./statistics.ts";

const exec = promisify(execFile);
/** The version of the playwright-core that ours installs. */
const theirPackage = "@playwright/test@1.65.1";
const rounds = { rounds: 5, warmUps: 1 };

const page = "<!doctype html><title>Packed</title><h1>It runs</h1>";

/** With the browser that ours takes by itself; no path where that is Playwright's own. */
const theirConfig = (): string => `import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "tests",
  use: { launchOptions: ${JSON.stringify({ executablePath: findBrowser({ headless: true })?.path, args: browserArgs })} },
});
`;
/** What ours checks with the files that `init` writes: the heading, and the title. */
const theirTest = (url: string): string => `import { expect, test } from "@playwright/test";

test("the page opens", async ({ page }) => {
  await page.goto(${JSON.stringify(url)});
  await expect(page.getByText("It runs")).toBeVisible();
  await expect(page).toHaveTitle("Packed");
});
`;

async function newFolder(sides: Sides): Promise<string> {
  const folder = join(await sides.newDataDir(), "project");
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), "{}");
  return folder;
}

/** Milliseconds of each part, round by round. */
type Parts = Map<string, number[]>;

/** Runs a part and keeps how long it took. */
async function part<Result>(parts: Parts, name: string, run: () => Promise<Result>): Promise<Result> {
  const { ms, result } = await timed(run);
  parts.set(name, [...(parts.get(name) ?? []), ms]);
  return result;
}

/** An empty folder, the packed file, `init` on the page, and `run` to the verdict. The daemon ends behind the clock. */
async function ourVerdict(sides: Sides, packed: string, url: string, parts: Parts): Promise<number> {
  const folder = await newFolder(sides);
  const dataDir = await sides.newDataDir();
  const env = { ...npmEnv(), LABWRIGHT_DATA_DIR: dataDir };
  const npx = (...args: string[]) => exec("npx", ["labwright", ...args], { cwd: folder, env });
  try {
    const { ms, result } = await timed(async () => {
      await part(parts, "install", () => install(folder, packed));
      await part(parts, "init", () => npx("init", url));
      return part(parts, "run", () => npx("run", "labwright"));
    });
    if (!/^passed +127\.0\.0\.1-\d+ opens/m.test(result.stdout))
      throw new Error(`No verdict: ${result.stdout}`);
    return ms;
  } finally {
    await sides.stopDaemon(dataDir);
    await rm(folder, { recursive: true, force: true });
  }
}

/** An empty folder, `@playwright/test`, a config and a test that someone has written already, and their run. */
async function theirVerdict(sides: Sides, url: string, parts: Parts): Promise<number> {
  const folder = await newFolder(sides);
  const env = npmEnv();
  try {
    const { ms, result } = await timed(async () => {
      await part(parts, "their install", () => install(folder, theirPackage));
      await writeFile(join(folder, "playwright.config.ts"), theirConfig());
      await mkdir(join(folder, "tests"));
      await writeFile(join(folder, "tests", "page.spec.ts"), theirTest(url));
      return part(parts, "their run", () => exec("npx", ["playwright", "test"], { cwd: folder, env }));
    });
    if (!result.stdout.includes("1 passed")) throw new Error(`No verdict: ${result.stdout}`);
    return ms;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** From an empty folder to the first verdict, next to `@playwright/test`. The round that is not counted fills npm's cache. */
export async function measureFirstVerdict(
  sides: Sides,
  note: (line: string) => void,
): Promise<Measurement[]> {
  const packed = join(sides.scratch, await packInto(sides.scratch, sides.root));
  const site = await servePages({ "/": page });
  const url = site.url("/");
  const parts: Parts = new Map();
  try {
    const [ours = [], theirs = []] = await alternate(
      [() => ourVerdict(sides, packed, url, parts), () => theirVerdict(sides, url, parts)],
      rounds,
    );
    const told = [...parts].map(([name, times]) => `${name} ${Math.round(median(times))} ms`);
    note(`first: ${told.join(", ")}`);
    const ratios = ratiosOf(ours, theirs);
    return [{ id: "first.verdict", ours: median(ours), theirs: median(theirs), runs: ours.length, ratios }];
  } finally {
    await site.close();
  }
}

/** What the packed file and all that it depends on take in an empty folder. */
export async function measureInstalled(sides: Sides): Promise<Measurement[]> {
  const packed = join(sides.scratch, await packInto(sides.scratch, sides.root));
  const folder = await newFolder(sides);
  await install(folder, packed);
  const { stdout } = await exec(programIn(folder, "labwright"), ["--version"], { env: npmEnv() });
  if (!/^\d+\.\d+\.\d+/.test(stdout)) throw new Error(`What was installed does not run: ${stdout}`);
  return [{ id: "installed.size", ours: (await sizeOf(folder)) / 1_000_000, runs: 1 }];
}

async function sizeOf(path: string): Promise<number> {
  const stats = await lstat(path);
  if (!stats.isDirectory()) return stats.size;
  const sizes = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

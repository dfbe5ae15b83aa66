import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { startFlowApps } from "./flowApps.ts";
import type { Measurement } from "./rows.ts";
import { browserArgs, type Sides } from "./sides.ts";

const exec = promisify(execFile);
const flows = 10;
const longestLine = 100;

/** Lines with anything in them but a comment. Throws for a line that is longer than either side may write. */
function linesOf(text: string): number {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s*(#|\/\/)/.test(line));
  const long = lines.find((line) => line.length > longestLine);
  if (long !== undefined) throw new Error(`A line has more than ${longestLine} columns: ${long}`);
  return lines.length;
}

/** Runs `work` with the apps newly started, since some keep on their server what a flow did. */
async function withApps<Result>(
  { root, scratch }: Sides,
  work: (urls: ReadonlyMap<string, string>) => Promise<Result>,
): Promise<Result> {
  const apps = await startFlowApps({ root, scratch });
  try {
    return await work(new Map([...apps].map(([name, { url }]) => [name, url])));
  } finally {
    for (const { close } of apps.values()) await close();
  }
}

/** `labwright run` over the app files, each with the port that its app got. */
async function runOurs(sides: Sides, urls: ReadonlyMap<string, string>): Promise<string> {
  const folder = await mkdtemp(join(sides.scratch, "flows-"));
  for (const [name, url] of urls) {
    const text = await readFile(join(sides.root, "test", "flows", name, `${name}.yaml`), "utf8");
    await writeFile(join(folder, `${name}.yaml`), text.replace("http://127.0.0.1/", url));
  }
  const dataDir = await sides.newDataDir();
  const config = await sides.newConfig({});
  const program = join(sides.root, "mcp-server", "bin", "labwright.js");
  const args = [program, "run", folder, "--data-dir", dataDir, "--config", config];
  const { stdout } = await exec(process.execPath, args).finally(() => sides.stopDaemon(dataDir));
  return stdout;
}

async function runTheirs(sides: Sides, urls: ReadonlyMap<string, string>): Promise<string> {
  const output = join(sides.scratch, "playwright-output");
  await mkdir(output, { recursive: true });
  const { resolve } = createRequire(join(sides.root, "test", "package.json"));
  const cli = join(dirname(resolve("@playwright/test/package.json")), "cli.js");
  const env = {
    ...process.env,
    FLOW_APPS: JSON.stringify(Object.fromEntries(urls)),
    FLOW_BROWSER: JSON.stringify({ executablePath: sides.browser, args: browserArgs }),
    FLOW_OUTPUT: output,
  };
  const config = join(sides.root, "test", "flows", "playwright.config.ts");
  const { stdout } = await exec(process.execPath, [cli, "test", "--config", config], { env });
  return stdout;
}

/** What a program printed when it failed is what says why. */
const told = (error: unknown): never => {
  const stdout = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
  throw new Error(`${error instanceof Error ? error.message : String(error)}\n${stdout.slice(-4_000)}`);
};

/** Lines of the same flows in our short form and in Playwright Test, once both have passed. */
export async function measureFlows(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const ours = await withApps(sides, (urls) => runOurs(sides, urls)).catch(told);
  if (!ours.includes(`\n${flows} runs: ${flows} passed`)) throw new Error(`Not all passed:\n${ours}`);
  const theirs = await withApps(sides, async (urls) => {
    if (!(await runTheirs(sides, urls)).includes(`${flows} passed`)) throw new Error("Not all passed.");
    return [...urls.keys()];
  }).catch(told);
  const sums = { ours: 0, theirs: 0 };
  for (const app of theirs) {
    const read = (ending: string) =>
      readFile(join(sides.root, "test", "flows", app, `${app}.${ending}`), "utf8");
    const [own, other] = [linesOf(await read("yaml")), linesOf(await read("spec.ts"))];
    note(`flows: ${app}: ${own} lines, theirs ${other}`);
    sums.ours += own;
    sums.theirs += other;
  }
  return [{ id: "flows.lines", ...sums, runs: flows }];
}

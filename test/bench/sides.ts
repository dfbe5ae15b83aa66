import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { Measurement } from "./rows.ts";
import { type Launch, type StdioServer, startServer } from "./stdioServer.ts";

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];

/** The one browser that both sides get. */
export function findBrowser(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = names.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (found === undefined) throw new Error("No Chromium, Chrome or Edge on the PATH. Run `labwright setup`.");
  return found;
}

const asRoot = process.getuid?.() === 0;
export const browserArgs: readonly string[] = asRoot ? ["--no-sandbox"] : [];

const daemonFileSchema = z.object({ pid: z.int() });
const stopLimitMs = 15_000;

/** True while the process is there; a zombie that no one has read yet counts as gone. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

/** Data folders of ours, each with its own daemon, and theirs; everything started here is ended by `close`. */
export type Sides = {
  root: string;
  browser: string;
  scratch: string;
  newDataDir(): Promise<string>;
  /** `config` is a file of {@link newConfig}, `build` the folder of another build than this checkout's. */
  ours(dataDir: string, options?: { config?: string; build?: string }): StdioServer;
  /** A configuration with more in it than the browser that both sides get. */
  newConfig(settings: object): Promise<string>;
  /** `@playwright/mcp`, in the browser that ours gets. */
  theirs(...options: string[]): StdioServer;
  daemonPid(dataDir: string): Promise<number | undefined>;
  stopDaemon(dataDir: string): Promise<void>;
  close(): Promise<void>;
};

export type Bench = { sides: Sides; url(path: string): string; note(line: string): void };

/** Measures the goals whose id starts with the key, in this order. */
export type Suites = Readonly<Record<string, (bench: Bench) => Promise<Measurement[]>>>;

export async function openSides(root: string): Promise<Sides> {
  const scratch = await mkdtemp(join(tmpdir(), "labwright-bench-"));
  const browser = findBrowser();
  const { resolve } = createRequire(join(root, "test", "package.json"));
  const theirCli = join(resolve("@playwright/mcp/package.json"), "..", "cli.js");
  const dataDirs: string[] = [];
  const devices = [
    { name: "browser", model: "web", controllers: { web: { executable_path: browser, headless: true } } },
  ];
  let configs = 0;
  const newConfig = async (settings: object): Promise<string> => {
    const file = join(scratch, `labwright-${configs++}.yaml`);
    await writeFile(file, JSON.stringify({ devices, ...settings }));
    return file;
  };
  const usual = await newConfig({});
  const daemonPid = async (dataDir: string): Promise<number | undefined> => {
    const text = await readFile(join(dataDir, "daemon.json"), "utf8").catch(() => undefined);
    return text === undefined ? undefined : daemonFileSchema.parse(JSON.parse(text)).pid;
  };
  const stopDaemon = async (dataDir: string): Promise<void> => {
    const pid = await daemonPid(dataDir);
    if (pid === undefined || !(await isAlive(pid))) return;
    process.kill(pid, "SIGTERM");
    const deadline = Date.now() + stopLimitMs;
    while (await isAlive(pid)) {
      if (Date.now() > deadline) throw new Error(`The daemon ${pid} did not end in ${stopLimitMs} ms.`);
      await pause(20);
    }
  };
  const start = (launch: Omit<Launch, "cwd">): StdioServer => startServer({ ...launch, cwd: scratch });
  return {
    root,
    browser,
    scratch,
    async newDataDir() {
      const dir = join(scratch, `data-${dataDirs.length}`);
      await mkdir(dir, { mode: 0o700 });
      dataDirs.push(dir);
      return dir;
    },
    newConfig,
    ours: (dataDir, { config = usual, build = root } = {}) =>
      start({
        args: [join(build, "mcp-server", "bin", "labwright.js"), "mcp"],
        env: {
          ...{ LABWRIGHT_DATA_DIR: dataDir, LABWRIGHT_CONFIG: config },
          // An earlier build does not know it.
          ...(build !== root && { LABWRIGHT_BROWSER_SANDBOX: undefined }),
        },
      }),
    theirs: (...options) =>
      start({
        args: [
          theirCli,
          "--headless",
          "--isolated",
          "--executable-path",
          browser,
          ...browserArgs,
          ...options,
        ],
      }),
    daemonPid,
    stopDaemon,
    async close() {
      for (const dir of dataDirs) await stopDaemon(dir);
      await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

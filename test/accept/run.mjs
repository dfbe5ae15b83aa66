import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { lines as allLines, run } from "./lines.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    step: { type: "string" },
    keep: { type: "boolean", default: false },
  },
});
const names = values.only?.split(",");
const step = values.step === undefined ? undefined : Number(values.step);
if (step !== undefined && !(Number.isInteger(step) && step > 0))
  throw new Error(`--step takes the number of a step, not ${values.step}.`);
const unknown = names?.find((name) => !allLines.some((line) => line.name === name));
if (unknown !== undefined)
  throw new Error(`No line is called ${unknown}. There are: ${allLines.map(({ name }) => name).join(", ")}.`);
const lines = allLines.filter(
  ({ name, steps }) =>
    (names === undefined || names.includes(name)) && (!step || !steps || steps.includes(step)),
);
if (lines.length === 0) throw new Error(`${values.only} does not belong to step ${step}.`);

const print = (text) => process.stdout.write(`${text}\n`);
const base = await mkdtemp(join(tmpdir(), "labwright-accept-"));
const clone = join(base, "clone");
const dataDir = join(base, "data");
const logs = join(base, "logs");
await mkdir(logs);
await mkdir(dataDir, { mode: 0o700 });
// The clone must find nothing of this machine's own Labwright, nor the settings npm gives to its scripts.
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(LABWRIGHT_|DATABASE_URL$|npm_(?!config_registry))/.test(name),
  ),
);
env.LABWRIGHT_DATA_DIR = dataDir;
env.LABWRIGHT_BROWSER_SANDBOX = "optional";

async function attempt(line) {
  const log = join(logs, `${line.name}.log`);
  const started = Date.now();
  const problem = await tryLine(line, log).catch((error) => error.message);
  const seconds = Math.round((Date.now() - started) / 1_000);
  print(`${problem === undefined ? "pass" : "FAIL"}  ${line.what} (${seconds} s)`);
  if (problem === undefined) {
    if (line.prints) print(await readFile(log, "utf8"));
    return true;
  }
  const tail = (await readFile(log, "utf8").catch(() => "")).trim().split("\n").slice(-25);
  print([`      ${problem}; the end of ${log}:`, ...tail.map((text) => `      ${text}`)].join("\n"));
  return false;
}

async function tryLine({ start, check, limitMs }, log) {
  const { more, ...program } = start({ clone, dataDir });
  const code = await run({ ...program, cwd: clone, env: { ...env, ...more }, log, limitMs });
  if (code !== 0) return `it ended with exit code ${code}`;
  await check(log);
  return undefined;
}

async function cloneProject() {
  const log = join(logs, "clone.log");
  const code = await run({ program: "git", args: ["clone", "--quiet", root, clone], cwd: base, env, log });
  if (code !== 0) throw new Error(`git clone failed: ${await readFile(log, "utf8")}`);
}

/** Ends the daemon of this run's data folder; the call waits for one that a line left while it was still starting. */
async function stopDaemon() {
  const bin = join(clone, "mcp-server", "bin", "labwright.js");
  for (const args of [["call", "list_hosts"], ["stop"]]) {
    const log = join(logs, `${args[0]}.log`);
    await run({
      program: process.execPath,
      args: [bin, ...args, "--data-dir", dataDir],
      cwd: base,
      env,
      log,
    });
  }
}

/** What the demo sets up first, for lines that are chosen without it. */
async function setUp() {
  const log = join(logs, "setup.log");
  const args = ["mcp-server/bin/setup.mjs", "--for", "test"];
  const code = await run({ program: process.execPath, args, cwd: clone, env, log });
  if (code !== 0) throw new Error(`the set-up failed: ${await readFile(log, "utf8")}`);
}

let passed = 0;
try {
  await cloneProject();
  if (names !== undefined && lines[0]?.name !== "demo") await setUp();
  for (const line of lines) if (await attempt(line)) passed += 1;
} finally {
  await stopDaemon();
  if (passed === lines.length && !values.keep) await rm(base, { recursive: true, force: true });
  else print(`Kept for inspection: ${base}`);
}
print(`${passed} of ${lines.length} passed`);
process.exitCode = passed === lines.length ? 0 : 1;

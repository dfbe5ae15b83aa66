import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DeviceError } from "../errors.ts";
import { isRunning } from "../programs/processTree.ts";
import { findProgram, runProgram } from "../programs/run.ts";

/** Hears a line about what goes on. */
export type Progress = (line: string) => void;

const installMs = 15 * 60_000;
const progressMs = 10_000;
/** npm's codes for a registry that is not to be reached. */
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|network/;

type Work = { name: string; from: string; signal: AbortSignal; progress: Progress };

/** Installs the add-on `from` next to `target`, then renames it. Removes other builds and killed installs. */
export async function installInto(target: string, { name, from, signal, progress }: Work): Promise<void> {
  const around = dirname(target);
  await mkdir(around, { recursive: true, mode: 0o700 });
  await removeLeft(around);
  const work = join(around, `.${basename(target)}-${process.pid}`);
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1_000);
  const timer = setInterval(() => progress(`${name}: still installing after ${seconds()} s`), progressMs);
  try {
    await cp(from, work, { recursive: true });
    progress(`${name}: installing what its lockfile says`);
    await runNpm(name, work, signal);
    await giveName(work, target);
    progress(`${name}: installed in ${seconds()} s`);
  } finally {
    clearInterval(timer);
    await rm(work, { recursive: true, force: true });
  }
  const others = (await readdir(around)).filter(
    (entry) => !entry.startsWith(".") && entry !== basename(target),
  );
  for (const other of others) await rm(join(around, other), { recursive: true, force: true });
}

/** Scripts of packages are not run: none of ours needs one. */
async function runNpm(name: string, cwd: string, signal: AbortSignal): Promise<void> {
  const [program, ...first] = findNpm();
  const args = [...first, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const { code, stderr } = await runProgram(program, args, { cwd, signal, timeoutMs: installMs });
  if (code === 0) return;
  const said = stderr
    .split("\n")
    .filter((line) => /^npm (error|ERR!)/.test(line))
    .slice(0, 5)
    .join("\n");
  const next = offline.test(said)
    ? "The package registry cannot be reached: check the network, and npm's settings registry and proxy"
    : "Correct what npm says";
  const message = `The add-on ${name} could not be installed: npm ended with ${code}.\n${said}\n${next}, and run the command again.`;
  throw new DeviceError("ADDON_INSTALL_FAILED", message, { addon: name });
}

/** The npm that runs us, else the one next to Node, else the one on the PATH. */
function findNpm(): [string, ...string[]] {
  const folder = dirname(process.execPath);
  const files = [
    process.env.npm_execpath ?? "",
    join(folder, "node_modules", "npm", "bin", "npm-cli.js"),
    join(folder, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
  ];
  const file = files.find((one) => one.endsWith(".js") && existsSync(one));
  return file === undefined ? [findProgram("npm") ?? "npm"] : [process.execPath, file];
}

/** Another process may have installed the same meanwhile. */
async function giveName(work: string, target: string): Promise<void> {
  try {
    await rename(work, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  }
}

/** What installs left that were killed: folders named after a process that is no more. */
async function removeLeft(around: string): Promise<void> {
  for (const entry of await readdir(around)) {
    const pid = Number(/^\..*-(\d+)$/.exec(entry)?.[1]);
    if (pid > 0 && !isRunning(pid)) await rm(join(around, entry), { recursive: true, force: true });
  }
}

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { connect, createServer, Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// No import of ../errors.ts at the top: the daemon takes the lock before it loads anything heavy.

/** `lost` aborts when the lock went without `release` (its holder was killed): the owner must stop. */
export type FileLock = { release(): Promise<void>; lost: AbortSignal };
export type DataDirLock = FileLock;
type Held = FileLock | "busy" | "unsupported";

/** One program per system that locks a file while another one runs; `cat` runs until our end of its pipe closes. */
const lockers: Partial<Record<NodeJS.Platform, (file: string) => readonly string[]>> = {
  linux: (file) => ["flock", "-n", file],
  darwin: (file) => ["lockf", "-k", "-t", "0", file],
  freebsd: (file) => ["lockf", "-k", "-t", "0", file],
};
/** flock's and lockf's exit codes for a file that is locked. */
const busyCodes = new Set<number | null>([1, 75]);

/** A probe holds the lock for a moment, so one refusal is not yet an owner. */
const pausesMs = [20, 40, 80];

const fileOf = (dataDir: string) => join(dataDir, "lock");

/** Resolves with the exit code, or "held" when the program under the lock answers. */
function outcome(child: ChildProcess): Promise<number | null | "held" | "missing"> {
  return new Promise((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") resolve("missing");
      else reject(error);
    });
    child.once("close", (code) => resolve(code));
    child.stdout?.once("data", () => resolve("held"));
  });
}

/**
 * A child locks the file and waits on a pipe of ours: the kernel closes the pipe when we end, however we end, then the
 * child ends, and the lock is free. In a session of its own, since Ctrl+C must not end it before its owner.
 */
async function lockByChild(file: string, note: string): Promise<Held> {
  const [program, ...args] = lockers[process.platform]?.(file) ?? [];
  if (program === undefined) return "unsupported";
  const child = spawn(program, [...args, "cat"], { stdio: ["pipe", "pipe", "ignore"], detached: true });
  child.stdin.on("error", () => {});
  child.stdin.write("\n");
  const result = await outcome(child);
  if (result === "missing") return "unsupported";
  if (result !== "held") {
    if (busyCodes.has(result)) return "busy";
    throw new Error(`${program} ended with code ${result} for ${file}`);
  }
  child.stdout.destroy();
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  const lost = new AbortController();
  const ended = once(child, "close");
  let released = false;
  void ended.then(() => {
    if (!released) lost.abort(new Error(`the lock ${file} was lost`));
  });
  await writeFile(file, note, { mode: 0o600 });
  return {
    lost: lost.signal,
    async release() {
      released = true;
      child.ref();
      child.stdin.end();
      await ended;
    },
  };
}

/** A name that the kernel frees with its owner; on Linux it belongs to a network namespace, so two containers share none. */
async function socketName(file: string): Promise<string> {
  const hash = createHash("sha256")
    .update(join(await realpath(dirname(file)), basename(file)))
    .digest("hex")
    .slice(0, 32);
  return process.platform === "win32" ? `\\\\.\\pipe\\labwright-${hash}` : `\0labwright-${hash}`;
}

async function lockByName(file: string, note: string): Promise<Held> {
  const server = createServer((socket) => socket.destroy());
  const name = await socketName(file);
  const busy = await new Promise<boolean>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(true);
      else reject(error);
    });
    server.listen(name, () => resolve(false));
  });
  if (busy) return "busy";
  server.unref();
  await writeFile(file, note, { mode: 0o600 });
  return {
    lost: new AbortController().signal,
    release: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function tryLock(file: string, note: string): Promise<FileLock | "busy"> {
  const held = await lockByChild(file, note);
  if (held !== "unsupported") return held;
  const named = await lockByName(file, note);
  if (named === "unsupported") throw new Error(`no way to lock ${file} on ${process.platform}`);
  return named;
}

/**
 * Takes a lock that the kernel frees when this process ends, however it ends. The file's folder is there already; the file
 * holds `note` for whoever finds it busy, and is never removed.
 */
export async function lockFile(file: string, note: string): Promise<FileLock | "busy"> {
  let held = await tryLock(file, note);
  for (const pauseMs of pausesMs) {
    if (held !== "busy") return held;
    await sleep(pauseMs);
    held = await tryLock(file, note);
  }
  return held;
}

async function busyError(dataDir: string): Promise<Error> {
  const { ToolError } = await import("../../errors.ts");
  const pid = Number((await readFile(fileOf(dataDir), "utf8").catch(() => "")).trim()) || undefined;
  const holder = pid === undefined ? "another process" : `process ${pid}`;
  return new ToolError(
    "DATA_DIR_BUSY",
    `the data directory ${dataDir} is in use by ${holder}`,
    "connect to that daemon, end it with `labwright stop`, or set LABWRIGHT_DATA_DIR to another folder",
    { data_dir: dataDir, pid },
  );
}

/**
 * Makes the data directory and takes the right to be its only owner. Throws ToolError DATA_DIR_BUSY while
 * another process lives that has it, even one whose event loop is blocked.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const held = await lockFile(fileOf(dataDir), `${process.pid}\n`);
  if (held === "busy") throw await busyError(dataDir);
  return held;
}

async function answers(name: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(name);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** True while an owner lives: asks the kernel, not a file's content. Makes nothing. */
export async function isDataDirLocked(dataDir: string): Promise<boolean> {
  if (!existsSync(fileOf(dataDir))) return false;
  const [program, ...args] = lockers[process.platform]?.(fileOf(dataDir)) ?? [];
  if (program !== undefined) {
    // A shared lock, where there is one: two who ask at once do not take each other for an owner.
    const shared = program === "flock" ? ["-s", ...args] : args;
    const child = spawn(program, [...shared, "true"], { stdio: "ignore" });
    const result = await outcome(child);
    if (result !== "missing") return busyCodes.has(typeof result === "number" ? result : null);
  }
  return answers(await socketName(fileOf(dataDir)));
}

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Readable } from "node:stream";
import { isMainThread } from "node:worker_threads";
import { DeviceError } from "../errors.ts";
import { atMost } from "../waiting/deadlines.ts";
import { graceMs, guard, unguard } from "./guard.ts";
import { killTree } from "./processTree.ts";

const MOST_OUTPUT_BYTES = 16_000_000;
const isWindows = process.platform === "win32";

export type RunOptions = {
  signal: AbortSignal;
  timeoutMs: number;
  /** For the program's standard input. */
  input?: string | Uint8Array;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
};

export type RunResult<Output = string> = { code: number; stdout: Output; stderr: string };

/**
 * Runs a program to its end; arguments go as they are, never through a shell. A code other than 0 is a result, not an
 * error. Throws DEVICE_ERROR when it cannot be started or writes more than 16 MB, COMMAND_TIMEOUT past `timeoutMs` or when
 * `signal` aborts; the program and what it started have been killed by then.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const { stdout, ...rest } = await runForBytes(file, args, options);
  return { ...rest, stdout: stdout.toString("utf8") };
}

/** {@link runProgram} for a program whose output is not text, such as a picture. */
export async function runForBytes(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunResult<Buffer>> {
  if (options.signal.aborted) throw stoppedError(file, options);
  const { child, end } = startProgram(file, args, options);
  let problem: DeviceError | undefined;
  const stop = (error: DeviceError) => {
    problem ??= error;
    void end(0);
    // A daemon that it left behind may hold them open.
    child.stdout?.destroy();
    child.stderr?.destroy();
  };
  const limit = { left: MOST_OUTPUT_BYTES, passed: () => stop(outputError(file)) };
  const [stdout, stderr] = [collect(child.stdout, limit), collect(child.stderr, limit)];
  const late = atMost(options.signal, options.timeoutMs);
  const abort = () => stop(stoppedError(file, options));
  late.addEventListener("abort", abort, { once: true });
  try {
    child.stdin?.end(options.input ?? "");
    const [code, signal] = await once(child, "close");
    if (problem) throw problem;
    if (code === null) throw runError(file, `it was ended by ${signal}`);
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString("utf8") };
  } catch (error) {
    throw error instanceof DeviceError ? error : startError(file, error);
  } finally {
    late.removeEventListener("abort", abort);
  }
}

/** What a stream gives, until both streams together pass the limit. */
function collect(stream: Readable | null, limit: { left: number; passed(): void }): Buffer[] {
  const parts: Buffer[] = [];
  stream?.on("data", (part: Buffer) => {
    limit.left -= part.length;
    if (limit.left < 0) limit.passed();
    else parts.push(part);
  });
  return parts;
}

/**
 * A program that goes on running; its streams give Buffers. Its owner calls `end`, which asks it to end and kills it and what
 * it started after `graceMs` (3 s unless said; 0: at once). It also ends when this process ends, even by kill -9. What it
 * started ends with it, apart from daemons: programs that went into a session of their own and outlived their parent.
 */
export type RunningProgram = { child: ChildProcess; end(graceMs?: number): Promise<void> };

export type StartOptions = {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** How many pipes it gets beyond the standard three: its file descriptors 3, 4 … and `child.stdio[3]` … here. */
  pipes?: number;
  /** For a program in Node: messages by `child.send` and "message", which may hold Buffers. */
  ipc?: boolean;
};

/**
 * Starts a program that runs until it is ended. Throws DEVICE_ERROR when there is no such program, and an Error in a worker
 * thread: a thread that ends would end the programs that it started.
 */
export function startProgram(
  file: string,
  args: readonly string[],
  options: StartOptions = {},
): RunningProgram {
  if (!isMainThread) throw new Error(`${file} is to be started by the main thread, not by a worker thread`);
  const { pipes = 0, ipc = false, cwd, env } = options;
  if (!isThere(file, env)) throw missing(file);
  const child = spawn(file, args, {
    stdio: ["pipe", "pipe", "pipe", ...Array<"pipe">(pipes).fill("pipe"), ...(ipc ? ["ipc" as const] : [])],
    ...(ipc && { serialization: "advanced" as const }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
    // A process group of its own, by which what it started is found.
    detached: !isWindows,
  });
  // A program that reads nothing closes its end first.
  child.stdin?.on("error", () => undefined);
  const { pid } = child;
  if (pid !== undefined && !isWindows) guard(pid);
  const gone = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => {
      if (pid !== undefined && !isWindows) forget(pid);
      resolve();
    });
  });
  return {
    child,
    async end(grace = graceMs) {
      const isRunning = () => child.exitCode === null && child.signalCode === null;
      const kill = () => isRunning() && killHard(child);
      const hard = setTimeout(kill, grace);
      if (grace === 0) kill();
      else child.kill("SIGTERM");
      await gone;
      clearTimeout(hard);
    },
  };
}

/** The rest of the program's group ends with it. */
function forget(pid: number): void {
  killGroup(pid);
  unguard(pid);
}

function killHard(child: ChildProcess): void {
  // Those in a session of their own are found below it, as long as it runs.
  if (child.pid !== undefined && !isWindows) killTree(child.pid);
  child.kill("SIGKILL");
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}

const isThere = (file: string, env: NodeJS.ProcessEnv | undefined) =>
  isWindows || (file.includes("/") ? isProgram(file) : findProgram(file, env) !== undefined);

/** The program's file on the PATH; undefined when there is none. */
export function findProgram(name: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = (environment.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

/** Says whether there is a file that this user may run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missing(file: string): DeviceError {
  return new DeviceError("DEVICE_ERROR", `There is no program ${file}. Install it, or correct its path.`, {
    program: file,
  });
}

function startError(file: string, cause: unknown): DeviceError {
  if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return missing(file);
  return runError(file, cause instanceof Error ? cause.message : String(cause), cause);
}

function stoppedError(file: string, { timeoutMs }: RunOptions): DeviceError {
  const message = `${file} did not end within ${timeoutMs} ms or was cancelled, and was stopped. Give it more time or try again.`;
  return new DeviceError("COMMAND_TIMEOUT", message);
}

const outputError = (file: string) =>
  runError(file, `it wrote more than ${MOST_OUTPUT_BYTES / 1_000_000} MB`);

function runError(file: string, problem: string, cause?: unknown): DeviceError {
  const message = `${file} could not be run: ${problem}. Check that it works when called by hand.`;
  return new DeviceError("DEVICE_ERROR", message, {}, { cause });
}

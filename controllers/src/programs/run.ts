import { type ChildProcess, execFile, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { DeviceError } from "../errors.ts";

const MOST_OUTPUT_BYTES = 16_000_000;
const END_DEADLINE_MS = 3_000;

export type RunOptions = {
  signal: AbortSignal;
  timeoutMs: number;
  /** Text for the program's standard input. */
  input?: string;
  cwd?: string;
  env?: NodeJS.ProcessEnv;
};

export type RunResult = { code: number; stdout: string; stderr: string };

/**
 * Runs a program to its end; arguments go as they are, never through a shell. A code other than 0 is a result, not an
 * error. Throws DEVICE_ERROR when it cannot be started, COMMAND_TIMEOUT past `timeoutMs` or when `signal` aborts; it has
 * been killed by then. Output beyond 16 MB ends it, too.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  options: RunOptions,
): Promise<RunResult> {
  const bound = boundToParent(file, args);
  return await new Promise((resolve, reject) => {
    const child = execFile(
      bound.file,
      bound.args,
      {
        signal: options.signal,
        timeout: options.timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: MOST_OUTPUT_BYTES,
        encoding: "utf8",
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        ...(options.env === undefined ? {} : { env: options.env }),
      },
      (error, stdout, stderr) => {
        if (error === null) return resolve({ code: 0, stdout, stderr });
        if (typeof error.code === "number" && error.killed !== true) {
          return resolve({ code: error.code, stdout, stderr });
        }
        reject(runError(file, error, options));
      },
    );
    // A program that reads nothing closes its end first.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(options.input ?? "");
  });
}

/** A program that goes on running. Its owner calls `end`; it ends by itself when this process dies, also by kill -9. */
export type RunningProgram = { child: ChildProcess; end(): Promise<void> };

/** Starts a program that runs until it is ended. Throws DEVICE_ERROR when there is no such program. */
export function startProgram(
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): RunningProgram {
  const bound = boundToParent(file, args);
  const child = spawn(bound.file, bound.args, {
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    child,
    async end() {
      const hard = setTimeout(() => child.kill("SIGKILL"), END_DEADLINE_MS);
      child.kill("SIGTERM");
      await gone;
      clearTimeout(hard);
    },
  };
}

/**
 * The same program, told by the kernel to die with us (Linux: prctl(PR_SET_PDEATHSIG) through setpriv of util-linux).
 * The signal belongs to the thread that spawns: start programs from the main thread only.
 */
function boundToParent(file: string, args: readonly string[]): { file: string; args: string[] } {
  const setpriv = findSetpriv();
  if (setpriv === undefined) return { file, args: [...args] };
  // setpriv would report a missing program as its own exit code.
  const found = file.includes("/") ? isProgram(file) : findProgram(file) !== undefined;
  if (!found) throw missing(file);
  return { file: setpriv, args: ["--pdeathsig", "KILL", "--", file, ...args] };
}

let setprivPath: { path: string | undefined } | undefined;

function findSetpriv(): string | undefined {
  setprivPath ??= { path: process.platform === "linux" ? findProgram("setpriv") : undefined };
  return setprivPath.path;
}

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

function runError(
  file: string,
  error: Error & { code?: unknown; killed?: boolean },
  options: RunOptions,
): DeviceError {
  if (options.signal.aborted || error.killed === true) {
    const message = `${file} did not end within ${options.timeoutMs} ms or was cancelled, and was stopped. Give it more time or try again.`;
    return new DeviceError("COMMAND_TIMEOUT", message, {}, { cause: error });
  }
  if (error.code === "ENOENT") return missing(file);
  const message = `${file} could not be run: ${error.message.split("\n", 1)[0]}. Check that it works when called by hand.`;
  return new DeviceError("DEVICE_ERROR", message, {}, { cause: error });
}

import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { dataDirProblem, makeDataDir } from "../../config/dataDir.ts";
import { fileFailure } from "../../fileFailure.ts";
import { type DaemonFile, type ProvenDaemon, readDaemonFile, requestDaemon } from "../daemonFile.ts";
import { BridgeError } from "./bridgeError.ts";
import { type Attached, attach } from "./link.ts";

/** The daemon that a bridge or a command needs. `command` starts one: program first, then its arguments. */
export type DaemonWanted = {
  dataDir: string;
  client: string;
  /** The project whose names the caller means. */
  project?: string | undefined;
  command: readonly string[];
  deadlineMs: number;
  /** True while a process holds the data directory, so that another daemon could not start. */
  isLocked(dataDir: string): Promise<boolean>;
  /** Undefined: any build will do. */
  build?: { hash: string; at: string };
  /** The file the caller named, or would read, and the hash of what it says now. */
  config?: { path: string | undefined; hash: string; named: boolean };
};

/** Exit code of a daemon that found the data directory taken. */
const busyExitCode = 3;

/** Finds the daemon or starts it. Throws DAEMON_UNAVAILABLE with the daemon's own reason, DAEMON_MISMATCH. */
export async function findDaemon(wanted: DaemonWanted): Promise<Attached> {
  const deadline = performance.now() + wanted.deadlineMs;
  let child: Child | undefined;
  for (let wait = 5; performance.now() < deadline; wait = Math.min(wait * 1.3, 100)) {
    const attached = await findRunningDaemon(wanted.dataDir, wanted.client, wanted.project);
    if (attached && (await isAcceptedOrLeft(attached, wanted, child))) return attached;
    if (child?.exit !== undefined && child.exit !== busyExitCode) throw unavailable(child, wanted);
    if (await isStartWanted(child, wanted)) child = start(wanted);
    await pause(wait);
  }
  throw new BridgeError(
    "DAEMON_UNAVAILABLE",
    `No daemon answered within ${wanted.deadlineMs} ms.`,
    `See ${join(wanted.dataDir, "logs", "daemon.log")}, or run labwright doctor.`,
  );
}

async function isAcceptedOrLeft(
  attached: Attached,
  wanted: DaemonWanted,
  child: Child | undefined,
): Promise<boolean> {
  let isAcceptable = false;
  try {
    isAcceptable = await isAccepted(attached, wanted, child);
    return isAcceptable;
  } finally {
    if (!isAcceptable) attached.close();
  }
}

/** Racing bridges start two at worst, and the lock lets one live. */
async function isStartWanted(child: Child | undefined, wanted: DaemonWanted): Promise<boolean> {
  if (child && child.exit === undefined) return false;
  return !(existsSync(wanted.dataDir) && (await wanted.isLocked(wanted.dataDir)));
}

/** Finds a running daemon only. Throws DAEMON_UNAVAILABLE where another user could have written daemon.json. */
export async function findRunningDaemon(
  dataDir: string,
  client: string,
  project?: string,
): Promise<Attached | undefined> {
  const problem = dataDirProblem(dataDir);
  if (problem) throw new BridgeError("DAEMON_UNAVAILABLE", problem.message, problem.hint);
  const file = readDaemonFile(dataDir);
  return file && isAlive(file.pid) ? attach(file, { client, project }, 5_000) : undefined;
}

/** Asks a daemon to end. False: it is busy and `ifIdle` was asked. */
export async function stopDaemon(
  daemon: ProvenDaemon,
  options: { reason: string; ifIdle: boolean; client: string },
): Promise<boolean> {
  const query = new URLSearchParams({ reason: options.reason, if_idle: String(options.ifIdle) });
  const { client } = options;
  const response = await requestDaemon(daemon, `/shutdown?${query}`, { method: "POST", client });
  await response.body?.cancel();
  return response.ok;
}

/** False: the daemon is leaving for a newer one, so look again. */
async function isAccepted(
  attached: Attached,
  wanted: DaemonWanted,
  child: Child | undefined,
): Promise<boolean> {
  const { file } = attached;
  const stop = `labwright stop --data-dir ${JSON.stringify(wanted.dataDir)}`;
  refuseOtherConfig(file, wanted, stop);
  const { build, config } = wanted;
  const otherBuild = build !== undefined && build.hash !== file.build.hash ? build : undefined;
  const isOtherConfig = config?.path === file.config.path && config?.hash !== file.config.hash;
  if (!otherBuild && !isOtherConfig) return true;
  const isOlder = otherBuild !== undefined && otherBuild.at < file.build.at;
  const reason = otherBuild ? "replaced by a newer build" : "its config file changed";
  // One that we started ourselves would only come again.
  const mayReplace = !isOlder && child?.pid !== file.pid;
  if (mayReplace && (await stopDaemon(attached, { reason, ifIdle: true, client: wanted.client })))
    return false;
  throw mismatch(file, otherBuild, { isOlder, stop });
}

function refuseOtherConfig(file: DaemonFile, { config }: DaemonWanted, stop: string): void {
  if (!config?.named || config.path === file.config.path) return;
  throw new BridgeError(
    "DAEMON_MISMATCH",
    `The running daemon (pid ${file.pid}) was started with ${file.config.path ?? "no config file"}, this one names ${config.path}.`,
    `Run ${stop} and call again, or leave the config option out.`,
  );
}

function mismatch(
  file: DaemonFile,
  build: DaemonWanted["build"],
  { isOlder, stop }: { isOlder: boolean; stop: string },
): BridgeError {
  if (!build) {
    return new BridgeError(
      "DAEMON_MISMATCH",
      `The config file ${file.config.path} changed since the running daemon (pid ${file.pid}) read it, and it is busy.`,
      `Call again when its leases and runs have ended, or run ${stop}.`,
    );
  }
  return new BridgeError(
    "DAEMON_MISMATCH",
    `The running daemon (pid ${file.pid}) is build ${file.build.hash} of ${file.build.at}; this is build ${build.hash} of ${build.at}.`,
    isOlder
      ? "Restart the program that started this older one, so that it takes the newer build."
      : `It is busy. Call again when its leases and runs have ended, or run ${stop}.`,
  );
}

/** Says whether there is a process with this id, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

type Child = { pid: number | undefined; exit: number | undefined; log: string; from: number };

/** Detached, so that it outlives this process and serves others; what it says on its way up goes to its log. */
function start(wanted: DaemonWanted): Child {
  const { log, fd } = openLog(wanted.dataDir);
  const from = fstatSync(fd).size;
  const [program = process.execPath, ...args] = wanted.command;
  const spawned = spawn(program, args, { detached: true, stdio: ["ignore", fd, fd], cwd: wanted.dataDir });
  const child: Child = { pid: spawned.pid, exit: undefined, log, from };
  spawned.once("exit", (code) => {
    child.exit = code ?? 1;
  });
  spawned.once("error", () => {
    child.exit = 1;
  });
  spawned.unref();
  closeSync(fd);
  return child;
}

/** Throws DAEMON_UNAVAILABLE when the data directory cannot be made or written. */
function openLog(dataDir: string): { log: string; fd: number } {
  const logs = join(dataDir, "logs");
  const log = join(logs, "daemon.log");
  try {
    makeDataDir(dataDir);
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    return { log, fd: openSync(log, "a", 0o600) };
  } catch (error) {
    const file = fileFailure(error);
    throw file ? new BridgeError("DAEMON_UNAVAILABLE", file.message, file.hint) : error;
  }
}

/** A daemon that cannot start says why in one JSON line with a code; see `cli/serve.ts`. */
function unavailable(child: Child, wanted: DaemonWanted): BridgeError {
  const log = readFileSync(child.log);
  // A log that was full has been emptied since.
  const from = log.length < child.from ? 0 : child.from;
  const said = log.subarray(from).toString("utf8").trim().split("\n");
  for (const line of said.reverse()) {
    const failure = /"code":"([A-Z_]+)"/.test(line) ? readFailure(line) : undefined;
    if (failure) return new BridgeError("DAEMON_UNAVAILABLE", failure.message, failure.hint);
  }
  return new BridgeError(
    "DAEMON_UNAVAILABLE",
    `The daemon ended with exit code ${child.exit} before it was ready.`,
    `See ${child.log}, or run labwright doctor.`,
    { command: wanted.command.join(" ") },
  );
}

function readFailure(line: string): { message: string; hint: string } | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null) return undefined;
    const { message, hint } = { message: "", hint: "", ...value };
    return typeof message === "string" && message !== "" ? { message, hint: String(hint) } : undefined;
  } catch {
    return undefined;
  }
}

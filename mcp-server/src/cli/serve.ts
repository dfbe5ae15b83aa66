import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { dataDirProblem, makeDataDir } from "../config/dataDir.ts";
import { configFile, dataDirectory, type Environment } from "../config/places.ts";
import { fileFailure } from "../fileFailure.ts";
import { type Engine, engineFiles, startEngine } from "../storage/engine/engine.ts";
import { type DataDirLock, lockDataDir } from "../storage/engine/lock.ts";
import { type DaemonOptions, daemonOptionNames } from "./options.ts";

// The daemon loads this file first of all: it imports nothing heavy.

export type ServeOptions = DaemonOptions & {
  host: string | undefined;
  port: number | undefined;
  /** Leaves when it has had nothing to do for a while: for one that a bridge or a command started. */
  untilIdle: boolean;
};

export const serveHelp = `labwright serve: the daemon that owns a data directory, its devices and its HTTP port

  --data-dir DIR     the folder of the server's data (LABWRIGHT_DATA_DIR)
  --config FILE      labwright.yaml (LABWRIGHT_CONFIG; else in the working directory, else in the data directory)
  --trust-config     trusts the labwright.yaml of the working directory this time, for CI
  --host ADDRESS     where to listen (LABWRIGHT_HOST); beyond loopback only with server.tls or server.trusted_proxy
  --port PORT        (LABWRIGHT_PORT); 0 takes a free one
  --log-level LEVEL  trace, debug, info, warn, error, silent (LABWRIGHT_LOG_LEVEL)
  --until-idle       leaves after limits.idle_exit_ms without a lease, a run or a client

Examples:
  labwright serve
  labwright serve --config labwright.yaml --port 7400
`;

/** Throws a TypeError that names the wrong option. */
export function readServeOptions(args: readonly string[]): ServeOptions {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    options: {
      ...daemonOptionNames,
      host: { type: "string" },
      port: { type: "string" },
      "until-idle": { type: "boolean" },
      "trust-config": { type: "boolean" },
    },
  });
  const here = resolve("labwright.yaml");
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535)) {
    throw new TypeError(`--port must be 0 to 65535, not ${values.port}`);
  }
  return {
    dataDir: values["data-dir"],
    // A file that is named is trusted.
    config: values.config ?? (values["trust-config"] && existsSync(here) ? here : undefined),
    logLevel: values["log-level"],
    host: values.host,
    port,
    untilIdle: values["until-idle"] ?? false,
  };
}

/** The data directory is ours, and its database, if it is the embedded one, is opening in its thread. */
export type Claim = {
  dataDir: string;
  /** Who else may read the data directory. */
  warning: string | undefined;
  lock: DataDirLock;
  engine: Promise<Engine> | undefined;
};

/** Throws DATA_DIR_BUSY, and CONFIG_INVALID for a data directory that another user could change. */
export async function claimDataDir(options: ServeOptions, env: Environment, cwd: string): Promise<Claim> {
  const dataDir = dataDirectory(env, options.dataDir).path;
  const problem = dataDirProblem(dataDir);
  if (problem)
    throw Object.assign(new Error(problem.message), { code: "CONFIG_INVALID", hint: problem.hint });
  const warning = makeDataDir(dataDir);
  const lock = await lockDataDir(dataDir);
  const path = configFile({ option: options.config, env, cwd, dataDir, command: "serve" });
  // Reading the file needs the schema library, which takes longer to load than the engine to start.
  const mayNameServer = Boolean(env.DATABASE_URL) || readOrNothing(path).includes("database_url");
  const engine = mayNameServer ? undefined : startEngine(engineFiles(dataDir));
  // A later waiter gets the failure; until then it must not end the process.
  engine?.catch(() => {});
  return { dataDir, warning, lock, engine };
}

function readOrNothing(path: string | undefined): string {
  try {
    return path === undefined ? "" : readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Source: `names.md`; 3 is ours, for the bridge that lost the race to start the daemon. */
export const serveExitCodes = { ended: 0, failed: 2, busy: 3 } as const;

/**
 * Why a daemon cannot start, as one JSON line on stderr: the bridge that started it reads it there and passes it to its host.
 */
export function failureLine(error: unknown): { line: string; exitCode: number } {
  const { code, message, hint } = described(error);
  const line = JSON.stringify({
    level: "fatal",
    time: new Date().toISOString(),
    pid: process.pid,
    code,
    message,
    hint,
  });
  return {
    line: `${line}\n`,
    exitCode: code === "DATA_DIR_BUSY" ? serveExitCodes.busy : serveExitCodes.failed,
  };
}

function described(error: unknown): { code: string; message: string; hint: string } {
  if (!(error instanceof Error)) return { code: "INTERNAL", message: String(error), hint: "" };
  const file = fileFailure(error);
  if (file) return { code: "STORAGE_FAILED", ...file };
  const { code, hint } = { code: "INTERNAL", hint: "", ...error };
  const isOurs = typeof code === "string" && typeof hint === "string";
  return isOurs
    ? { code, message: error.message, hint }
    : { code: "INTERNAL", message: error.message, hint: "See the log, or run labwright doctor." };
}

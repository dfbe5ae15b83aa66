import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { configFile, dataDirectory, type Environment } from "../config/places.ts";
import { serveBridge } from "../server/bridge/serveBridge.ts";
import { type DaemonOptions, readDaemonOptions, toArguments } from "./options.ts";

const help = `labwright mcp: serves MCP over stdin and stdout, for a host that starts it

It finds the Labwright daemon of its data directory, or starts it.

  --data-dir DIR     what is kept between runs (LABWRIGHT_DATA_DIR)
  --config FILE      labwright.yaml (LABWRIGHT_CONFIG)
  --log-level LEVEL  trace, debug, info, warn, error, silent (LABWRIGHT_LOG_LEVEL)

Example, in a host's configuration:
  {"mcpServers": {"labwright": {"command": "npx", "args": ["labwright", "mcp"]}}}
`;

/** Runs until its host closes stdin. Bundled alone, so that a host has the listings in a moment. */
export function runMcp(args: readonly string[], env: Environment): void {
  if (args.includes("--help")) {
    process.stdout.write(help);
    return;
  }
  const options = parse(args);
  if (!options) {
    process.exitCode = 2;
    return;
  }
  const dataDir = dataDirectory(env, options.dataDir).path;
  serveBridge({
    catalogueFile: new URL("./catalogue.json", import.meta.url),
    dataDir,
    command: daemonCommand({ ...options, dataDir }, env),
    // Asked at each search: the file may change while the bridge lives.
    config: () => configOf(options, env, dataDir),
  });
}

function parse(args: readonly string[]): DaemonOptions | undefined {
  try {
    return readDaemonOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return undefined;
  }
}

/** The daemon's own bundle, not the command line's: it starts the database before it loads the rest. */
function daemonCommand(options: DaemonOptions, env: Environment): string[] {
  const entry = fileURLToPath(new URL("./daemon.js", import.meta.url));
  const named = options.config ?? (env.LABWRIGHT_CONFIG || undefined);
  const config = named === undefined ? undefined : resolve(named);
  const logLevel = options.logLevel ?? (env.LABWRIGHT_LOG_LEVEL || undefined);
  return [process.execPath, entry, ...toArguments({ ...options, config, logLevel }), "--until-idle"];
}

function configOf(options: DaemonOptions, env: Environment, dataDir: string) {
  const named = options.config !== undefined || Boolean(env.LABWRIGHT_CONFIG);
  const path = configFile({ option: options.config, env, cwd: process.cwd(), dataDir, command: "mcp" });
  return { path, hash: hashOfFile(path), named };
}

function hashOfFile(path: string | undefined): string {
  try {
    return path === undefined ? "" : createHash("sha256").update(readFileSync(path, "utf8")).digest("hex");
  } catch {
    return "";
  }
}

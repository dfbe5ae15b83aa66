import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { configFile, dataDirectory, type Environment, findProject } from "../config/places.ts";
import { isOn, namesIn, SubsetError } from "../registry/subset.ts";
import { serveBridge } from "../server/bridge/serveBridge.ts";
import { type BridgeOptions, type DaemonOptions, readBridgeOptions, toArguments } from "./options.ts";

const help = `labwright mcp: serves MCP over stdin and stdout, for a host that starts it

It finds the Labwright daemon of its data directory, or starts it.

  --data-dir DIR     the folder of the server's data (LABWRIGHT_DATA_DIR)
  --config FILE      labwright.yaml (LABWRIGHT_CONFIG)
  --log-level LEVEL  trace, debug, info, warn, error, silent (LABWRIGHT_LOG_LEVEL)

It offers all tools, or what is asked for:
  --skills A,B       the tools of these skills (LABWRIGHT_SKILLS)
  --tools A,B        these tools, besides those of the skills (LABWRIGHT_TOOLS)
  --exclude-tools A  not these (LABWRIGHT_EXCLUDE_TOOLS)
  --read-only        only tools that change nothing (LABWRIGHT_READ_ONLY=true)

Examples:
  labwright mcp --read-only
  labwright install json     what a host's configuration takes
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
  try {
    serve(options, env);
  } catch (error) {
    if (!(error instanceof SubsetError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 2;
  }
}

function serve(options: BridgeOptions, env: Environment): void {
  const dataDir = dataDirectory(env, options.dataDir).path;
  serveBridge({
    catalogueFile: new URL("./catalogue.json", import.meta.url),
    dataDir,
    project: findProject(process.cwd()),
    command: daemonCommand({ ...options, dataDir }, env),
    // Asked at each search: the file may change while the bridge lives.
    config: () => configOf(options, env, dataDir),
    subset: {
      skills: namesIn(options.skills ?? listed(env.LABWRIGHT_SKILLS)),
      tools: namesIn(options.tools ?? listed(env.LABWRIGHT_TOOLS)),
      exclude: namesIn(options.exclude ?? listed(env.LABWRIGHT_EXCLUDE_TOOLS)),
      readOnly: options.readOnly ?? (Boolean(env.LABWRIGHT_READ_ONLY) && isOn(env.LABWRIGHT_READ_ONLY ?? "")),
    },
  });
}

const listed = (text: string | undefined): string[] => (text === undefined ? [] : [text]);

function parse(args: readonly string[]): BridgeOptions | undefined {
  try {
    return readBridgeOptions(args);
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

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { ControllerFactory } from "@labwright/controllers";
import { checkClaims } from "./config/claims.ts";
import { builtInFactories, notBuiltIn } from "./config/controllers.ts";
import { type DeviceSettings, resolveDevices, resolveModels } from "./config/devices.ts";
import {
  type EnvironmentSettings,
  type LogLevel,
  logLevelSchema,
  readEnvironment,
} from "./config/environment.ts";
import { configFile, dataDirectory, type Environment, isExposed } from "./config/places.ts";
import * as resolving from "./config/resolve.ts";
import { type ConfigFile, configFileSchema } from "./config/schema.ts";
import { secretVariablePrefix } from "./config/secretPlaceholder.ts";
import { type Problem, parseSource } from "./config/source.ts";
import { hostsNamedIn, requireTrust } from "./config/trust.ts";
import { ToolError } from "./errors.ts";
import { fileFailure } from "./fileFailure.ts";

export type { DeviceSettings } from "./config/devices.ts";
export type { LogLevel } from "./config/environment.ts";
export type { Environment } from "./config/places.ts";
export type { SecretSource } from "./config/resolve.ts";
export type { Problem } from "./config/source.ts";

import { schemaProblems } from "./domain/schemaProblems.ts";

/** Everything that is set from outside, validated, with defaults; all paths absolute. Read once, when a process starts. */
export type Config = {
  data_dir: string;
  /** Only then is the port 7333 by default. */
  is_default_data_dir: boolean;
  /** What was read, for comparing whose settings a running daemon has. */
  file: { path: string; sha256: string } | undefined;
  log_level: LogLevel;
  /** Given instead of a generated one. */
  token: string | undefined;
  /** `name` is always set; `port` only when someone asked for one. */
  server: Omit<ConfigFile["server"], "name"> & { name: string };
  devices: readonly DeviceSettings[];
  secrets: Readonly<Record<string, resolving.SecretSource>>;
  /** Where secrets without hosts of their own may go, this machine aside. */
  secret_hosts: readonly string[];
  folders: Record<"scripts" | "skills" | "uploads" | "artifacts" | "workspace", string>;
  web_server: ReturnType<typeof resolving.resolveWebServer>;
} & Pick<ConfigFile, "url_policy" | "limits" | "environments" | "unsafe" | "agents" | "matrix">;

export type ConfigOptions = {
  config?: string | undefined;
  data_dir?: string | undefined;
  log_level?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
};

/**
 * Reads labwright.yaml and the environment. Options win over the environment, which wins over the file. Throws
 * CONFIG_INVALID that names every problem at once with file, line and column, or the settings of a file in the working
 * directory for which its folder must be trusted.
 */
export function loadConfig(request: {
  command: string;
  options?: ConfigOptions;
  env: Environment;
  cwd: string;
  /** The drivers that devices may have; those of this build when left out. */
  factories?: readonly ControllerFactory[];
}): Config {
  const { command, options = {}, env, cwd, factories = builtInFactories } = request;
  const data = dataDirectory(env, options.data_dir);
  const path = configFile({ option: options.config, env, cwd, dataDir: data.path, command });
  const problems: Problem[] = [];
  const environment = readEnvironment(env, problems);
  const text = path === undefined ? "" : readText(path, problems);
  const parsed = parseFile(path ?? "defaults", text, factories, problems);
  const level = logLevelSchema.safeParse(options.log_level ?? environment.LABWRIGHT_LOG_LEVEL ?? "info");
  if (!level.success) problems.push({ file: "options", path: "log_level", message: "is not a log level" });
  if (parsed === undefined || !level.success) throw invalid(problems);

  const { file, written, report } = parsed;
  const own = configFile({ ...{ option: options.config, env, cwd }, dataDir: data.path, command: "mcp" });
  const isFound = path !== undefined && path !== own;
  const hosts = isFound ? requireTrust(path, written, data.path) : hostsNamedIn(written);
  const base = resolving.baseOf(path, cwd);
  const server = resolveServer(file, environment, options, base);
  checkExposure(server, report);
  checkClaims(file.devices, factories, report);
  const drivers = factories.map(({ name }) => name);
  const models = resolveModels(file, drivers, report);
  const secrets = secretNames(file, env);
  const config: Config = {
    data_dir: data.path,
    is_default_data_dir: data.isDefault,
    file: path === undefined ? undefined : { path, sha256: sha256(text) },
    log_level: level.data,
    token: environment.LABWRIGHT_TOKEN,
    server,
    devices: resolveDevices(file, { models, factories, written, secrets, report }),
    secrets: resolving.resolveSecrets(file, base),
    secret_hosts: [...hosts, ...(file.web_server ? [new URL(file.web_server.url).origin] : [])],
    folders: resolving.resolveFolders(file, data.path, base, environment.LABWRIGHT_SKILLS_DIR),
    ...(file.matrix && { matrix: file.matrix }),
    web_server: resolving.resolveWebServer(file, base),
    url_policy: file.url_policy,
    limits: file.limits,
    environments: file.environments,
    unsafe: file.unsafe,
    agents: resolving.resolveAgents(file, base),
  };
  if (problems.length > 0) throw invalid(problems);
  return config;
}

function readText(path: string, problems: Problem[]): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const file = fileFailure(error, path);
    const reason = error instanceof Error ? error.message : String(error);
    problems.push({
      file: path,
      path: "",
      message: `cannot be read: ${file ? `${file.message} ${file.hint}` : reason}`,
    });
    return "";
  }
}

function parseFile(path: string, text: string, factories: readonly ControllerFactory[], problems: Problem[]) {
  const source = parseSource(path, text);
  problems.push(...source.problems);
  if (source.problems.length > 0) return undefined;
  const schema = configFileSchema(factories);
  const parsed = schema.safeParse(source.value);
  if (!parsed.success) {
    for (const { path, message, key } of schemaProblems(parsed.error.issues, schema, () => undefined)) {
      const isDriver = key !== undefined && path.at(-1) === "controllers";
      const said = isDriver
        ? notBuiltIn(
            key,
            factories.map(({ name }) => name),
          )
        : message;
      problems.push(source.problem(path, said, key));
    }
    return undefined;
  }
  const report = (at: readonly PropertyKey[], message: string) => problems.push(source.problem(at, message));
  return { file: parsed.data, written: source.value, report };
}

const secretNames = (file: ConfigFile, env: Environment): string[] => [
  ...Object.keys(file.secrets),
  ...Object.keys(env).flatMap((name) =>
    name.startsWith(secretVariablePrefix) ? [name.slice(secretVariablePrefix.length)] : [],
  ),
];

function resolveServer(
  file: ConfigFile,
  environment: EnvironmentSettings,
  options: ConfigOptions,
  base: string,
): Config["server"] {
  return {
    ...file.server,
    name: file.server.name ?? machineName(hostname()),
    host: options.host ?? environment.LABWRIGHT_HOST ?? file.server.host,
    port: options.port ?? environment.LABWRIGHT_PORT ?? file.server.port,
    tls: resolving.resolveTls(file, base),
    database_url: environment.DATABASE_URL ?? file.server.database_url,
  };
}

function checkExposure(server: Config["server"], report: (path: string[], message: string) => void): void {
  if (!isExposed({ ...server, trustedProxy: server.trusted_proxy })) return;
  report(
    ["server", "host"],
    `"${server.host}" can be reached from other machines, so server.tls {cert, key} or server.trusted_proxy is needed`,
  );
}

/** A machine's name as a host name of ours: lower-case letters, digits and inner hyphens, at most 63. */
export function machineName(name: string): string {
  const clean = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 63)
    .replace(/^-+|-+$/g, "");
  return clean || "host";
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

function invalid(found: readonly Problem[]): ToolError {
  const problems = found.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
  const lines = problems.map(({ file, line, column, path, message }) => {
    const at = line === undefined ? file : `${file}:${line}:${column}`;
    return path === "" ? `${at}: ${message}` : `${at}: ${path}: ${message}`;
  });
  const count = problems.length === 1 ? "a problem" : `${problems.length} problems`;
  return new ToolError(
    "CONFIG_INVALID",
    `The configuration has ${count}:\n${lines.join("\n")}`,
    "Correct these lines and start again; `labwright doctor` checks without starting anything.",
    { problems },
  );
}

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { configFile, dataDirectory } from "../config/places.ts";
import { loadConfig } from "../config.ts";
import { ToolError } from "../errors.ts";
import { findDaemon } from "../server/bridge/findDaemon.ts";
import type { Attached } from "../server/bridge/link.ts";
import { type ProvenDaemon, requestDaemon } from "../server/daemonFile.ts";
import { secretHeaders } from "../server/http/clientHeaders.ts";
import { givenSecrets } from "../services/policy/secrets.ts";
import { isDataDirLocked } from "../storage/engine/lock.ts";
import { packageFolder } from "../storage/engine/packageFolder.ts";
import { type DaemonOptions, toArguments } from "./options.ts";
import type { Terminal } from "./terminal.ts";

/** Longer than a first start on a slow machine. */
const startMs = 60_000;

/**
 * The daemon of the data directory, found or started. A configuration that was named, or stands in the working
 * directory, must be the daemon's own: otherwise DAEMON_MISMATCH. Throws CONFIG_INVALID before anything starts. `secrets` are
 * those of this process's environment.
 */
export async function connectDaemon(
  options: DaemonOptions,
  terminal: Terminal,
  request: { command: string; client: string },
): Promise<Attached & { secrets: Record<string, string> }> {
  const { env, cwd } = terminal;
  const dataDir = dataDirectory(env, options.dataDir).path;
  const path = configFile({ option: options.config, env, cwd, dataDir, command: request.command });
  const { file, secrets } = loadConfig({
    command: request.command,
    options: { config: options.config, data_dir: options.dataDir, log_level: options.logLevel },
    env,
    cwd,
  });
  const usual = configFile({ env, cwd, dataDir, command: "mcp" });
  const attached = await findDaemon({
    dataDir,
    client: request.client,
    command: [
      process.execPath,
      join(packageFolder(), "dist", "daemon.js"),
      ...toArguments({ dataDir, config: path === usual ? options.config : path, logLevel: options.logLevel }),
      "--until-idle",
    ],
    deadlineMs: startMs,
    isLocked: isDataDirLocked,
    config: { path, hash: file?.sha256 ?? "", named: path !== usual || options.config !== undefined },
    ...ownBuild(),
  });
  return Object.assign(attached, { secrets: givenSecrets(secrets, env) });
}

const catalogueSchema = z.object({ build: z.object({ hash: z.string(), at: z.string() }) });

/** The build this command is part of; nothing when there is none. */
function ownBuild(): { build?: { hash: string; at: string } } {
  try {
    const text = readFileSync(join(packageFolder(), "dist", "catalogue.json"), "utf8");
    return catalogueSchema.parse(JSON.parse(text));
  } catch {
    return {};
  }
}

const answerSchema = z.union([
  z.object({
    success: z.literal(true),
    result: z.record(z.string(), z.unknown()),
    artifacts: z
      .array(z.object({ name: z.string(), uri: z.string(), href: z.string(), mime_type: z.string() }))
      .optional(),
    trace_id: z.string(),
  }),
  z.object({
    success: z.literal(false),
    error: z.object({
      code: z.string(),
      message: z.string(),
      hint: z.string().default(""),
      details: z.record(z.string(), z.unknown()),
      trace_id: z.string(),
    }),
  }),
]);

export type ToolAnswer =
  | { ok: true; structured: Record<string, unknown>; trace_id: string }
  | {
      ok: false;
      error: {
        code: string;
        message: string;
        hint: string;
        details: Record<string, unknown>;
        trace_id: string;
      };
    };

/**
 * Calls a tool through the daemon's REST interface, under the trace of TRACEPARENT if there is one. Rejects when the
 * daemon cannot be reached or goes away; aborting `signal` cancels the call there.
 */
export async function callTool(
  daemon: ProvenDaemon,
  request: {
    name: string;
    arguments: Record<string, unknown>;
    client: string;
    project?: string | undefined;
    secrets?: Readonly<Record<string, string>> | undefined;
    traceparent?: string | undefined;
    signal: AbortSignal;
  },
): Promise<ToolAnswer> {
  const response = await requestDaemon(daemon, `/api/v1/tools/${encodeURIComponent(request.name)}`, {
    method: "POST",
    client: request.client,
    project: request.project,
    headers: {
      ...secretHeaders(request.secrets ?? {}),
      "content-type": "application/json",
      ...(request.traceparent && { traceparent: request.traceparent }),
    },
    body: JSON.stringify(request.arguments),
    signal: request.signal,
  });
  const answer = answerSchema.parse(await response.json());
  return answer.success
    ? { ok: true, structured: answer.result, trace_id: answer.trace_id }
    : { ok: false, error: answer.error };
}

/** The bytes behind `artifact://<sha256>`. */
export async function fetchArtifact(daemon: ProvenDaemon, uri: string, client: string): Promise<Uint8Array> {
  const sha256 = uri.replace(/^artifact:\/\//, "");
  const path = `/api/v1/artifacts/${encodeURIComponent(sha256)}`;
  const response = await requestDaemon(daemon, path, { client });
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  const answer = answerSchema.parse(await response.json());
  const reason = answer.success ? `status ${response.status}` : answer.error.message;
  throw new ToolError(
    "ARTIFACT_NOT_FOUND",
    `${uri} cannot be read: ${reason}`,
    "Run it again with --report.",
  );
}

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { clientHeader, projectHeader } from "./http/clientHeaders.ts";

/**
 * `daemon.json` in the data directory, mode 0600: where the daemon that owns it is and which one it is. `port` is the
 * plain port on 127.0.0.1; `started_at` and `build.at` are ISO 8601 UTC.
 */
export const daemonFileSchema = z.object({
  pid: z.int().positive(),
  started_at: z.string(),
  port: z.int().positive(),
  token: z.string(),
  version: z.string(),
  build: z.object({ hash: z.string(), at: z.string() }),
  config: z.object({ path: z.string().optional(), hash: z.string() }),
});
export type DaemonFile = z.output<typeof daemonFileSchema>;

const pathOf = (dataDir: string) => join(dataDir, "daemon.json");

/** Undefined when there is none, or one that is half written or of another version. It may name a dead daemon. */
export function readDaemonFile(dataDir: string): DaemonFile | undefined {
  try {
    const parsed = daemonFileSchema.safeParse(JSON.parse(readFileSync(pathOf(dataDir), "utf8")));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all: a reader never sees half of it. */
export function writeDaemonFile(dataDir: string, file: DaemonFile): void {
  const temporary = `${pathOf(dataDir)}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, pathOf(dataDir));
}

/** Only its own: another daemon may have written it since. */
export function removeDaemonFile(dataDir: string, pid: number): void {
  if (readDaemonFile(dataDir)?.pid === pid) rmSync(pathOf(dataDir), { force: true });
}

export const daemonUrl = (file: DaemonFile, path: string): URL =>
  new URL(path, `http://127.0.0.1:${file.port}`);

/** `project` is the folder whose names the client means. */
export const daemonHeaders = (
  file: DaemonFile,
  client: string,
  project?: string,
): Record<string, string> => ({
  authorization: `Bearer ${file.token}`,
  [clientHeader]: client,
  ...(project !== undefined && { [projectHeader]: encodeURIComponent(project) }),
});

/** A daemon that proved its token to this process, for as long as the connection to it lasts. */
export type ProvenDaemon = { file: DaemonFile; lost: AbortSignal };

/** One HTTP request to it. Rejects once the connection ended: another program may have its port now. */
export async function requestDaemon(
  { file, lost }: ProvenDaemon,
  path: string,
  { client, project, ...init }: RequestInit & { client: string; project?: string | undefined },
): Promise<Response> {
  if (lost.aborted) throw new Error(`The daemon (pid ${file.pid}) has ended.`);
  const headers = new Headers({ ...daemonHeaders(file, client, project) });
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
  return fetch(daemonUrl(file, path), { ...init, headers });
}

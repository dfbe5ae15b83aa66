import { dirname, join, resolve } from "node:path";
import type { ConfigFile } from "./schema.ts";

/** Where a secret's value comes from, and where it may go. */
export type SecretSource = ({ env: string } | { file: string }) & {
  hosts?: readonly string[] | undefined;
  fields?: "password" | "any" | undefined;
};

/** Absolute folders: those of the file are relative to it, the others are in the data directory. */
export function resolveFolders(file: ConfigFile, dataDir: string, base: string, skillsDir?: string) {
  const own = (name: string, given: string | undefined) =>
    given === undefined ? join(dataDir, name) : resolve(base, given);
  return {
    scripts: own("scripts", file.folders.scripts),
    skills: skillsDir === undefined ? own("skills", file.folders.skills) : resolve(skillsDir),
    uploads: own("uploads", file.folders.uploads),
    artifacts: own("artifacts", file.folders.artifacts),
    workspace: own("workspace", file.folders.workspace),
  };
}

export function resolveSecrets(file: ConfigFile, base: string): Record<string, SecretSource> {
  const sources = Object.entries(file.secrets).map(([name, source]): [string, SecretSource] => [
    name,
    "file" in source ? { ...source, file: resolve(base, source.file) } : source,
  ]);
  return Object.fromEntries(sources);
}

export function resolveTls(file: ConfigFile, base: string) {
  const { tls } = file.server;
  return tls && { cert: resolve(base, tls.cert), key: resolve(base, tls.key) };
}

/** Files with the tokens of remotes are absolute. */
export const resolveAgents = ({ agents }: ConfigFile, base: string): ConfigFile["agents"] => ({
  ...agents,
  remotes: agents.remotes.map(({ token, ...remote }) => ({
    ...remote,
    token: "file" in token ? { file: resolve(base, token.file) } : token,
  })),
});

/** Its folder is absolute. */
export const resolveWebServer = ({ web_server: server }: ConfigFile, base: string) =>
  server && { ...server, folder: resolve(base, server.folder ?? ".") };

export const baseOf = (path: string | undefined, cwd: string) => (path === undefined ? cwd : dirname(path));

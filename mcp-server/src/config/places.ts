import { existsSync, realpathSync, statSync } from "node:fs";
import { BlockList, isIP } from "node:net";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Commands that also read `labwright.yaml` in the working directory. `mcp` never does: hosts start it anywhere. */
const workingDirectoryCommands: ReadonlySet<string> = new Set([
  ...["run", "serve", "demo", "call", "list", "doctor"],
  ...["init", "import", "export", "lint", "keep"],
]);

/** The folder of everything kept between runs, as an absolute path; not created here. */
export function dataDirectory(env: Environment, option?: string): { path: string; isDefault: boolean } {
  const given = option ?? env.LABWRIGHT_DATA_DIR;
  const usual = defaultDataDirectory(env, process.platform);
  const path = given ? resolve(given) : usual;
  return { path, isDefault: path === usual };
}

export function defaultDataDirectory(env: Environment, platform: NodeJS.Platform): string {
  const home = env.HOME || homedir();
  if (platform === "darwin") return join(home, "Library", "Application Support", "labwright");
  if (platform === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), "labwright");
  // The XDG specification: a relative path is to be ignored.
  const data = env.XDG_DATA_HOME?.startsWith("/") ? env.XDG_DATA_HOME : join(home, ".local", "share");
  return join(data, "labwright");
}

/**
 * The configuration file of a command, as an absolute path, or undefined for none: the option, else LABWRIGHT_CONFIG,
 * else `labwright.yaml` in the working directory (for commands that look there), else in the data directory. A file that
 * was named is given back whether it exists or not.
 */
export function configFile(places: {
  option?: string | undefined;
  env: Environment;
  cwd: string;
  dataDir: string;
  command: string;
}): string | undefined {
  const named = places.option ?? (places.env.LABWRIGHT_CONFIG || undefined);
  if (named !== undefined) return resolve(places.cwd, named);
  const folders = workingDirectoryCommands.has(places.command)
    ? [places.cwd, places.dataDir]
    : [places.dataDir];
  return folders.map((folder) => join(folder, "labwright.yaml")).find((file) => existsSync(file));
}

/** The folder of a project that has its apps and tests. */
export const projectFiles = "labwright";

/** Files of Gherkin: tests that are read and never written. */
export const isFeature = (file: string): boolean => /\.feature$/i.test(file);

export const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The project that a folder is in, or the folder itself, whose files may be named one by one. */
export const projectAt = (folder: string): string => findProject(folder) ?? realpathSync(folder);

/** The project that a folder is in: the nearest one at or above it that has apps or tests. Undefined in none. */
export function findProject(folder: string): string | undefined {
  let at = resolve(folder);
  for (;;) {
    const own = join(at, projectFiles);
    if (isFolder(join(own, "apps")) || isFolder(join(own, "tests"))) return realpathSync(at);
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
}

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for addresses that only this machine can reach; a name other than `localhost` may be anywhere. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  if (bare === "localhost") return true;
  const family = isIP(bare);
  return family !== 0 && loopback.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/** Beyond loopback without a certificate or a named proxy, the token could be read on its way. */
export const isExposed = (server: { host: string; tls?: unknown; trustedProxy?: unknown }): boolean =>
  !isLoopback(server.host) && !server.tls && !server.trustedProxy;

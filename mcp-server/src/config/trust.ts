import { createHash } from "node:crypto";
import { readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ToolError } from "../errors.ts";
import { dataDirProblem, makeDataDir } from "./dataDir.ts";
import { parseSource } from "./source.ts";

/** Settings that need no trust: none of them starts a program, reads a file, or opens a connection. */
const harmlessKeys: ReadonlySet<string> = new Set(["devices", "models", "environments", "matrix"]);
const harmlessSettings: Readonly<Record<string, readonly string[] | "all">> = {
  web: [
    ...["browser", "headless", "channel", "viewport", "locale", "timezone", "user_agent"],
    "ignore_https_errors",
  ],
  android: ["serial", "backend"],
  appium: ["preset", "link_schemes"],
  text: ["languages"],
  video: ["languages"],
  picture_ui: ["languages", "references"],
  simulated: "all",
  simulated_capture: "all",
  simulated_infrared: "all",
};

/** Limits that delete what is stored, of other folders too. */
const deletingLimits: ReadonlySet<string> = new Set(["artifact_days", "artifact_mb", "audit_days"]);

type Part = { path: string; value: unknown };

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

/** The settings of a file, as it was parsed, for which its folder must be trusted; in their order there. */
function partsToTrust(file: unknown): Part[] {
  return entriesOf(file).flatMap(([key, value]) => {
    if (key === "devices") return entriesOf(value).flatMap(([index, device]) => partsOfDevice(index, device));
    if (key === "limits")
      return entriesOf(value).flatMap(([name, value]) =>
        deletingLimits.has(name) ? [{ path: `limits.${name}`, value }] : [],
      );
    return harmlessKeys.has(key) ? [] : [{ path: key, value }];
  });
}

function partsOfDevice(index: string, device: unknown): Part[] {
  const controllers = entriesOf(device).flatMap(([key, value]) =>
    key === "controllers" ? entriesOf(value) : [],
  );
  return controllers.flatMap(([driver, settings]) => {
    const harmless = Object.hasOwn(harmlessSettings, driver) ? (harmlessSettings[driver] ?? []) : [];
    return entriesOf(settings).flatMap(([name, value]) =>
      harmless === "all" || harmless.includes(name)
        ? []
        : [{ path: `devices[${index}].controllers.${driver}.${name}`, value }],
    );
  });
}

/**
 * Hosts, as in `secrets.<name>.hosts`, that the environments of a file name, as it was parsed: their `urls` without a path, and
 * addresses among their variables. A pattern of every host names none.
 */
export function hostsNamedIn(file: unknown): string[] {
  const environments = entriesOf(file).filter(([key]) => key === "environments");
  const values = environments
    .flatMap(([, value]) => entriesOf(value))
    .flatMap(([, environment]) => entriesOf(environment))
    .flatMap(([key, value]) => entriesOf(value).map(([, one]) => [key, one] as const));
  const hosts = values.flatMap(([key, value]) => {
    if (typeof value !== "string" || (key !== "urls" && key !== "variables")) return [];
    if (key === "variables")
      return /^https?:/.test(value) && URL.canParse(value) ? [new URL(value).origin] : [];
    return [value.replace(/^([^:/]*:\/\/[^/?#]*).*$/s, "$1")];
  });
  const isEvery = (host: string) => /^[*.]*(:[\d*]+)?$|\/0+$/.test(host.replace(/^.*:\/\//, ""));
  return [...new Set(hosts)].filter((host) => !isEvery(host)).sort();
}

type Trusted = { parts: readonly Part[]; hosts: readonly string[] };
const trustedIn = (file: unknown): Trusted => ({ parts: partsToTrust(file), hosts: hostsNamedIn(file) });

const hashOf = (value: unknown) => createHash("sha256").update(JSON.stringify(value)).digest("hex");
/** Of the settings, then of the hosts: after a change of hosts no command stops, but secrets no longer go there. */
const recordOf = ({ parts, hosts }: Trusted) => `${hashOf(parts)} ${hashOf(hosts)}`;
const settingsOf = (record: string | undefined) => record?.split(" ")[0];

/** By the real path of a folder: {@link recordOf} what a person trusted there. */
const trustSchema = z.record(z.string(), z.string());
type Trust = z.output<typeof trustSchema>;
const fileOf = (dataDir: string) => join(dataDir, "trust.json");

function readTrust(dataDir: string): Trust {
  if (dataDirProblem(dataDir)) return {};
  try {
    return trustSchema.parse(JSON.parse(readFileSync(fileOf(dataDir), "utf8")));
  } catch {
    return {};
  }
}

function writeTrust(dataDir: string, trust: Trust): void {
  const problem = dataDirProblem(dataDir);
  if (problem) throw new ToolError("CONFIG_INVALID", problem.message, problem.hint);
  makeDataDir(dataDir);
  const draft = `${fileOf(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(trust, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, fileOf(dataDir));
}

/**
 * Throws CONFIG_INVALID for a file, found in a working directory, whose settings were not trusted as they are now. Returns the
 * {@link hostsNamedIn} it that were.
 */
export function requireTrust(file: string, value: unknown, dataDir: string): readonly string[] {
  const { parts, hosts } = trustedIn(value);
  const folder = realpathSync(dirname(file));
  const trusted = readTrust(dataDir)[folder];
  if (parts.length === 0 || settingsOf(trusted) === hashOf(parts))
    return trusted === recordOf({ parts, hosts }) ? hosts : [];
  const paths = parts.map(({ path }) => path);
  throw new ToolError(
    "CONFIG_INVALID",
    `${file} sets ${paths.join(", ")}, ${trusted === undefined ? "and its folder is not trusted" : "which changed since its folder was trusted"}.`,
    "Read these settings: they can run programs, read secrets and open connections. If you trust them, run labwright trust in that folder; in CI add --trust-config.",
    { untrusted: paths },
  );
}

/** Trusts the labwright.yaml of a folder as it is now. Returns what needed it. Throws CONFIG_INVALID without a file. */
export function trustFolder(folder: string, dataDir: string): string[] {
  const now = readTrusted(folder);
  if (now === undefined)
    throw new ToolError(
      "CONFIG_INVALID",
      `There is no labwright.yaml to read in ${folder}.`,
      "Name its folder.",
    );
  const paths = [...now.parts.map(({ path }) => path), ...now.hosts.map((host) => `secrets at ${host}`)];
  if (paths.length > 0) writeTrust(dataDir, { ...readTrust(dataDir), [realpathSync(folder)]: recordOf(now) });
  return paths;
}

/** Undefined without a file that can be read. */
function readTrusted(folder: string): Trusted | undefined {
  try {
    const file = join(folder, "labwright.yaml");
    const { value, problems } = parseSource(file, readFileSync(file, "utf8"));
    return problems.length === 0 ? trustedIn(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The settings of a folder's labwright.yaml that need trust, in their order there; undefined without a file that can be read. */
export const settingsToTrust = (folder: string): string[] | undefined =>
  readTrusted(folder)?.parts.map(({ path }) => path);

/** Every trusted folder, in the order of trust; `isCurrent`: its settings are still those that were trusted. */
export const trustedFolders = (dataDir: string): { folder: string; isCurrent: boolean }[] =>
  Object.entries(readTrust(dataDir)).map(([folder, record]) => ({
    folder,
    isCurrent: settingsOf(record) === hashOf(readTrusted(folder)?.parts ?? []),
  }));

/** False when it was not trusted. `folder` may be gone. */
export function untrustFolder(folder: string, dataDir: string): boolean {
  const { [folder]: known, ...others } = readTrust(dataDir);
  if (known !== undefined) writeTrust(dataDir, others);
  return known !== undefined;
}

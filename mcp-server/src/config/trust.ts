import { createHash } from "node:crypto";
import { readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { ToolError } from "../errors.ts";
import { dataDirProblem, makeDataDir } from "./dataDir.ts";
import { parseSource } from "./source.ts";

/** Settings that need no trust: none of them starts a program, reads a file, or opens a connection. */
const harmlessKeys: ReadonlySet<string> = new Set(["devices", "models", "environments", "limits", "matrix"]);
const harmlessSettings: Readonly<Record<string, readonly string[] | "all">> = {
  web: [
    ...["browser", "headless", "channel", "viewport", "locale", "timezone", "user_agent"],
    "ignore_https_errors",
  ],
  android: ["serial", "backend"],
  appium: ["preset", "link_schemes"],
  simulated: "all",
  simulated_capture: "all",
  simulated_infrared: "all",
};

type Part = { path: string; value: unknown };

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

/** The settings of a file, as it was parsed, for which its folder must be trusted; in their order there. */
function partsToTrust(file: unknown): Part[] {
  return entriesOf(file).flatMap(([key, value]) => {
    if (key === "devices") return entriesOf(value).flatMap(([index, device]) => partsOfDevice(index, device));
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

const hashOf = (parts: readonly Part[]) => createHash("sha256").update(JSON.stringify(parts)).digest("hex");

/** By the real path of a folder: the hash of the settings that a person trusted there. */
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

/** Throws CONFIG_INVALID for a file, found in a working directory, whose settings were not trusted as they are now. */
export function requireTrust(file: string, value: unknown, dataDir: string): void {
  const parts = partsToTrust(value);
  const folder = realpathSync(dirname(file));
  const trusted = readTrust(dataDir)[folder];
  if (parts.length === 0 || trusted === hashOf(parts)) return;
  const paths = parts.map(({ path }) => path);
  throw new ToolError(
    "CONFIG_INVALID",
    `${file} sets ${paths.join(", ")}, ${trusted === undefined ? "and its folder is not trusted" : "which changed since its folder was trusted"}.`,
    "Read these settings: they can run programs, read secrets and open connections. If you trust them, run labwright trust in that folder; in CI add --trust-config.",
    { untrusted: paths },
  );
}

/** Trusts the labwright.yaml of a folder as it is now. Returns the settings that needed it. Throws CONFIG_INVALID without a file. */
export function trustFolder(folder: string, dataDir: string): string[] {
  const parts = partsOf(folder);
  if (parts === undefined)
    throw new ToolError(
      "CONFIG_INVALID",
      `There is no labwright.yaml to read in ${folder}.`,
      "Name its folder.",
    );
  if (parts.length > 0) writeTrust(dataDir, { ...readTrust(dataDir), [realpathSync(folder)]: hashOf(parts) });
  return parts.map(({ path }) => path);
}

/** Undefined without a file that can be read. */
function partsOf(folder: string): Part[] | undefined {
  try {
    const file = join(folder, "labwright.yaml");
    const { value, problems } = parseSource(file, readFileSync(file, "utf8"));
    return problems.length === 0 ? partsToTrust(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The settings of a folder's labwright.yaml that need trust, in their order there; undefined without a file that can be read. */
export const settingsToTrust = (folder: string): string[] | undefined =>
  partsOf(folder)?.map(({ path }) => path);

/** Every trusted folder, in the order of trust; `isCurrent`: its settings are still those that were trusted. */
export const trustedFolders = (dataDir: string): { folder: string; isCurrent: boolean }[] =>
  Object.entries(readTrust(dataDir)).map(([folder, hash]) => ({
    folder,
    isCurrent: hashOf(partsOf(folder) ?? []) === hash,
  }));

/** False when it was not trusted. `folder` may be gone. */
export function untrustFolder(folder: string, dataDir: string): boolean {
  const { [folder]: known, ...others } = readTrust(dataDir);
  if (known !== undefined) writeTrust(dataDir, others);
  return known !== undefined;
}

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { InstalledAddons } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { installInto, type Progress } from "./install.ts";

/** `part` is what a user sets it up by: `labwright setup <part>`. `start` is a program of it that a user starts. */
export type Addon = { name: string; part: string; start?: string | undefined };

/**
 * Packages that only the devices of a few users need: each has a package.json and a lockfile of its own, is
 * installed into the data directory, and is loaded by its path when it is used.
 */
export type Addons = InstalledAddons & {
  /** All that this build can install, by name. */
  list(): readonly Addon[];
  /** Atomic. Throws ADDON_INSTALL_FAILED with npm's own words, COMMAND_TIMEOUT when `signal` aborts. */
  install(name: string, options: { signal: AbortSignal; progress: Progress }): Promise<void>;
};

const packageSchema = z.object({
  main: z.string(),
  labwright: z.object({ part: z.string(), start: z.string().optional() }),
});
const hashLength = 16;

/** `shipped` has a folder for each add-on of this build; `installed` is where they are installed, made when needed. */
export function createAddons({ shipped, installed }: { shipped: string; installed: string }): Addons {
  const list = () =>
    foldersIn(shipped)
      .filter((name) => existsSync(join(shipped, name, "package.json")))
      .map((name) => ({ name, ...readPackage(join(shipped, name)).labwright }));
  const get = (name: string) => {
    const addon = list().find((one) => one.name === name);
    if (addon) return addon;
    throw new Error(`This build has no add-on ${name}`);
  };
  /** Named by what it was made of: another build of the add-on is another folder. */
  const target = ({ name }: Addon) => join(installed, name, hashOf(join(shipped, name)));
  const state = (name: string) => {
    if (existsSync(target(get(name)))) return "installed";
    return foldersIn(join(installed, name)).length > 0 ? "outdated" : "missing";
  };
  const folder = (name: string) => {
    const addon = get(name);
    const found = state(name);
    if (found === "installed") return target(addon);
    const problem = found === "missing" ? "is not installed" : "is installed for another build";
    const install = `labwright setup ${addon.part}`;
    throw new DeviceError("ADDON_MISSING", `The add-on ${name} ${problem}. Run: ${install}`, {
      addon: name,
      install,
    });
  };
  return {
    list,
    state,
    folder,
    async load(name) {
      const place = folder(name);
      const entry = pathToFileURL(join(place, readPackage(place).main)).href;
      try {
        return await import(entry);
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        throw new DeviceError(
          "ADDON_UNUSABLE",
          `The add-on ${name} does not load: ${message.split("\n", 1)[0]}. Remove ${place} and run: labwright setup ${get(name).part}`,
          { addon: name },
          { cause },
        );
      }
    },
    async install(name, { signal, progress }) {
      const addon = get(name);
      if (state(name) === "installed") return progress(`${name}: installed`);
      await installInto(target(addon), { name, from: join(shipped, name), signal, progress });
    },
  };
}

const readPackage = (folder: string) =>
  packageSchema.parse(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));

/** Not those that an install is still working in. */
function foldersIn(path: string): string[] {
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();
}

/** Of all that an add-on is made of: its lockfile and its own code. */
function hashOf(folder: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort())
    hash.update(relative(folder, file)).update("\0").update(readFileSync(file));
  return hash.digest("hex").slice(0, hashLength);
}

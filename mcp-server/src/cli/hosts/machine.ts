import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { posix, win32 } from "node:path";
import type { Environment } from "../../config/places.ts";

/** Whose hosts are looked at. `folders` names the folders in a folder, none when it is not there. */
export type Machine = {
  platform: NodeJS.Platform;
  home: string;
  env: Environment;
  cwd: string;
  folders(parent: string): string[];
};

/** The machine of this process, with the home and the settings that `env` names. */
export function thisMachine(env: Environment, cwd: string): Machine {
  const home = (process.platform === "win32" ? env.USERPROFILE : env.HOME) || homedir();
  return { platform: process.platform, home, env, cwd, folders };
}

function folders(parent: string): string[] {
  try {
    return readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}

/** Joins as the machine does, which need not be this one. */
export function join(machine: Machine, ...parts: string[]): string {
  return (machine.platform === "win32" ? win32 : posix).join(...parts);
}

/**
 * Where programs keep what belongs to the user: `%APPDATA%` on Windows, `~/Library/Application Support` on macOS, else the
 * XDG configuration home. An XDG path that is relative is to be ignored.
 */
export function applicationFolder(machine: Machine): string {
  const { platform, home, env } = machine;
  if (platform === "win32") return env.APPDATA || join(machine, home, "AppData", "Roaming");
  if (platform === "darwin") return join(machine, home, "Library", "Application Support");
  return xdgConfig(machine);
}

/** `%APPDATA%` on Windows, else `.config` in the home, on macOS too; XDG_CONFIG_HOME counts. */
export function configFolder(machine: Machine): string {
  return machine.platform === "win32" ? applicationFolder(machine) : xdgConfig(machine);
}

function xdgConfig(machine: Machine): string {
  const named = machine.env.XDG_CONFIG_HOME;
  return named?.startsWith("/") ? named : join(machine, machine.home, ".config");
}

/** `%LOCALAPPDATA%`. */
export function localFolder(machine: Machine): string {
  return machine.env.LOCALAPPDATA || join(machine, machine.home, "AppData", "Local");
}

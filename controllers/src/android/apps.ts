import type { AppSource, InstalledApp } from "../contract.ts";
import type { AndroidDevice } from "./device.ts";

/** Those that somebody installed come before those of the system. */
const listing = ["-3", "-s"].map((which) => `pm list packages --show-versioncode ${which}`).join("; ");

export const createApps = (device: AndroidDevice): AppSource => ({
  installedApps: async (signal) => ({ apps: await listApps(device, signal) }),
});

/** Every package, once. The version is its code: names of versions would cost a call for each. */
export async function listApps(device: AndroidDevice, signal: AbortSignal): Promise<InstalledApp[]> {
  const { stdout } = await device.link().script(listing, signal);
  const apps = new Map<string, InstalledApp>();
  for (const [, id = "", version] of stdout.matchAll(/^package:(\S+?)(?: versionCode:(\d+))?\s*$/gm))
    apps.set(id, { id, ...(version !== undefined && { version }) });
  return [...apps.values()];
}

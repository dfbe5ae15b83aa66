import type { AppSource, InstalledApp } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { AndroidDevice } from "./device.ts";

/**
 * Of the user in front, those that somebody installed before those of the system. For all users the shell may not ask where a
 * work profile or a secure folder is (appium-uiautomator2-driver, issue 810).
 */
const listing = ["-3", "-s"]
  .map((which) => `pm list packages --show-versioncode ${which} --user $(am get-current-user)`)
  .join("; ");

export const createApps = (device: AndroidDevice): AppSource => ({
  installedApps: async (signal) => ({ apps: await listApps(device, signal) }),
});

/** Every package, once. The version is its code: names of versions would cost a call for each. Throws DEVICE_ERROR. */
export async function listApps(device: AndroidDevice, signal: AbortSignal): Promise<InstalledApp[]> {
  const { stdout, stderr } = await device.link().script(listing, signal);
  const apps = new Map<string, InstalledApp>();
  for (const [, id = "", version] of stdout.matchAll(/^package:(\S+?)(?: versionCode:(\d+))?\s*$/gm))
    apps.set(id, { id, ...(version !== undefined && { version }) });
  // Not even a device without apps of its owner's has none of the system.
  if (apps.size === 0)
    throw new DeviceError(
      "DEVICE_ERROR",
      `The device did not list its apps: ${stderr.trim().slice(0, 300) || "it said nothing"}. Try again when it has started.`,
    );
  return [...apps.values()];
}

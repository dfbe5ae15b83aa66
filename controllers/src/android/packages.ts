import type { AppSource, InstalledApp } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { commandLine } from "./adb/quote.ts";
import type { AndroidDevice } from "./device.ts";

/** Of the current user only: the shell may not list a work profile's apps (appium-uiautomator2-driver, issue 810). */
const listing = ["-3", "-s"]
  .map((which) => `pm list packages --show-versioncode ${which} --user $(am get-current-user)`)
  .join("; ");

export const createApps = (device: AndroidDevice): AppSource => ({
  installedApps: async (signal) => ({ apps: await listApps(device, signal) }),
});

/** Every package once. `version` is the version code: version names would cost a call each. Throws DEVICE_ERROR. */
export async function listApps(device: AndroidDevice, signal: AbortSignal): Promise<InstalledApp[]> {
  const { stdout, stderr } = await device.link().script(listing, signal);
  const apps = new Map<string, InstalledApp>();
  for (const [, id = "", version] of stdout.matchAll(/^package:(\S+?)(?: versionCode:(\d+))?\s*$/gm))
    apps.set(id, { id, ...(version !== undefined && { version }) });
  // Every device has apps of the system.
  if (apps.size === 0)
    throw new DeviceError(
      "DEVICE_ERROR",
      `The device did not list its apps: ${stderr.trim().slice(0, 300) || "it said nothing"}. Try again when it has started.`,
    );
  return [...apps.values()];
}

const mostBytes = 16_000_000;

/** The package manager's text about one app; it also answers for an app that is not installed. */
export async function describePackage(
  device: AndroidDevice,
  id: string,
  signal: AbortSignal,
): Promise<string> {
  const { stdout } = await device
    .link()
    .script(commandLine(["dumpsys", "package", id]), signal, { mostBytes });
  return stdout;
}

export function permissionsIn(text: string): { name: string; isGranted: boolean }[] {
  const requested = /^( *)requested permissions:\n((?:\1 +\S.*\n)*)/m.exec(text)?.[2] ?? "";
  const grants = [...text.matchAll(/^ +([^\s:]+): granted=(true|false)/gm)];
  return [...requested.matchAll(/^ +([^\s:]+)/gm)].map(([, name = ""]) => {
    const first = grants.find(([, granted]) => granted === name);
    return { name, isGranted: first?.[2] === "true" };
  });
}

export const versionIn = (text: string): string | undefined =>
  /^ *versionName=(.*)$/m.exec(text)?.[1]?.trim();

/**
 * The schemes of links that an app declares, in lower case:
 *
 *     Schemes:
 *         shop:
 *           a1b2 com.example.shop/.Main filter c3d4
 */
export function schemesIn(text: string): string[] {
  // Receivers of broadcasts are listed after the activities.
  const [activities = ""] = text.split(/^Receiver Resolver Table:/m, 1);
  const start = /^( *)Schemes:\n/m.exec(activities);
  if (start === null) return [];
  const margin = (start[1] ?? "").length;
  const schemes: string[] = [];
  for (const line of activities.slice(start.index + start[0].length).split("\n")) {
    const [, blanks = "", word] = /^( *)(?:([A-Za-z][\w+.-]*):$)?/.exec(line) ?? [];
    if (blanks.length <= margin) break;
    if (word !== undefined) schemes.push(word.toLowerCase());
  }
  return schemes;
}

export const processLine: readonly string[] = ["ps", "-A", "-o", "NAME"];

/** Undefined if the device lists no processes. Further processes of an app look like `com.example.shop:player`. */
export function runsIn(names: string, id: string): boolean | undefined {
  const lines = names.split("\n").map((line) => line.trim());
  if (!lines.includes("NAME")) return undefined;
  return lines.some((name) => name === id || name.startsWith(`${id}:`));
}

/** android.media.session.PlaybackState. */
const playStates: readonly string[] = [
  ...["none", "stopped", "paused", "playing", "fast forwarding", "rewinding", "buffering", "error"],
  ...["connecting", "skipping back", "skipping on", "skipping"],
];

/**
 * The media sessions of apps, as `dumpsys media_session` lists them. A state is `PlaybackState {state=3, …`, since Android 12
 * also `{state=PLAYING(3), …`; a session without one has played nothing yet.
 */
export function sessionsIn(text: string): { packageName: string; state: string }[] {
  const [, ...parts] = text.split(/^\s*package=/m);
  return parts.map((part) => {
    const number = /PlaybackState ?\{state=(?:\w+\()?(\d+)/.exec(part)?.[1];
    return {
      packageName: /^[\w.]*/.exec(part)?.[0] ?? "",
      state: playStates[Number(number ?? 0)] ?? "unknown",
    };
  });
}

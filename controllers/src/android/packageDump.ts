import { commandLine } from "./adb/quote.ts";
import type { AndroidDevice } from "./device.ts";

const mostBytes = 16_000_000;

/** What the package manager says of one app; it says that it cannot find one that is not installed. */
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

/** The permissions that an app requests, and whether each is granted to the first user. */
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
  // Receivers of broadcasts are listed behind the activities.
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

import type { AdbVersion } from "../../programs/adb.ts";
import { serverVersion } from "./devices.ts";

/** Why the program is not used, and what a person can do. */
export type OtherVersion = { why: string; fix: string };

/**
 * The program adb ends a server of another version than its own and starts one in its place, so it must not meet the user's.
 * Undefined where both are of one version. Throws ADB_SERVER_DOWN.
 */
export async function findOtherVersion(
  port: number,
  { path, number }: AdbVersion,
  signal: AbortSignal,
): Promise<OtherVersion | undefined> {
  const server = await serverVersion(port, signal);
  if (server === number) return undefined;
  return {
    why: `the adb server is of version 1.0.${server} and ${path} of 1.0.${number}, which would end it`,
    fix: "Put the adb that started the server first on the PATH, or run: adb kill-server",
  };
}

/** As {@link findOtherVersion} does; undefined also where no server answers. */
export const otherVersionAt: typeof findOtherVersion = (port, adb, signal) =>
  findOtherVersion(port, adb, signal).catch(() => undefined);

import { DeviceError } from "../../errors.ts";
import { type AdbVersion, startAdbServer } from "../../programs/adb.ts";
import { SharedWork } from "../../waiting/sharedWork.ts";
import { serverVersion } from "./devices.ts";

const usualPort = 5037;

/** The port of the user's adb server: that of the settings, else of the environment, else the usual one. */
export function serverPort(
  setting: number | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): number {
  const named = Number(env.ANDROID_ADB_SERVER_PORT);
  return setting ?? (Number.isInteger(named) && named > 0 && named < 65_536 ? named : usualPort);
}

const starting = new Map<number, SharedWork<void>>();

/** Starts the adb server of this port if none answers; it is never stopped. Throws ADB_MISSING, ADB_TOO_OLD, ADB_SERVER_DOWN. */
export async function ensureServer(port: number, signal: AbortSignal): Promise<void> {
  const work = starting.get(port) ?? new SharedWork<void>();
  starting.set(port, work);
  await work.join((own) => startUnlessAnswers(port, own), signal);
}

async function startUnlessAnswers(port: number, signal: AbortSignal): Promise<void> {
  try {
    await serverVersion(port, signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "ADB_SERVER_DOWN") throw error;
    await startAdbServer(port, process.env, signal);
  }
}

/** Why the program is not used, and what a person can do. */
export type OtherVersion = { why: string; fix: string };

/** The program adb would end a server of another version; undefined if both match. Throws ADB_SERVER_DOWN. */
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

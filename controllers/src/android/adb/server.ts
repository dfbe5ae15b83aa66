import { DeviceError } from "../../errors.ts";
import { startAdbServer } from "../../programs/adb.ts";
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

import { DeviceError } from "../errors.ts";
import { findAdb, pairAdb } from "../programs/adb.ts";
import { serverPort } from "./adb/server.ts";
import { otherVersionAt } from "./adb/versions.ts";
import { androidSettingsSchema } from "./settings.ts";

/**
 * Makes a device on the network trust the user's adb server, by the address and the code that its "Wireless debugging" shows.
 * Throws ADB_MISSING, ADB_TOO_OLD, DEVICE_ERROR with what adb said, INVALID_PARAMS for an address without a port.
 */
export async function pairAndroid(
  { address, code }: { address: string; code: string },
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<void> {
  if (!androidSettingsSchema.safeParse({ address }).success || !/^\d{6}$/.test(code))
    throw new DeviceError(
      "INVALID_PARAMS",
      "The device shows an address with a port, such as 192.168.1.20:37123, and a code of six digits. Give both as they stand.",
    );
  const port = serverPort(undefined, env);
  const adb = await findAdb(env, signal);
  const other = adb && (await otherVersionAt(port, adb, signal));
  if (other) throw new DeviceError("DEVICE_ERROR", `adb was not started: ${other.why}. ${other.fix}`);
  await pairAdb({ address, code, port }, env, signal);
}

import { DeviceError } from "../errors.ts";
import type { ControllerStatus } from "../ports.ts";
import { adbTooOld, findAdb, pairAdb } from "../programs/adb.ts";
import { atMost, poll } from "../waiting/deadlines.ts";
import { reconnect, serverVersion } from "./adb/devices.ts";
import { mostNamed, named, notConnected, offline, serverDown, unauthorized } from "./adb/failures.ts";
import { ensureServer, otherVersionAt, serverPort } from "./adb/server.ts";
import type { Attached, Hub } from "./hub.ts";
import { type AndroidSettings, androidSettingsSchema, serialOf } from "./settings.ts";

/** The first version with tport, which names a connection. */
const oldestServer = 41;
/** A dropped connection, or a device that just accepted our key, is back within this time. */
const graceMs = 2_000;
/** A device on the network answers a new connection within this time. */
const reconnectMs = 8_000;

export type Wanted = { port: number; hub: Hub; settings: AndroidSettings };

/**
 * Returns the device of the settings once adb can use it. Starts the server if none answers, and reconnects a device on the
 * network once. Throws ADB_MISSING, ADB_TOO_OLD, ADB_SERVER_DOWN, DEVICE_NOT_FOUND, DEVICE_AMBIGUOUS,
 * DEVICE_OFFLINE, DEVICE_UNAUTHORIZED.
 */
export async function reachDevice(
  wanted: Wanted,
  signal: AbortSignal,
  recovering: () => void,
): Promise<Attached> {
  const { port, hub, settings } = wanted;
  await ensureServer(port, signal);
  const version = await serverVersion(port, signal);
  if (version < oldestServer) throw adbTooOld(`The adb server on port ${port}, version 1.0.${version},`);
  const isUsable = async () => {
    await hub.refresh(signal);
    return findDevice(wanted)?.state === "device";
  };
  const waiting = { everyMs: 100, ms: graceMs, signal };
  if (!(await poll(isUsable, waiting)) && settings.address !== undefined) {
    recovering();
    const limit = atMost(signal, reconnectMs);
    await reconnect(port, settings.address, limit).catch(() => signal.throwIfAborted());
    await poll(isUsable, waiting);
  }
  const device = findDevice(wanted);
  if (device?.state === "device") return device;
  throw whyNot(device, wanted);
}

/** The device of the settings as adb lists it now. Throws DEVICE_AMBIGUOUS. */
export function findDevice({ hub, settings }: Wanted): Attached | undefined {
  const serial = serialOf(settings);
  if (serial !== undefined) return hub.find(serial);
  const [only, ...others] = hub.list();
  if (others.length > 0) throw ambiguous(hub.list());
  return only;
}

/** The status of a device by how adb lists it now. */
export function statusOf(device: Attached | undefined, wanted: Wanted): ControllerStatus {
  if (device?.state === "device") return { state: "online" };
  const { code, message } = whyNot(device, wanted);
  const [reason = "", ...fix] = message.split(/(?<=\.) /);
  const state = code === "DEVICE_UNAUTHORIZED" ? "unauthorized" : "offline";
  return { state, reason, ...(fix.length > 0 && { fix: fix.join(" ") }) };
}

function whyNot(device: Attached | undefined, { port, hub, settings }: Wanted): DeviceError {
  if (!hub.isSynced()) return serverDown(port);
  const serial = serialOf(settings) ?? "The device";
  if (device === undefined)
    return notConnected(
      serial,
      hub.list().map((one) => one.serial),
    );
  if (device.state === "unauthorized") return unauthorized(device.serial);
  return offline(device.serial, device.state);
}

function ambiguous(devices: readonly Attached[]): DeviceError {
  const serials = devices.map(({ serial }) => serial);
  return new DeviceError(
    "DEVICE_AMBIGUOUS",
    `adb lists ${serials.length} devices, and the configuration names none: ${named(serials)}. Set controllers.android.serial of the device to one of them.`,
    { serials: serials.slice(0, mostNamed) },
  );
}

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

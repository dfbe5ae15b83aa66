import { DeviceError, type DeviceErrorCode } from "../../errors.ts";
import { adbTooOld } from "../../programs/adb.ts";

/** An adb server refused a request: what it said. */
export class AdbRefusal extends Error {
  constructor(readonly said: string) {
    super(`adb: ${said}`);
    this.name = "AdbRefusal";
  }
}

export const serverDown = (port: number, cause?: unknown): DeviceError =>
  new DeviceError(
    "ADB_SERVER_DOWN",
    `No adb server answers on port ${port}. The next call starts it; if that does not help, run: adb -P ${port} start-server`,
    { port },
    { cause },
  );

/** Something else than an adb server answered, or a broken one. */
export const noAdb = (port: number, why: string): DeviceError =>
  new DeviceError(
    "ADB_SERVER_DOWN",
    `What answers on port ${port} is not a sound adb server: its answer ${why}. Run: adb -P ${port} kill-server, or correct controllers.android.adb_port of the device.`,
    { port },
  );

export const transportLost = (serial: string, cause?: unknown): DeviceError =>
  new DeviceError(
    "TRANSPORT_LOST",
    `The connection to ${serial} broke while it was used, so it is not known whether that was done. Look at the screen; the next call connects again.`,
    { serial },
    { cause },
  );

export const unauthorized = (serial: string): DeviceError =>
  new DeviceError(
    "DEVICE_UNAUTHORIZED",
    `${serial} does not trust this computer yet. Unlock it and accept "Allow USB debugging?" on its screen; if it does not ask, revoke USB debugging authorisations in its developer options and connect it again.`,
    { serial },
  );

export const offline = (serial: string, state: string): DeviceError =>
  new DeviceError(
    "DEVICE_OFFLINE",
    `adb lists ${serial} as ${state}, which is not usable. Unplug it and plug it in again, or switch its debugging off and on.`,
    { serial, state },
  );

export function notConnected(serial: string, others: readonly string[]): DeviceError {
  const listed = others.length > 0 ? `adb lists ${named(others)}` : "adb lists no device";
  return new DeviceError(
    "DEVICE_NOT_FOUND",
    `${serial} is not connected: ${listed}. Plug it in with USB debugging on, or correct its serial or address in the configuration.`,
    { serial, listed: others.slice(0, mostNamed) },
  );
}

/** So many devices are named in a message. */
export const mostNamed = 10;

export function named(serials: readonly string[]): string {
  const more = serials.length - mostNamed;
  return `${serials.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The error of a refusal about one device. */
export function refusalOf({ said }: AdbRefusal, serial: string): DeviceError {
  if (/unauthorized/.test(said)) return unauthorized(serial);
  if (/offline/.test(said)) return offline(serial, "offline");
  if (/not found|no devices/.test(said)) return notConnected(serial, []);
  if (/unknown host service/.test(said)) return adbTooOld("The adb server");
  if (/^closed$/.test(said)) return transportLost(serial);
  return failure("DEVICE_ERROR", `adb refused it: ${said.slice(0, 500)}. Run adb devices to see its state.`);
}

const failure = (code: DeviceErrorCode, message: string) => new DeviceError(code, message);

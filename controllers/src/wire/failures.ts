import { unsent } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";

/** Where input goes: `name` as in "the Roku at 10.0.0.7:8060", and `check`, a sentence that says what to do if it is not reached. */
export type Place = { name: string; check: string };

export const offline = ({ name, check }: Place, reason: string): DeviceError =>
  unsent(new DeviceError("DEVICE_OFFLINE", `Cannot reach ${name}: ${reason}. ${check}`));

export const silent = ({ name, check }: Place, ms: number): DeviceError =>
  new DeviceError(
    "COMMAND_TIMEOUT",
    `No answer from ${name} within ${ms / 1_000} s, so it is unknown whether it did what was asked. Look at the screen before you repeat it. ${check}`,
  );

export const lost = ({ name }: Place): DeviceError =>
  new DeviceError(
    "TRANSPORT_LOST",
    `The connection to ${name} broke, so it is unknown whether it did what was asked. Look at the screen, then go on.`,
  );

export const refused = ({ name }: Place, said: string, fix: string): DeviceError =>
  unsent(new DeviceError("DEVICE_ERROR", `Refused by ${name}: ${said.trim().slice(0, 300)}. ${fix}`));

export const unauthorized = ({ name }: Place, reason: string, fix: string): DeviceError =>
  unsent(new DeviceError("DEVICE_UNAUTHORIZED", `Not accepted by ${name}: ${reason}. ${fix}`));

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refuses connections",
  ENOENT: "there is no such socket",
  EACCES: "this user may not use it",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name could not be looked up",
  EHOSTUNREACH: "there is no way to its address",
  ENETUNREACH: "there is no way to its network",
};

export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return reasons[code] ?? (error instanceof Error ? error.message : String(error)).slice(0, 200);
}

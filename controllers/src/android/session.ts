import type { CommandResult, ControllerContext } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { AndroidDevice } from "./device.ts";
import type { LinkOptions } from "./link.ts";
import type { ScreenReader } from "./ui/reader.ts";

/** What the commands and checks of a device work with. */
export type AndroidSession = { device: AndroidDevice; reader: ScreenReader; context: ControllerContext };

/**
 * Sends inputs to the screen, one after another in one round trip; each is the arguments of a program of the device. Throws
 * DEVICE_ERROR with what the device said when it refused one.
 */
export async function sendInputs(
  { device, reader }: AndroidSession,
  inputs: readonly (readonly string[])[],
  signal: AbortSignal,
  options?: LinkOptions,
): Promise<void> {
  try {
    const { code, stderr, stdout } = await device.link().runAll(inputs, signal, options);
    if (code !== 0) throw refused(`${stderr}\n${stdout}`);
  } finally {
    reader.driven();
  }
}

/** A command whose last input has just been taken by the device. */
export const sent = (message: string): CommandResult => ({ message, sentAt: performance.now() });

const refused = (said: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device did not take the input: ${said.trim().slice(0, 300) || "it said nothing"}. Look at the screen, and see whether its developer options forbid input over USB.`,
  );

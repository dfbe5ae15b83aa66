import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import type { Changes } from "../phones/changes.ts";
import type { Phone } from "../phones/commands.ts";
import type { AndroidDevice } from "./device.ts";
import { onlyTap, tapByDriver } from "./driver/tap.ts";
import type { LinkOptions } from "./link.ts";
import type { UiBackend } from "./ui/backend.ts";

/** The adb server takes requests of 64 KB, and quoting makes texts longer. */
const longestLine = 12_000;
const mostInLine = 100;

/** The line of the device's log after which checks read. `second` is by the device's clock. */
export type LogMark = { token: string; second: number };

/** `ms` is absent where the app ran already, or the device did not say. `state` is COLD, WARM or HOT. */
export type AppStart = { id: string; ms?: number; state?: string };

export type Trail = { mark: LogMark | undefined; start: AppStart | undefined };

export const newTrail = (): Trail => ({ mark: undefined, start: undefined });

export type AndroidSession = Phone & {
  device: AndroidDevice;
  backend: UiBackend;
  changes: Changes;
  trail: Trail;
};

/**
 * Sends inputs to the screen in their order, many in one call. Each input is the arguments of a program of the device. A tap or
 * a double tap goes through the driver if its session is open. Throws DEVICE_ERROR with the device's output when it refuses one.
 */
export async function sendInputs(
  { device, reader, backend }: Pick<AndroidSession, "device" | "reader" | "backend">,
  inputs: readonly (readonly string[])[],
  signal: AbortSignal,
  options?: LinkOptions,
): Promise<void> {
  const tap = onlyTap(inputs);
  const driver = backend.findSession();
  await reader.send(async () => {
    if (tap && driver) return tapByDriver(driver, tap, signal);
    for (const part of inParts(inputs)) {
      const { code, stderr, stdout } = await sendInput(() => device.link().runAll(part, signal, options));
      const said = `${stderr}\n${stdout}`;
      if (code !== 0 || unknownCommand.test(said)) throw refused(said);
    }
  });
}

/** `input` ends with 0 whether it knows a command or not (AOSP, InputShellCommand.onCommand). */
const unknownCommand = /^(?:Error: )?(?:Unknown command|Invalid arguments)/m;

/** Splits inputs into command lines that every device accepts. */
function* inParts(inputs: readonly (readonly string[])[]): Generator<(readonly string[])[]> {
  let part: (readonly string[])[] = [];
  let size = 0;
  for (const input of inputs) {
    const own = input.reduce((sum, argument) => sum + argument.length + 1, 0);
    if (part.length > 0 && (size + own > longestLine || part.length === mostInLine)) {
      yield part;
      [part, size] = [[], 0];
    }
    part.push(input);
    size += own;
  }
  if (part.length > 0) yield part;
}

const refused = (said: string) =>
  new DeviceError(
    "DEVICE_ERROR",
    `The device did not take the input: ${said.trim().slice(0, 300) || "it said nothing"}. Look at the screen, and see whether its developer options forbid input over USB.`,
  );

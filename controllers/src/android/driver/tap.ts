import { DeviceError } from "../../errors.ts";
import { DriverRefusal } from "./program.ts";
import type { DriverSession } from "./session.ts";

/** The place of a single tap among inputs for the device's shell; undefined for anything else. */
export function onlyTap(inputs: readonly (readonly string[])[]): { x: number; y: number } | undefined {
  const [[program, kind, x, y] = [], ...others] = inputs;
  const isTap = program === "input" && kind === "tap" && others.length === 0;
  return isTap ? { x: Number(x), y: Number(y) } : undefined;
}

/** Before Android 12 each `input` of the shell starts a machine of its own, which takes up to a second. */
export async function tapByDriver(
  session: DriverSession,
  offset: { x: number; y: number },
  signal: AbortSignal,
): Promise<void> {
  try {
    await session.ask("POST", "/appium/gestures/click", { offset }, { signal });
  } catch (error) {
    if (!(error instanceof DriverRefusal)) throw error;
    throw new DeviceError(
      "DEVICE_ERROR",
      `The device did not take the tap: ${error.said.slice(0, 300)}. Look at the screen.`,
    );
  }
}

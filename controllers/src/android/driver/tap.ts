import { DeviceError } from "../../errors.ts";
import { DriverRefusal } from "./program.ts";
import type { DriverSession } from "./session.ts";

type Tap = { gesture: "click" | "double_click"; offset: { x: number; y: number } };

/** A tap, or two on one place, among inputs for the device's shell; undefined for anything else. */
export function onlyTap(inputs: readonly (readonly string[])[]): Tap | undefined {
  const [first = [], ...others] = inputs;
  const [program, kind, x, y] = first;
  const isSame = others.every((other) => other.join(" ") === first.join(" "));
  if (program !== "input" || kind !== "tap" || others.length > 1 || !isSame) return undefined;
  return { gesture: others.length === 0 ? "click" : "double_click", offset: { x: Number(x), y: Number(y) } };
}

/** Before Android 12 each `input` takes up to a second: too slow for a double tap (300 ms, ViewConfiguration). */
export async function tapByDriver(
  session: DriverSession,
  { gesture, offset }: Tap,
  signal: AbortSignal,
): Promise<void> {
  try {
    await session.ask("POST", `/appium/gestures/${gesture}`, { offset }, { signal });
  } catch (error) {
    if (!(error instanceof DriverRefusal)) throw error;
    throw new DeviceError(
      "DEVICE_ERROR",
      `The device did not take the tap: ${error.said.slice(0, 300)}. Look at the screen.`,
    );
  }
}

import { DeviceError } from "../../errors.ts";
import { poll } from "../../waiting/deadlines.ts";
import { type AndroidSession, sendInputs } from "../session.ts";

/** A setting that has not taken effect by now never will. */
export const takenMs = 3_000;
export const lookEveryMs = 150;

export type Line = readonly string[];
/** `ask` prints the present values, one line each; `restore` returns the lines that set them back. */
export type Change = {
  name: string;
  ask: readonly Line[];
  restore(was: readonly string[]): Line[];
  set: readonly Line[];
};

/** Sets something of the device that is set back when another client takes it. */
export async function change(session: AndroidSession, one: Change, signal: AbortSignal): Promise<void> {
  const { changes, device } = session;
  if (!changes.has(one.name)) {
    const { stdout } = await device.link().runAll(one.ask, signal);
    const restore = one.restore(stdout.split("\n").map((line) => line.trim()));
    changes.remember(one.name, (own) => device.link().runAll(restore, own));
  }
  await sendInputs(session, one.set, signal);
}

/** What a line prints once the device has changed; a RegExp fits. */
type Wanted = { test(said: string): boolean };

/** Waits until a line prints the wanted text. Throws DEVICE_ERROR if it does not. */
export async function confirm(
  { device }: AndroidSession,
  { line, wanted, what }: { line: Line; wanted: Wanted; what: string },
  signal: AbortSignal,
): Promise<void> {
  const isTaken = async () => wanted.test((await device.link().run(line, signal)).stdout);
  if (await poll(isTaken, { everyMs: lookEveryMs, ms: takenMs, signal })) return;
  throw new DeviceError(
    "DEVICE_ERROR",
    `The device took the command and did not ${what}. Its maker or its owner may forbid it: change it by hand.`,
  );
}

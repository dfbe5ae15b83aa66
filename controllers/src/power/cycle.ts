import type { CommandResult, ControllerContext } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { pause } from "../waiting/deadlines.ts";
import type { Outlet } from "./outlet.ts";
import { type PictureWatch, watchPicture } from "./picture.ts";

export type CycleInput = { off_ms: number; wait_for_picture?: boolean | undefined; timeout_ms: number };

/** A plug that has just lost its network is often back a moment later. */
const secondTryMs = 1_000;
/** After a cancellation: a command ends within 3 s. */
const lastTryMs = 2_000;

/**
 * Off, a pause, on; then waits for the picture. Throws DEVICE_OFFLINE, DEVICE_UNAUTHORIZED or DEVICE_ERROR with the state in
 * which the outlet was left, COMMAND_TIMEOUT when the picture did not go or not come back.
 */
export async function cycle(
  outlet: Outlet,
  input: CycleInput,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<CommandResult> {
  const watch = watchPicture(context, input.wait_for_picture);
  try {
    await offAndOn(outlet, input.off_ms, signal);
    const sentAt = performance.now();
    watch?.fed();
    const done = `${outlet.name} was off for ${input.off_ms} ms and is on again`;
    const data = { state: "on", off_ms: input.off_ms };
    if (!watch) return { message: `${done}.`, isNews: true, sentAt, data };
    if (!(await watch.isBackWithin(input.timeout_ms, signal))) throw noPicture(done, watch, input);
    const picture_ms = Math.round((watch.backAt ?? sentAt) - sentAt);
    const message = `${done}; the first picture came ${picture_ms} ms after it was switched on.`;
    return { message, isNews: true, sentAt, data: { ...data, picture_ms } };
  } finally {
    watch?.end();
  }
}

async function offAndOn(outlet: Outlet, offMs: number, signal: AbortSignal): Promise<void> {
  try {
    await sendInput(() => outlet.turn("off", signal));
    await pause(offMs, signal);
  } catch (error) {
    if (signal.aborted) throw await leftAs(outlet, error, await switchedOn(outlet));
    throw await leftAs(outlet, error, false);
  }
  try {
    await sendInput(() => outlet.turn("on", signal));
  } catch (error) {
    if (signal.aborted) throw await leftAs(outlet, error, await switchedOn(outlet));
    try {
      await pause(secondTryMs, signal);
      await outlet.turn("on", signal);
    } catch {
      throw await leftAs(outlet, error, signal.aborted && (await switchedOn(outlet)));
    }
  }
}

const switchedOn = (outlet: Outlet): Promise<boolean> =>
  outlet.turn("on", AbortSignal.timeout(lastTryMs)).then(
    () => true,
    () => false,
  );

/** The error of a cycle that broke, with the state of the outlet as far as known. */
async function leftAs(outlet: Outlet, error: unknown, isOn: boolean): Promise<unknown> {
  const asked = isOn ? "on" : await outlet.read?.(AbortSignal.timeout(lastTryMs)).catch(() => undefined);
  const state = asked ?? "unknown";
  const left =
    state === "on"
      ? "The outlet is on."
      : `The outlet was left ${state === "off" ? "off" : "in an unknown state, maybe off"}: call power_on once it answers, or switch it on by hand.`;
  const known = error instanceof DeviceError;
  const broken = new DeviceError(
    known ? error.code : "COMMAND_TIMEOUT",
    `The power cycle of ${outlet.name} broke. ${left} ${known ? error.message : "It was cancelled."}`,
    { outlet: state },
    { cause: error },
  );
  return broken;
}

function noPicture(done: string, { goneAt }: PictureWatch, { timeout_ms }: CycleInput): DeviceError {
  const seen =
    goneAt === undefined
      ? `the picture never went away. Check that this outlet feeds the device, or give a longer off_ms`
      : `no picture came back within ${timeout_ms} ms. Look at the device, or give a longer timeout_ms`;
  return new DeviceError("COMMAND_TIMEOUT", `${done}, but ${seen}.`, { outlet: "on" });
}

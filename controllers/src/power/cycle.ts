import type { CommandResult, ControllerContext } from "../contract.ts";
import { sendInput } from "../dispatch.ts";
import { DeviceError } from "../errors.ts";
import { streamOf } from "../frames/available.ts";
import { pause } from "../waiting/deadlines.ts";
import type { Outlet, PowerState } from "./outlet.ts";
import { framesToWatch, type PictureWatch, watchedPerSecond, watchPicture } from "./picture.ts";

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
  const frames = framesToWatch(context, input.wait_for_picture);
  const watch = frames && watchPicture(frames);
  try {
    await offAndOn(outlet, input.off_ms, signal);
    const sentAt = performance.now();
    watch?.fed();
    const done = `${outlet.name} was off for ${input.off_ms} ms and is on again`;
    const data = { state: "on", off_ms: input.off_ms };
    if (!frames || !watch) return { message: `${done}.`, isNews: true, sentAt, data };
    const backAt = await watch.back(input.timeout_ms, signal);
    if (backAt === undefined) throw noPicture(done, watch, input);
    const delay = streamOf(context.device)?.delay ?? { ms: 0, errorMs: 0 };
    const picture_ms = Math.round(backAt - delay.ms - sentAt);
    const error_ms = Math.round(delay.errorMs + 1_000 / Math.min(watchedPerSecond, frames.perSecond));
    const message = `${done}; the first picture came ${picture_ms} ms (± ${error_ms}) after it was switched on.`;
    return { message, isNews: true, sentAt, data: { ...data, picture_ms, error_ms } };
  } finally {
    watch?.end();
  }
}

async function offAndOn(outlet: Outlet, offMs: number, signal: AbortSignal): Promise<void> {
  let last: PowerState | undefined;
  try {
    await sendInput(() => outlet.turn("off", signal));
    last = "off";
    await pause(offMs, signal);
    await sendInput(() => turnedOn(outlet, signal));
  } catch (error) {
    const isOn = signal.aborted && (await isOnAtLast(outlet));
    throw await broken(outlet, error, { isOn, last });
  }
}

async function turnedOn(outlet: Outlet, signal: AbortSignal): Promise<void> {
  try {
    await outlet.turn("on", signal);
  } catch {
    await pause(secondTryMs, signal);
    await outlet.turn("on", signal);
  }
}

/** Whether it could be switched on, by a deadline of its own. */
const isOnAtLast = (outlet: Outlet): Promise<boolean> =>
  outlet.turn("on", AbortSignal.timeout(lastTryMs)).then(
    () => true,
    () => false,
  );

/** The error of a cycle that broke, with the state of the outlet as far as known. */
async function broken(
  outlet: Outlet,
  error: unknown,
  { isOn, last }: { isOn: boolean; last: PowerState | undefined },
): Promise<DeviceError> {
  const asked = isOn ? "on" : await outlet.read(AbortSignal.timeout(lastTryMs)).catch(() => undefined);
  const seen = asked
    ? `The outlet is ${asked}`
    : `Its last known state was ${last ?? "that before the cycle"}`;
  const next = asked === "on" ? "." : ": call power_on once it answers, or switch it on by hand.";
  const why = error instanceof DeviceError ? error.message : "It was cancelled.";
  return new DeviceError(
    error instanceof DeviceError ? error.code : "COMMAND_TIMEOUT",
    `The power cycle of ${outlet.name} broke. ${seen}${next} ${why}`,
    { outlet: asked ?? "unknown", ...(last && { last_known: last }) },
    { cause: error },
  );
}

function noPicture(done: string, watch: PictureWatch, { timeout_ms }: CycleInput): DeviceError {
  const seen = watch.isGone()
    ? `no picture came back within ${timeout_ms} ms. Look at the device, or give a longer timeout_ms`
    : `the picture never went away. Check that this outlet feeds the device, or give a longer off_ms`;
  return new DeviceError("COMMAND_TIMEOUT", `${done}, but ${seen}.`, { outlet: "on" });
}

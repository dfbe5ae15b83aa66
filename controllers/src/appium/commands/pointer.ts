import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { centreOf, type Ready, whenReady } from "../../screens/pointing.ts";
import { type AppiumSession, sent } from "../session.ts";
import { hold, swipe, tap } from "../touches.ts";
import { focusReady } from "./focus.ts";
import { hideKeyboard } from "./keyboard.ts";
import { pressKey } from "./keys.ts";

const holdMs = 800;
const pixel = z.int().min(0).max(20_000);
const pointShape = { x: pixel.describe("In pixels of a picture of the whole screen."), y: pixel };
const durationMs = z.int().min(10).max(10_000);
const tapInput = z.strictObject(pointShape);
const swipeInput = z.strictObject({
  from_x: pixel.describe("In pixels of a picture of the whole screen."),
  from_y: pixel,
  to_x: pixel,
  to_y: pixel,
  duration_ms: durationMs.default(300).describe("The shorter, the further a list runs on."),
});

export function pointerCommands(session: AppiumSession): Command[] {
  return [
    defineCommand({
      ...portable.click_element,
      run: ({ timeout_ms, ...target }, signal) =>
        touch(session, target, { timeoutMs: timeout_ms, times: 1 }, signal),
    }),
    defineCommand({
      ...portable.double_click,
      run: ({ timeout_ms, ...target }, signal) =>
        touch(session, target, { timeoutMs: timeout_ms, times: 2 }, signal),
    }),
    defineCommand<typeof tapInput>({
      name: "tap",
      description: "Taps a point of the screen; click_element taps an element.",
      effect: "write",
      input: tapInput,
      async run({ x, y }, signal) {
        await tap(session, await session.pictures.inTree({ x, y }, signal), 1, signal);
        return sent(`tapped ${x},${y}`);
      },
    }),
    defineCommand<typeof swipeInput>({
      name: "swipe",
      description: "Moves one finger over the screen from one point to another.",
      effect: "write",
      input: swipeInput,
      async run({ from_x, from_y, to_x, to_y, duration_ms }, signal) {
        const from = await session.pictures.inTree({ x: from_x, y: from_y }, signal);
        const to = await session.pictures.inTree({ x: to_x, y: to_y }, signal);
        await swipe(session, { from, to, ms: duration_ms }, signal);
        return sent(`swiped from ${from_x},${from_y} to ${to_x},${to_y}`);
      },
    }),
    longPress(session),
  ];
}

/** A click; on a TV, OK on what has the focus then. */
async function touch(
  session: AppiumSession,
  target: Target,
  { timeoutMs, times }: { timeoutMs: number; times: number },
  signal: AbortSignal,
) {
  const what = times > 1 ? "double-clicked" : "clicked";
  if (session.device.facts().isTv) {
    const { seen } = await focusReady(session, target, timeoutMs, signal);
    await pressKey(session, "OK", times, signal);
    return sent(`${what} ${session.reader.describe(seen)}`);
  }
  const { seen } = await locateReady(session, target, timeoutMs, signal);
  await tap(session, centreOf(seen), times, signal);
  return sent(`${what} ${session.reader.describe(seen)}`);
}

function longPress(session: AppiumSession): Command {
  const input = z.strictObject({
    ...targetShape,
    x: pixel.optional().describe("A point in pixels of the screen, with y, in place of an element."),
    y: pixel.optional(),
    duration_ms: durationMs.default(holdMs),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "long_press",
    description: "Holds a finger on an element or a point of the screen.",
    effect: "write",
    input,
    async run({ duration_ms, timeout_ms, x, y, ...target }, signal) {
      const isPoint = x !== undefined && y !== undefined;
      if (isPoint === hasTarget(target))
        throw new DeviceError("INVALID_PARAMS", "Give an element by ref or selector, or a point by x and y.");
      if (isPoint) {
        await hold(session, await session.pictures.inTree({ x, y }, signal), duration_ms, signal);
        return sent(`held ${x},${y}`);
      }
      const { seen } = await locateReady(session, target, timeout_ms, signal);
      await hold(session, centreOf(seen), duration_ms, signal);
      return sent(`held ${session.reader.describe(seen)}`);
    },
  });
}

/** {@link whenReady}; a keyboard in front of the element is hidden. */
export const locateReady = (
  session: AppiumSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ready> => {
  const hide = () => hideKeyboard(session, signal);
  return whenReady(session.reader, target, { timeoutMs, hideKeyboard: hide }, signal);
};

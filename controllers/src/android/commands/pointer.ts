import { z } from "zod";
import { type Command, defineCommand, type Withheld } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import { centreOf, type Point, type Ready, whenReady } from "../../screens/pointing.ts";
import type { AndroidFacts } from "../facts.ts";
import { type AndroidSession, sendInputs, sent } from "../session.ts";
import { focusReady, pressOk } from "./focus.ts";

/** Android takes a touch of more than 500 ms for a long one. */
const holdMs = 800;
export const pixel = z.int().min(0).max(20_000);
const pointShape = {
  x: pixel.describe("In pixels of a picture of the whole screen."),
  y: pixel,
};
const durationMs = z.int().min(10).max(10_000);

export function pointerCommands(session: AndroidSession): Command[] {
  const touch = async (target: Target, timeoutMs: number, signal: AbortSignal, times = 1) => {
    const onTv = session.device.facts().isTv;
    const { seen, click } = onTv
      ? { ...(await focusReady(session, target, timeoutMs, signal)), click: pressOk }
      : await tapReady(session, target, timeoutMs, signal);
    if (!seen.node.enabled)
      throw new DeviceError(
        "ELEMENT_NOT_ACTIONABLE",
        `${session.reader.describe(seen)} is disabled. Do first what enables it.`,
      );
    await sendInputs(session, Array<string[]>(times).fill(click), signal);
    return sent(`${times > 1 ? "double-clicked" : "clicked"} ${session.reader.describe(seen)}`);
  };
  return [
    defineCommand({
      ...portable.click_element,
      run: ({ timeout_ms, ...target }, signal) => touch(target, timeout_ms, signal),
    }),
    defineCommand({
      ...portable.double_click,
      run: ({ timeout_ms, ...target }, signal) => touch(target, timeout_ms, signal, 2),
    }),
    ...pointCommands(session),
    longPress(session),
  ];
}

async function tapReady(session: AndroidSession, target: Target, timeoutMs: number, signal: AbortSignal) {
  const { seen } = await locateReady(session, target, timeoutMs, signal);
  return { seen, click: tapAt(centreOf(seen)) };
}

function pointCommands(session: AndroidSession): Command[] {
  const tapInput = z.strictObject(pointShape);
  const swipeInput = z.strictObject({
    from_x: pixel.describe("In pixels of a picture of the whole screen."),
    from_y: pixel,
    to_x: pixel,
    to_y: pixel,
    duration_ms: durationMs.default(300).describe("The shorter, the further a list runs on."),
  });
  return [
    defineCommand<typeof tapInput>({
      name: "tap",
      description: "Taps a point of the screen; click_element taps an element.",
      effect: "write",
      input: tapInput,
      async run({ x, y }, signal) {
        await sendInputs(session, [tapAt({ x, y })], signal);
        return sent(`tapped ${x},${y}`);
      },
    }),
    defineCommand<typeof swipeInput>({
      name: "swipe",
      description: "Moves one finger over the screen from one point to another.",
      effect: "write",
      input: swipeInput,
      async run({ from_x, from_y, to_x, to_y, duration_ms }, signal) {
        const swipe = swipeBy({ x: from_x, y: from_y }, { x: to_x, y: to_y }, duration_ms);
        await sendInputs(session, [swipe], signal);
        return sent(`swiped from ${from_x},${from_y} to ${to_x},${to_y}`);
      },
    }),
  ];
}

function longPress(session: AndroidSession): Command {
  const input = z.strictObject({
    ...targetShape,
    x: pixel.optional().describe("A point in pixels of the screen, with y, in place of an element."),
    y: pixel.optional(),
    duration_ms: durationMs.default(holdMs),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "long_press",
    description: "Holds a finger on an element or a point of the screen; on a TV, holds OK on an element.",
    effect: "write",
    input,
    async run({ duration_ms, timeout_ms, ...place }, signal) {
      if (session.device.facts().isTv) return holdOk(session, place, timeout_ms, signal);
      const hint = "Give an element by ref or selector, or a point by x and y.";
      const point = await pointOf(session, place, { timeoutMs: timeout_ms, hint }, signal);
      await sendInputs(session, [swipeBy(point, point, duration_ms)], signal);
      return sent(`held ${point.name}`);
    },
  });
}

/** On a TV: how long a key is held, Android decides. */
async function holdOk(session: AndroidSession, place: Place, timeoutMs: number, signal: AbortSignal) {
  const { x, y, ...target } = place;
  if (x !== undefined || y !== undefined || !hasTarget(target))
    throw new DeviceError("INVALID_PARAMS", `${noTouch} Name an element by ref or selector.`);
  const { seen } = await focusReady(session, target, timeoutMs, signal);
  await sendInputs(session, [["input", "keyevent", "--longpress", `${findKeyCode("OK")}`]], signal);
  return sent(`held OK on ${session.reader.describe(seen)}`);
}

const noTouch = "A TV has no touch screen.";
const byFingers = ["tap", "swipe", "fling", "drag", "pinch"];

export const withheldTouches = ({ isTv }: AndroidFacts): Withheld[] =>
  isTv
    ? byFingers.map((name) => ({
        name,
        reason: `${noTouch} Use click_element, move_focus_to, scroll or press_key.`,
      }))
    : [];

/** {@link whenReady}; a keyboard in front of the element is hidden by the back key. */
export const locateReady = (
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ready> => {
  const hide = () => sendInputs(session, [hideKeyboard], signal);
  return whenReady(session.reader, target, { timeoutMs, hideKeyboard: hide }, signal);
};

/** The back key hides a keyboard, and does nothing else while one is shown. */
export const hideKeyboard = ["input", "keyevent", `${findKeyCode("BACK")}`];
/** An element or a point of the screen, as a caller names it. */
export type Place = Target & { x?: number | undefined; y?: number | undefined };

export const tapAt = ({ x, y }: Point): string[] => ["input", "tap", `${x}`, `${y}`];

export const swipeBy = (from: Point, to: Point, ms: number): string[] => [
  ...["input", "swipe", `${from.x}`, `${from.y}`, `${to.x}`, `${to.y}`],
  `${ms}`,
];

/** Throws INVALID_PARAMS with a hint unless it is an element or a point, and what `locateReady` throws. */
export async function pointOf(
  session: AndroidSession,
  { x, y, ...target }: Place,
  { timeoutMs, hint }: { timeoutMs: number; hint: string },
  signal: AbortSignal,
): Promise<Point & { name: string }> {
  const isPoint = x !== undefined && y !== undefined;
  const isElement = hasTarget(target);
  const isBoth = isElement && (x !== undefined || y !== undefined);
  if (isBoth || (!isElement && !isPoint)) throw new DeviceError("INVALID_PARAMS", hint);
  if (isPoint) return { x, y, name: `${x},${y}` };
  const { seen } = await locateReady(session, target, timeoutMs, signal);
  return { ...centreOf(seen), name: session.reader.describe(seen) };
}

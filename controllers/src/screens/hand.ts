import type { CommandResult, Rect, Withheld } from "../contract.ts";
import { hasTarget, type Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { moveFocusTo } from "../focus/command.ts";
import type { FocusKeys } from "./byFocus.ts";
import { centreOf, type Point, type Ready, whenReady } from "./pointing.ts";

/** `rests`: the finger stops before it leaves, where the driver can do so. */
export type Swipe = { from: Point; to: Point; ms: number; rests?: boolean };

/**
 * How a driver touches its device, in the units of the tree. A TV has no finger: there, keys move the focus. Each tells the
 * reader that something was sent, whatever comes of it.
 */
export type Hand = Omit<FocusKeys, "press"> & {
  press(keys: readonly ("UP" | "DOWN" | "LEFT" | "RIGHT" | "OK")[], signal: AbortSignal): Promise<void>;
  isTv(): boolean;
  /** A point of a picture of the whole screen, in the units of the tree. */
  inTree(pixel: Point, signal: AbortSignal): Promise<Point>;
  tap(point: Point, times: number, signal: AbortSignal): Promise<void>;
  hold(point: Point, ms: number, signal: AbortSignal): Promise<void>;
  swipe(swipe: Swipe, signal: AbortSignal): Promise<void>;
  /** Holds what is at `from` until it can be moved, and drops it at `to`. */
  drag(swipe: Swipe, signal: AbortSignal): Promise<void>;
  /** Two fingers part (`in`) or meet (`out`), by so much of the area. */
  pinch(pinch: Pinch, signal: AbortSignal): Promise<void>;
  hideKeyboard(signal: AbortSignal): Promise<void>;
  /** On a TV. */
  holdOk(ms: number, signal: AbortSignal): Promise<void>;
};
export type Pinch = { area: Rect; zoom: "in" | "out"; percent: number };

/** A command whose last input has just been taken by the device. */
export const sent = (message: string): CommandResult => ({ message, sentAt: performance.now() });

/** {@link whenReady}; a keyboard in front of the element is hidden. */
export const locateReady = (
  hand: Hand,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Ready> =>
  whenReady(hand.reader, target, { timeoutMs, hideKeyboard: () => hand.hideKeyboard(signal) }, signal);

/** An element, or a point in pixels of a picture of the screen, as a caller names it. */
export type Place = Target & { x?: number | undefined; y?: number | undefined };

/** Throws INVALID_PARAMS with the hint unless it is an element or a point, and what `locateReady` throws. */
export async function pointOf(
  hand: Hand,
  { x, y, ...target }: Place,
  { timeoutMs, hint }: { timeoutMs: number; hint: string },
  signal: AbortSignal,
): Promise<Point & { name: string }> {
  const isPoint = x !== undefined && y !== undefined;
  const isElement = hasTarget(target);
  const isBoth = isElement && (x !== undefined || y !== undefined);
  if (isBoth || (!isElement && !isPoint)) throw new DeviceError("INVALID_PARAMS", hint);
  if (isPoint) return { ...(await onScreen(hand, { x, y }, signal)), name: `${x},${y}` };
  const { seen } = await locateReady(hand, target, timeoutMs, signal);
  return { ...centreOf(seen), name: hand.reader.describe(seen) };
}

/** A point of a picture in the units of the tree. Throws INVALID_PARAMS for one that is beyond the screen however it is turned. */
export async function onScreen(hand: Hand, pixel: Point, signal: AbortSignal): Promise<Point> {
  const point = await hand.inTree(pixel, signal);
  if (isWithin(point, hand.reader.natural())) return point;
  // A phone may have been unfolded since it was connected.
  if (isWithin(point, (await hand.reader.recent(signal)).space)) return point;
  throw new DeviceError(
    "INVALID_PARAMS",
    `The point ${pixel.x},${pixel.y} lies beyond the screen. Take one of a picture of the whole screen.`,
  );
}

function isWithin({ x, y }: Point, { width, height }: { width: number; height: number }): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return Math.max(x, y) < long && Math.min(x, y) < short;
}

export const noTouch = "A TV has no touch screen.";
const byFingers = ["tap", "swipe", "fling", "drag", "pinch"];
const noFocus: Withheld = {
  name: moveFocusTo.name,
  reason: "A phone is touched and moves no focus by keys. Use click_element.",
};

/** What the hand of such a device cannot do. */
export const withheldTouches = ({ isTv }: { isTv: boolean }): Withheld[] =>
  isTv
    ? byFingers.map((name) => ({
        name,
        reason: `${noTouch} Use click_element, move_focus_to, scroll or press_key.`,
      }))
    : [noFocus];

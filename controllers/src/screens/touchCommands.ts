import { z } from "zod";
import { type Command, defineCommand, type Rect } from "../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { moveFocusTo } from "../focus/command.ts";
import { portable } from "../portable.ts";
import { focusReady } from "./byFocus.ts";
import { type Hand, locateReady, noTouch, onScreen, type Place, pointOf, sent } from "./hand.ts";
import { centreOf } from "./pointing.ts";

/** Android takes a touch of more than 500 ms for a long one. */
const holdMs = 800;
const pixel = z.int().min(0).max(20_000);
const ofPicture = "In pixels of a picture of the whole screen.";
const durationMs = z.int().min(10).max(10_000);

/** What fingers do, and what takes their place on a TV. */
export const touchCommands = (hand: Hand): Command[] => [
  defineCommand({
    ...portable.click_element,
    run: ({ timeout_ms, ...target }, signal) =>
      click(hand, target, { timeoutMs: timeout_ms, times: 1 }, signal),
  }),
  defineCommand({
    ...portable.double_click,
    run: ({ timeout_ms, ...target }, signal) =>
      click(hand, target, { timeoutMs: timeout_ms, times: 2 }, signal),
  }),
  tap(hand),
  swipe(hand),
  longPress(hand),
  drag(hand),
  pinch(hand),
  moveFocus(hand),
];

/** A click; on a TV, OK on what has the focus then. */
async function click(
  hand: Hand,
  target: Target,
  { timeoutMs, times }: { timeoutMs: number; times: number },
  signal: AbortSignal,
) {
  const ready = hand.isTv() ? focusReady : locateReady;
  const { seen } = await ready(hand, target, timeoutMs, signal);
  if (hand.isTv()) await hand.press(Array<"OK">(times).fill("OK"), signal);
  else await hand.tap(centreOf(seen), times, signal);
  return sent(`${times > 1 ? "double-clicked" : "clicked"} ${hand.reader.describe(seen)}`);
}

function tap(hand: Hand): Command {
  const input = z.strictObject({ x: pixel.describe(ofPicture), y: pixel });
  return defineCommand<typeof input>({
    name: "tap",
    description: "Taps a point of the screen; click_element taps an element.",
    effect: "write",
    input,
    async run({ x, y }, signal) {
      await hand.tap(await onScreen(hand, { x, y }, signal), 1, signal);
      return sent(`tapped ${x},${y}`);
    },
  });
}

function swipe(hand: Hand): Command {
  const input = z.strictObject({
    from_x: pixel.describe(ofPicture),
    from_y: pixel,
    to_x: pixel,
    to_y: pixel,
    duration_ms: durationMs.default(300).describe("The shorter, the further a list runs on."),
  });
  return defineCommand<typeof input>({
    name: "swipe",
    description: "Moves one finger over the screen from one point to another.",
    effect: "write",
    input,
    async run({ from_x, from_y, to_x, to_y, duration_ms }, signal) {
      const from = await onScreen(hand, { x: from_x, y: from_y }, signal);
      const to = await onScreen(hand, { x: to_x, y: to_y }, signal);
      await hand.swipe({ from, to, ms: duration_ms }, signal);
      return sent(`swiped from ${from_x},${from_y} to ${to_x},${to_y}`);
    },
  });
}

function longPress(hand: Hand): Command {
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
      if (hand.isTv()) return holdOk(hand, place, { ms: duration_ms, timeoutMs: timeout_ms }, signal);
      const hint = "Give an element by ref or selector, or a point by x and y.";
      const { name, ...point } = await pointOf(hand, place, { timeoutMs: timeout_ms, hint }, signal);
      await hand.hold(point, duration_ms, signal);
      return sent(`held ${name}`);
    },
  });
}

async function holdOk(
  hand: Hand,
  { x, y, ...target }: Place,
  { ms, timeoutMs }: { ms: number; timeoutMs: number },
  signal: AbortSignal,
) {
  if (x !== undefined || y !== undefined || !hasTarget(target))
    throw new DeviceError("INVALID_PARAMS", `${noTouch} Name an element by ref or selector.`);
  const { seen } = await focusReady(hand, target, timeoutMs, signal);
  await hand.holdOk(ms, signal);
  return sent(`held OK on ${hand.reader.describe(seen)}`);
}

const bothEnds =
  "Give both ends, each as an element (ref or selector, to_ref or to_selector) or as a point (from_x and from_y, to_x and to_y).";

function drag(hand: Hand): Command {
  const input = z.strictObject({
    ...targetShape,
    from_x: pixel
      .optional()
      .describe("A point in pixels of the screen, with from_y, in place of an element."),
    from_y: pixel.optional(),
    to_ref: targetShape.ref.describe("ref of the element to drop on"),
    to_selector: targetShape.selector.describe("selector of the element to drop on"),
    to_x: pixel.optional().describe("A point, with to_y, in place of an element to drop on."),
    to_y: pixel.optional(),
    duration_ms: z.int().min(100).max(10_000).default(1_000),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "drag",
    description: "Holds an element or point until it can be moved, and drops it on another.",
    effect: "write",
    input,
    async run({ duration_ms, timeout_ms, ...named }, signal) {
      const { ref, selector, from_x, from_y, to_ref, to_selector, to_x, to_y } = named;
      const start = { ref, selector, x: from_x, y: from_y };
      const end = { ref: to_ref, selector: to_selector, x: to_x, y: to_y };
      const locate = (place: Place) =>
        pointOf(hand, place, { timeoutMs: timeout_ms, hint: bothEnds }, signal);
      const [from, to] = [await locate(start), await locate(end)];
      // A keyboard that was hidden for the second may have moved the first.
      const again = hasTarget(start) ? await locate(start) : from;
      await hand.drag({ from: again, to, ms: duration_ms }, signal);
      return sent(`dragged ${again.name} to ${to.name}`);
    },
  });
}

function pinch(hand: Hand): Command {
  const input = z.strictObject({
    ...targetShape,
    zoom: z.enum(["in", "out"]).describe("in: the fingers part; out: they meet."),
    percent: z.int().min(1).max(100).default(50).describe("How far they go, of the element or screen."),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "pinch",
    description: "Two fingers part or meet on an element, or on the screen.",
    effect: "write",
    input,
    async run({ zoom, percent, timeout_ms, ...target }, signal) {
      const { area, name } = await pinchedArea(hand, target, timeout_ms, signal);
      await hand.pinch({ area, zoom, percent }, signal);
      return sent(`zoomed ${zoom} on ${name}`);
    },
  });
}

async function pinchedArea(hand: Hand, target: Target, timeoutMs: number, signal: AbortSignal) {
  const { reader } = hand;
  const wholeOf = ({ width, height }: { width: number; height: number }): Rect => ({
    x: 0,
    y: 0,
    width,
    height,
  });
  if (!hasTarget(target)) return { area: wholeOf((await reader.recent(signal)).space), name: "the screen" };
  const { seen, screen } = await locateReady(hand, target, timeoutMs, signal);
  return { area: seen.element.rect ?? wholeOf(screen.space), name: reader.describe(seen) };
}

const moveFocus = (hand: Hand): Command =>
  defineCommand({
    ...moveFocusTo,
    async run({ timeout_ms, ...target }, signal) {
      const { seen, presses } = await focusReady(hand, target, timeout_ms, signal);
      return sent(`${hand.reader.describe(seen)} has the focus, after ${presses} key presses`);
    },
  });

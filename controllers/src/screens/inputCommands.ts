import { z } from "zod";
import { type Command, defineCommand } from "../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../elements/target.ts";
import { moveFocusTo } from "../focus/command.ts";
import { portable } from "../portable.ts";
import { type Place, type ScreenInput, sent } from "./input.ts";
import type { KeyInput } from "./keys.ts";
import { largestArea, toTheEnd } from "./scrolling.ts";
import type { TouchInput } from "./touch.ts";

/** Android takes a touch of more than 500 ms for a long one. */
const holdMs = 800;
const pixel = z.int().min(0).max(20_000);
const ofPicture = "In pixels of a picture of the whole screen.";
const flung = { ms: 60 };
const durationMs = z.int().min(10).max(10_000);
const bothEnds =
  "Give both ends, each as an element (ref or selector, to_ref or to_selector) or as a point (from_x and from_y, to_x and to_y).";

/** Clicks and scrolling, by the input that the device has; it is known once the device is open. */
export function inputCommands(input: () => ScreenInput): Command[] {
  const click = async (target: Target, timeoutMs: number, times: number, signal: AbortSignal) => {
    const seen = await input().reach(target, timeoutMs, signal);
    await input().click(seen, times, signal);
    return sent(`${times > 1 ? "double-clicked" : "clicked"} ${input().reader.describe(seen)}`);
  };
  return [
    defineCommand({
      ...portable.click_element,
      run: ({ timeout_ms, ...target }, signal) => click(target, timeout_ms, 1, signal),
    }),
    defineCommand({
      ...portable.double_click,
      run: ({ timeout_ms, ...target }, signal) => click(target, timeout_ms, 2, signal),
    }),
    longPress(input),
    defineCommand({
      ...portable.scroll,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(input(), target, timeout_ms, signal);
        if (direction !== "top" && direction !== "bottom") return input().scroll(area, direction, signal);
        const steps = await toTheEnd(input(), area, direction === "top" ? "up" : "down", signal);
        return steps > 1
          ? sent(`scrolled to the ${direction}`)
          : { ...sent(`it is at the ${direction}`), isNews: true };
      },
    }),
    defineCommand({
      ...portable.scroll_to_element,
      async run({ timeout_ms, ...target }, signal) {
        const found = await input().bring(target, timeout_ms, signal);
        return sent(`${input().reader.describe(found)} is on the screen`);
      },
    }),
  ];
}

const areaOf = async (input: ScreenInput, target: Target, timeoutMs: number, signal: AbortSignal) =>
  hasTarget(target)
    ? input.areaAround(target, timeoutMs, signal)
    : largestArea(await input.reader.recent(signal));

function longPress(screenInput: () => ScreenInput): Command {
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
      const duration = { ms: duration_ms, timeoutMs: timeout_ms };
      return sent(`held ${await screenInput().hold(place, duration, signal)}`);
    },
  });
}

export const focusCommand = (keys: KeyInput): Command =>
  defineCommand({
    ...moveFocusTo,
    async run({ timeout_ms, ...target }, signal) {
      const { seen, presses } = await keys.moveTo(target, timeout_ms, signal);
      return sent(`${keys.reader.describe(seen)} has the focus, after ${presses} key presses`);
    },
  });

export const touchCommands = (fingers: TouchInput): Command[] => [
  tap(fingers),
  swipe(fingers),
  fling(fingers),
  drag(fingers),
  pinch(fingers),
];

function tap(fingers: TouchInput): Command {
  const input = z.strictObject({ x: pixel.describe(ofPicture), y: pixel });
  return defineCommand<typeof input>({
    name: "tap",
    description: "Taps a point of the screen; click_element taps an element.",
    effect: "write",
    input,
    async run({ x, y }, signal) {
      await fingers.touch.tap(await fingers.onScreen({ x, y }, signal), 1, signal);
      return sent(`tapped ${x},${y}`);
    },
  });
}

function swipe(fingers: TouchInput): Command {
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
      const from = await fingers.onScreen({ x: from_x, y: from_y }, signal);
      const to = await fingers.onScreen({ x: to_x, y: to_y }, signal);
      await fingers.touch.swipe({ from, to, ms: duration_ms }, signal);
      return sent(`swiped from ${from_x},${from_y} to ${to_x},${to_y}`);
    },
  });
}

function fling(fingers: TouchInput): Command {
  const input = z.strictObject({
    ...targetShape,
    direction: z.enum(["up", "down", "left", "right"]).default("down"),
    ...timeoutShape,
  });
  return defineCommand<typeof input>({
    name: "fling",
    description: "Swipes fast, so that the screen, or the scrollable area of an element, runs on by itself.",
    effect: "write",
    input,
    async run({ direction, timeout_ms, ...target }, signal) {
      const area = await areaOf(fingers, target, timeout_ms, signal);
      await fingers.step(area, direction, flung, signal);
      return sent(`flung ${direction}`);
    },
  });
}

function drag(fingers: TouchInput): Command {
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
        fingers.pointOf(place, { timeoutMs: timeout_ms, hint: bothEnds }, signal);
      const [from, to] = [await locate(start), await locate(end)];
      // A keyboard that was hidden for the second may have moved the first.
      const again = hasTarget(start) ? await locate(start) : from;
      await fingers.touch.drag({ from: again, to, ms: duration_ms }, signal);
      return sent(`dragged ${again.name} to ${to.name}`);
    },
  });
}

function pinch(fingers: TouchInput): Command {
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
      const { area, name } = await pinchedArea(fingers, target, timeout_ms, signal);
      await fingers.touch.pinch({ area, zoom, percent }, signal);
      return sent(`zoomed ${zoom} on ${name}`);
    },
  });
}

async function pinchedArea(fingers: TouchInput, target: Target, timeoutMs: number, signal: AbortSignal) {
  const { reader } = fingers;
  if (hasTarget(target)) {
    const seen = await fingers.reach(target, timeoutMs, signal);
    return { area: seen.element.rect, name: reader.describe(seen) };
  }
  const { width, height } = (await reader.recent(signal)).space;
  return { area: { x: 0, y: 0, width, height }, name: "the screen" };
}

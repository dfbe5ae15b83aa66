import { z } from "zod";
import { type Command, type CommandResult, defineCommand, type Rect } from "../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { portable } from "../portable.ts";
import { areaAround, arrowOf, largestArea, placesOf, signOf, swipeEnds, type Way } from "./areas.ts";
import { focusReady } from "./byFocus.ts";
import { type Hand, sent } from "./hand.ts";
import type { Seen } from "./screen.ts";

/** Slow enough for a list not to run on by more than was swiped. */
const slow = { ms: 800, rests: true };
const fast = { ms: 150 };
const flung = { ms: 60 };
type Pace = { ms: number; rests?: boolean };
/** Ends after so many steps whose end is not in sight. */
const mostSteps = 60;
const leastSearchMs = 60_000;
const nothingScrolled = "nothing scrolled: it is at the end, or there is nothing to scroll";

const flingInput = z.strictObject({
  ...targetShape,
  direction: z.enum(["up", "down", "left", "right"]).default("down"),
  ...timeoutShape,
});

export function scrollCommands(hand: Hand): Command[] {
  return [
    defineCommand({
      ...portable.scroll,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(hand, target, timeout_ms, signal);
        if (direction === "top" || direction === "bottom") {
          const steps = await toTheEnd(hand, area, direction === "top" ? "up" : "down", signal);
          return steps > 1
            ? sent(`scrolled to the ${direction}`)
            : { ...sent(`it is at the ${direction}`), isNews: true };
        }
        if (hand.isTv()) return goOn(hand, direction, signal);
        return scrollOn(hand, area, direction, signal);
      },
    }),
    defineCommand<typeof flingInput>({
      name: "fling",
      description:
        "Swipes fast, so that the screen, or the scrollable area of an element, runs on by itself.",
      effect: "write",
      input: flingInput,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(hand, target, timeout_ms, signal);
        await step(hand, area, { way: direction, pace: flung }, signal);
        return sent(`flung ${direction}`);
      },
    }),
    defineCommand({
      ...portable.scroll_to_element,
      async run({ timeout_ms, ...target }, signal) {
        const bring = hand.isTv() ? bringByFocus : search;
        const found = await bring(hand, target, timeout_ms, signal);
        return sent(`${hand.reader.describe(found)} is on the screen`);
      },
    }),
  ];
}

/** The scroll area that a target is in, else the largest, else the whole screen. On a TV the target gets the focus. */
async function areaOf(hand: Hand, target: Target, timeoutMs: number, signal: AbortSignal): Promise<Rect> {
  if (!hasTarget(target)) return largestArea(await hand.reader.recent(signal));
  if (hand.isTv()) await focusReady(hand, target, timeoutMs, signal);
  const { seen, screen } = await hand.reader.one(target, signal, timeoutMs);
  return areaAround(seen, screen);
}

/** Looks before and after: a swipe at the end of a list does nothing. */
async function scrollOn(hand: Hand, area: Rect, way: Way, signal: AbortSignal): Promise<CommandResult> {
  const before = placesOf(await hand.reader.recent(signal));
  await step(hand, area, { way, pace: slow }, signal);
  const scrolled = sent(`scrolled ${way}`);
  const after = placesOf(await hand.reader.look(signal));
  return after === before ? { ...scrolled, message: nothingScrolled, isNews: true } : scrolled;
}

/** Goes on by a swipe over an area; on a TV, which has no touch screen, by a press of the arrow. */
const step = (hand: Hand, area: Rect, { way, pace }: { way: Way; pace: Pace }, signal: AbortSignal) =>
  hand.isTv() ? hand.press([arrowOf(way)], signal) : hand.swipe({ ...swipeEnds(area, way), ...pace }, signal);

/** On a TV: presses the arrow until half of what was in sight is out of it, or nothing goes on. Says what that did. */
async function goOn(hand: Hand, way: Way, signal: AbortSignal): Promise<CommandResult> {
  const first = await hand.reader.recent(signal);
  const keys = new Set(first.seen.map(({ key }) => key));
  let presses = 0;
  let screen = first;
  for (let before = ""; before !== signOf(screen) && presses < mostSteps; presses++) {
    const left = screen.seen.filter(({ key }) => keys.has(key));
    if (left.length <= keys.size / 2) break;
    before = signOf(screen);
    await hand.press([arrowOf(way)], signal);
    screen = await hand.reader.look(signal);
  }
  if (signOf(screen) === signOf(first)) return { ...sent("nothing went on: it is at the end"), isNews: true };
  const by = `by ${presses} presses of ${arrowOf(way)}`;
  return placesOf(screen) === placesOf(first)
    ? { ...sent(`moved the focus ${by}; nothing scrolled`), isNews: true }
    : sent(`scrolled ${way} ${by}`);
}

/** How many steps it took, of which the last one changed nothing. */
async function toTheEnd(hand: Hand, area: Rect, way: Way, signal: AbortSignal): Promise<number> {
  let before = signOf(await hand.reader.recent(signal));
  for (let steps = 1; steps <= mostSteps; steps++) {
    await step(hand, area, { way, pace: fast }, signal);
    const after = signOf(await hand.reader.look(signal));
    if (after === before) return steps;
    before = after;
  }
  throw new DeviceError(
    "ACTION_REJECTED",
    `The list has no end after ${mostSteps} steps. Scroll up or down instead.`,
  );
}

/** Looks on below, and then above where it began. */
async function search(hand: Hand, target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen> {
  const { reader } = hand;
  const ms = Math.max(timeoutMs, leastSearchMs);
  const until = performance.now() + ms;
  const screens = { down: 0, up: 0 };
  let isLate = false;
  let screen = await reader.recent(signal);
  for (const way of ["down", "up"] as const) {
    for (let before = ""; before !== signOf(screen); ) {
      isLate = performance.now() >= until;
      if (isLate || reader.find(target, screen).length > 0) break;
      before = signOf(screen);
      await step(hand, largestArea(screen), { way, pace: slow }, signal);
      screen = await reader.look(signal);
      if (before !== signOf(screen)) screens[way]++;
    }
  }
  const searched = isLate
    ? ` after ${ms} ms of scrolling down and up, which were over before both ends were seen`
    : ` after scrolling down and up to both ends: its end after ${screens.down} screens, its beginning after ${screens.up}`;
  return (await reader.one(target, signal, 0, searched)).seen;
}

/** On a TV: lists go on by the arrows, and rows by the search of the focus for what can have it. */
async function bringByFocus(
  hand: Hand,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  try {
    return await search(hand, target, timeoutMs, signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "ELEMENT_NOT_FOUND") throw error;
    return (await focusReady(hand, target, timeoutMs, signal)).seen;
  }
}

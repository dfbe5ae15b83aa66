import { z } from "zod";
import { type Command, defineCommand, type Rect } from "../../contract.ts";
import { hasTarget, type Target, targetShape, timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { findKeyCode } from "../../screens/androidKeys.ts";
import { areaAround, largestArea, placesOf, signOf, swipeEnds, type Way } from "../../screens/areas.ts";
import type { Seen } from "../../screens/screen.ts";
import { type AndroidSession, sendInputs, sent } from "../session.ts";
import { focusReady } from "./focus.ts";
import { swipeBy } from "./pointer.ts";

/** Slow enough for a list not to run on by more than was swiped. */
const slowMs = 800;
const fastMs = 150;
const flingMs = 60;
/** Ends after so many steps whose end is not in sight. */
const mostSteps = 60;
const leastSearchMs = 30_000;

const flingInput = z.strictObject({
  ...targetShape,
  direction: z.enum(["up", "down", "left", "right"]).default("down"),
  ...timeoutShape,
});

export function scrollCommands(session: AndroidSession): Command[] {
  return [
    defineCommand({
      ...portable.scroll,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(session, target, timeout_ms, signal);
        if (direction === "top" || direction === "bottom") {
          const steps = await toTheEnd(session, area, direction === "top" ? "up" : "down", signal);
          return sent(steps > 1 ? `scrolled to the ${direction}` : `it is at the ${direction}`);
        }
        if (session.device.facts().isTv) return sent(await goOn(session, direction, signal));
        await sendInputs(session, [swipeOver(area, direction, slowMs)], signal);
        return sent(`scrolled ${direction}`);
      },
    }),
    defineCommand<typeof flingInput>({
      name: "fling",
      description:
        "Swipes fast, so that the screen, or the scrollable area of an element, runs on by itself.",
      effect: "write",
      input: flingInput,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(session, target, timeout_ms, signal);
        await sendInputs(session, [swipeOver(area, direction, flingMs)], signal);
        return sent(`flung ${direction}`);
      },
    }),
    defineCommand({
      ...portable.scroll_to_element,
      async run({ timeout_ms, ...target }, signal) {
        const bring = session.device.facts().isTv ? bringByFocus : search;
        const found = await bring(session, target, timeout_ms, signal);
        return sent(`${session.reader.describe(found)} is on the screen`);
      },
    }),
  ];
}

/** The scroll area that a target is in, else the largest, else the whole screen. On a TV the target gets the focus. */
async function areaOf(
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Rect> {
  if (!hasTarget(target)) return largestArea(await session.reader.recent(signal));
  if (session.device.facts().isTv) await focusReady(session, target, timeoutMs, signal);
  const { seen, screen } = await session.reader.one(target, signal, timeoutMs);
  return areaAround(seen, screen);
}

function swipeOver(area: Rect, way: Way, ms: number): string[] {
  const { from, to } = swipeEnds(area, way);
  return swipeBy(from, to, ms);
}

/** Goes on by a swipe over an area; on a TV, which has no touch screen, by a press of the arrow. */
const stepOver = ({ device }: AndroidSession, area: Rect, way: Way, ms: number): string[] =>
  device.facts().isTv ? ["input", "keyevent", `${findKeyCode(way.toUpperCase())}`] : swipeOver(area, way, ms);

/** On a TV: presses the arrow until half of what was in sight is out of it, or nothing goes on. Says what that did. */
async function goOn(session: AndroidSession, way: Way, signal: AbortSignal): Promise<string> {
  const first = await session.reader.recent(signal);
  const keys = new Set(first.seen.map(({ key }) => key));
  let presses = 0;
  let screen = first;
  for (let before = ""; before !== signOf(screen) && presses < mostSteps; presses++) {
    const left = screen.seen.filter(({ key }) => keys.has(key));
    if (left.length <= keys.size / 2) break;
    before = signOf(screen);
    await sendInputs(session, [stepOver(session, largestArea(screen), way, slowMs)], signal);
    screen = await session.reader.look(signal);
  }
  if (signOf(screen) === signOf(first)) return "nothing went on: it is at the end";
  const by = `by ${presses} presses of ${way.toUpperCase()}`;
  return placesOf(screen) === placesOf(first)
    ? `moved the focus ${by}; nothing scrolled`
    : `scrolled ${way} ${by}`;
}

/** How many steps it took, of which the last one changed nothing. */
async function toTheEnd(session: AndroidSession, area: Rect, way: Way, signal: AbortSignal): Promise<number> {
  let before = signOf(await session.reader.recent(signal));
  for (let steps = 1; steps <= mostSteps; steps++) {
    await sendInputs(session, [stepOver(session, area, way, fastMs)], signal);
    const after = signOf(await session.reader.look(signal));
    if (after === before) return steps;
    before = after;
  }
  throw new DeviceError(
    "ACTION_REJECTED",
    `The list has no end after ${mostSteps} steps. Scroll up or down instead.`,
  );
}

/** Looks on below, and then above where it began. */
async function search(
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  const until = performance.now() + Math.max(timeoutMs, leastSearchMs);
  let screen = await session.reader.recent(signal);
  for (const way of ["down", "up"] as const) {
    for (let before = ""; before !== signOf(screen); ) {
      if (session.reader.find(target, screen).length > 0) break;
      if (performance.now() >= until) break;
      before = signOf(screen);
      await sendInputs(session, [stepOver(session, largestArea(screen), way, slowMs)], signal);
      screen = await session.reader.look(signal);
    }
  }
  const { seen } = await session.reader.one(target, signal, 0);
  return seen;
}

/** On a TV: lists go on by the arrows, and rows by the search of the focus for what can have it. */
async function bringByFocus(
  session: AndroidSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  try {
    return await search(session, target, timeoutMs, signal);
  } catch (error) {
    if (!(error instanceof DeviceError) || error.code !== "ELEMENT_NOT_FOUND") throw error;
    return (await focusReady(session, target, timeoutMs, signal)).seen;
  }
}

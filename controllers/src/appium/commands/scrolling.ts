import { type Command, defineCommand, type Rect } from "../../contract.ts";
import { hasTarget, type Target } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { portable } from "../../portable.ts";
import { areaAround, largestArea, signOf, swipeEnds, type Way } from "../../screens/areas.ts";
import type { Seen } from "../../screens/screen.ts";
import { type AppiumSession, sent } from "../session.ts";
import { swipe } from "../touches.ts";
import { focusReady } from "./focus.ts";
import { pressKey } from "./keys.ts";

const slowMs = 500;
/** Ends after so many steps whose end is not in sight. */
const mostSteps = 60;
const leastSearchMs = 60_000;

export function scrollCommands(session: AppiumSession): Command[] {
  return [
    defineCommand({
      ...portable.scroll,
      async run({ direction, timeout_ms, ...target }, signal) {
        const area = await areaOf(session, target, timeout_ms, signal);
        if (direction === "top" || direction === "bottom") {
          const steps = await toTheEnd(session, area, direction === "top" ? "up" : "down", signal);
          return sent(steps > 1 ? `scrolled to the ${direction}` : `it is at the ${direction}`);
        }
        await step(session, area, direction, signal);
        return sent(`scrolled ${direction}`);
      },
    }),
    defineCommand({
      ...portable.scroll_to_element,
      async run({ timeout_ms, ...target }, signal) {
        const found = session.device.facts().isTv
          ? (await focusReady(session, target, timeout_ms, signal)).seen
          : await search(session, target, timeout_ms, signal);
        return sent(`${session.reader.describe(found)} is on the screen`);
      },
    }),
  ];
}

/** Goes on by a swipe over an area; on a TV, which has no touch screen, by a press of the arrow. */
function step(session: AppiumSession, area: Rect, way: Way, signal: AbortSignal): Promise<void> {
  if (session.device.facts().isTv) return pressKey(session, way.toUpperCase(), 1, signal);
  return swipe(session, { ...swipeEnds(area, way), ms: slowMs, rests: true }, signal);
}

async function areaOf(
  session: AppiumSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Rect> {
  if (!hasTarget(target)) return largestArea(await session.reader.recent(signal));
  const { seen, screen } = await session.reader.one(target, signal, timeoutMs);
  return areaAround(seen, screen);
}

/** How many steps it took, of which the last one changed nothing. */
async function toTheEnd(session: AppiumSession, area: Rect, way: Way, signal: AbortSignal): Promise<number> {
  let before = signOf(await session.reader.recent(signal));
  for (let steps = 1; steps <= mostSteps; steps++) {
    await step(session, area, way, signal);
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
  session: AppiumSession,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  const { reader } = session;
  const until = performance.now() + Math.max(timeoutMs, leastSearchMs);
  let screen = await reader.recent(signal);
  for (const way of ["down", "up"] as const) {
    for (let before = ""; before !== signOf(screen); ) {
      if (reader.find(target, screen).length > 0 || performance.now() >= until) break;
      before = signOf(screen);
      await step(session, largestArea(screen), way, signal);
      screen = await reader.look(signal);
    }
  }
  return (await reader.one(target, signal, 0)).seen;
}

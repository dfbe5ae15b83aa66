import type { Rect } from "../contract.ts";
import type { Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import type { Pace, Point, ScreenInput, Way } from "./input.ts";
import type { Screen, Seen } from "./screen.ts";
import { isScroller, type UiNode } from "./tree.ts";

/** Slow enough for a list not to run on by more than was swiped. */
export const slow: Pace = { ms: 800, rests: true };
const fast: Pace = { ms: 150 };
/** Ends after so many steps whose end is not in sight. */
export const mostSteps = 60;
const leastSearchMs = 60_000;

export function areaAround({ node }: Seen, screen: Screen): Rect {
  for (let around: UiNode | undefined = node; around !== undefined; around = around.parent)
    if (isScroller(around)) return around.bounds;
  return largestArea(screen);
}

export function largestArea({ seen, space }: Screen): Rect {
  const areas = seen.filter(({ node }) => isScroller(node)).map(({ element }) => element.rect);
  const size = ({ width, height }: Rect) => width * height;
  const [largest] = areas.toSorted((a, b) => size(b) - size(a));
  return largest ?? { x: 0, y: 0, width: space.width, height: space.height };
}

/** The ends of a swipe over an area. The finger moves against the direction of the scroll, from a fifth to a fifth, off the edges that the system watches. */
export function swipeEnds({ x, y, width, height }: Rect, way: Way): { from: Point; to: Point } {
  const at = (across: number, down: number) => ({
    x: Math.round(x + width * across),
    y: Math.round(y + height * down),
  });
  const ends = {
    down: [at(0.5, 0.75), at(0.5, 0.25)],
    up: [at(0.5, 0.25), at(0.5, 0.75)],
    right: [at(0.75, 0.5), at(0.25, 0.5)],
    left: [at(0.25, 0.5), at(0.75, 0.5)],
  } as const;
  const [from, to] = ends[way];
  return { from, to };
}

export const placesOf = ({ seen }: Screen): string =>
  seen.map(({ key, element }) => `${key} ${element.rect.x} ${element.rect.y}`).join("\n");

/** The same for two snapshots between which neither anything nor the focus moved. */
export const signOf = (screen: Screen): string =>
  `${screen.seen.find(({ node }) => node.focused)?.key}\n${placesOf(screen)}`;

/** How many steps it took, of which the last one changed nothing. */
export async function toTheEnd(
  input: ScreenInput,
  area: Rect,
  way: Way,
  signal: AbortSignal,
): Promise<number> {
  let before = signOf(await input.reader.recent(signal));
  for (let steps = 1; steps <= mostSteps; steps++) {
    await input.step(area, way, fast, signal);
    const after = signOf(await input.reader.look(signal));
    if (after === before) return steps;
    before = after;
  }
  throw new DeviceError(
    "ACTION_REJECTED",
    `The list has no end after ${mostSteps} steps. Scroll up or down instead.`,
  );
}

/** Scrolls down to the end, then up. */
export async function search(
  input: ScreenInput,
  target: Target,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Seen> {
  const { reader } = input;
  const ms = Math.max(timeoutMs, leastSearchMs);
  const until = performance.now() + ms;
  const screens = { down: 0, up: 0 };
  let isLate = false;
  let screen = await reader.recent(signal);
  for (const way of ["down", "up"] as const) {
    for (let before = ""; before !== signOf(screen); ) {
      isLate = performance.now() >= until;
      if (isLate || (await reader.find(target, screen)).length > 0) break;
      before = signOf(screen);
      await input.step(largestArea(screen), way, slow, signal);
      screen = await reader.look(signal);
      if (before !== signOf(screen)) screens[way]++;
    }
  }
  const searched = isLate
    ? ` after ${ms} ms of scrolling down and up, which were over before both ends were seen`
    : ` after scrolling down and up to both ends: its end after ${screens.down} screens, its beginning after ${screens.up}`;
  return (await reader.one(target, signal, 0, searched)).seen;
}

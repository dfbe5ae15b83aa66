import type { Rect } from "../contract.ts";
import type { Point } from "./pointing.ts";
import { isScroller } from "./roles.ts";
import type { Screen, Seen } from "./screen.ts";
import type { UiNode } from "./tree.ts";

export type Way = "up" | "down" | "left" | "right";

const arrows = { up: "UP", down: "DOWN", left: "LEFT", right: "RIGHT" } as const;
/** The key of a remote that goes a way. */
export const arrowOf = (way: Way) => arrows[way];

/** The scroll area that an element is in, else the largest, else the whole screen. */
export function areaAround({ node }: Seen, screen: Screen): Rect {
  for (let around: UiNode | undefined = node; around !== undefined; around = around.parent)
    if (isScroller(around)) return around.bounds;
  return largestArea(screen);
}

/** The largest scroll area, else the whole screen. */
export function largestArea({ seen, space }: Screen): Rect {
  const areas = seen.filter(({ node }) => isScroller(node)).flatMap(({ element }) => element.rect ?? []);
  const size = ({ width, height }: Rect) => width * height;
  const [largest] = areas.toSorted((a, b) => size(b) - size(a));
  return largest ?? { x: 0, y: 0, width: space.width, height: space.height };
}

/** The ends of a swipe over an area. The finger goes against the way in which one looks on; from a fifth to a fifth, off the edges that the system watches. */
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

/** What is where. */
export const placesOf = ({ seen }: Screen): string =>
  seen.map(({ key, element }) => `${key} ${element.rect?.x} ${element.rect?.y}`).join("\n");

/** The same for two looks between which neither anything nor the focus moved. */
export const signOf = (screen: Screen): string =>
  `${screen.seen.find(({ node }) => node.focused)?.key}\n${placesOf(screen)}`;

import type { Rect } from "@labwright/controllers";
import { z } from "zod";
import type { LabUi, Point, UiNode } from "../labUi.ts";
import { Uia2Failure } from "./failure.ts";
import { Uia2Session } from "./session.ts";

export const element = z.record(z.string(), z.unknown());
const point = z.object({ x: z.number(), y: z.number() });
const area = z.object({ left: z.number(), top: z.number(), width: z.number(), height: z.number() });
const direction = z.enum(["up", "down", "left", "right"]);
const percent = z.number().min(0).max(1);
const speed = z.number().min(0).optional();
const place = { origin: element.optional(), area: area.optional() };

export const pressBody = z.object({
  origin: element.optional(),
  offset: point.optional(),
  duration: z.number().optional(),
});
export const dragBody = z.object({
  origin: element.optional(),
  start: point.optional(),
  end: point,
  speed,
});
export const swipeBody = z.object({ ...place, direction, percent, speed });
export const scrollBody = z.object({ ...place, direction, percent: z.number().min(0), speed });
export const flingBody = z.object({ ...place, direction, speed });
export const pinchBody = z.object({ ...place, percent, speed });
export const scrollToBody = z.object({
  origin: element.optional(),
  params: z.object({ strategy: z.string(), selector: z.string(), maxSwipes: z.number().optional() }),
});

/** Dp a second: AOSP, UiObject2. */
const swipeSpeed = 5_000;
const flingSpeed = 7_500;
/** Between two taps of one double tap, half of the longest: AOSP, ViewConfiguration. */
const doubleTapMs = 150;
/** So slow that nothing runs on when the finger leaves. */
const standstillMs = 60_000;
const longPressMs = 500;

type Direction = z.output<typeof direction>;
const opposite: Readonly<Record<Direction, Direction>> = {
  up: "down",
  down: "up",
  left: "right",
  right: "left",
};

const pause = (session: Uia2Session, ms: number): Promise<void> =>
  new Promise((resolve) => session.clock.after(ms, resolve));

export const centerOf = ({ bounds: { x, y, width, height } }: UiNode): Point => ({
  x: Math.round(x + width / 2),
  y: Math.round(y + height / 2),
});

/** An element's middle, or the offset from its corner; without an element the offset is the place. */
function pressPoint(session: Uia2Session, { origin, offset }: z.output<typeof pressBody>): Point {
  const node = origin && session.node(Uia2Session.idOf(origin));
  if (node && offset) return { x: node.bounds.x + offset.x, y: node.bounds.y + offset.y };
  if (node) return centerOf(node);
  if (offset) return offset;
  throw new Uia2Failure("invalid argument", "Either an element or an offset is needed");
}

export function click(session: Uia2Session, body: z.output<typeof pressBody>): void {
  session.ui.tap(pressPoint(session, body));
}

export function longClick(session: Uia2Session, body: z.output<typeof pressBody>): void {
  const at = pressPoint(session, body);
  if ((body.duration ?? longPressMs) < longPressMs) session.ui.tap(at);
  else session.ui.longPress(at);
}

export async function doubleClick(session: Uia2Session, body: z.output<typeof pressBody>): Promise<void> {
  const at = pressPoint(session, body);
  session.ui.tap(at);
  await pause(session, doubleTapMs);
  session.ui.tap(at);
}

export function drag(session: Uia2Session, { origin, start, end }: z.output<typeof dragBody>): void {
  session.ui.drag(pressPoint(session, { origin, offset: start }), end);
}

type Placed = { origin?: z.output<typeof element> | undefined; area?: z.output<typeof area> | undefined };

function areaOf(session: Uia2Session, { origin, area: given }: Placed): Rect {
  if (origin) return session.node(Uia2Session.idOf(origin)).bounds;
  if (given) return { x: given.left, y: given.top, width: given.width, height: given.height };
  throw new Uia2Failure("invalid argument", "Either an element or an area is needed");
}

/** From the edge of the area, so far as the part of it says. */
function path({ x, y, width, height }: Rect, way: Direction, part: number): [from: Point, to: Point] {
  const [right, bottom] = [x + width - 1, y + height - 1];
  const [middleX, middleY] = [Math.round(x + width / 2), Math.round(y + height / 2)];
  const [dx, dy] = [Math.round((width - 1) * part), Math.round((height - 1) * part)];
  const paths: Record<Direction, [Point, Point]> = {
    up: [
      { x: middleX, y: bottom },
      { x: middleX, y: bottom - dy },
    ],
    down: [
      { x: middleX, y },
      { x: middleX, y: y + dy },
    ],
    left: [
      { x: right, y: middleY },
      { x: right - dx, y: middleY },
    ],
    right: [
      { x, y: middleY },
      { x: x + dx, y: middleY },
    ],
  };
  return paths[way];
}

const lengthOf = ([from, to]: [Point, Point]) => Math.hypot(to.x - from.x, to.y - from.y);

function move(
  ui: LabUi,
  way: [from: Point, to: Point],
  { speed, usual }: { speed: number | undefined; usual: number },
) {
  const pixelsPerSecond = speed || usual * (ui.density / 160);
  ui.swipe(way[0], way[1], (lengthOf(way) / pixelsPerSecond) * 1_000);
}

export function swipe(session: Uia2Session, body: z.output<typeof swipeBody>): void {
  const way = path(areaOf(session, body), body.direction, body.percent);
  move(session.ui, way, { speed: body.speed, usual: swipeSpeed });
}

/** True where it can go on. */
export function scroll(session: Uia2Session, body: z.output<typeof scrollBody>): boolean {
  const area = areaOf(session, body);
  for (let left = body.percent; left > 0; left -= 1) {
    const [from, to] = path(area, opposite[body.direction], Math.min(left, 1));
    session.ui.swipe(from, to, standstillMs);
  }
  return canGoOn(session, area, body.direction);
}

export function fling(session: Uia2Session, body: z.output<typeof flingBody>): boolean {
  const area = areaOf(session, body);
  move(session.ui, path(area, opposite[body.direction], 1), { speed: body.speed, usual: flingSpeed });
  return canGoOn(session, area, body.direction);
}

function canGoOn(session: Uia2Session, area: Rect, way: Direction): boolean {
  const found = scrollable(session.ui.active().root, area);
  const canScroll = found?.canScroll ?? { forward: false, backward: false };
  return way === "down" || way === "right" ? canScroll.forward : canScroll.backward;
}

/** The innermost that scrolls in the middle of the area. */
function scrollable(node: UiNode, area: Rect): UiNode | undefined {
  const { x, y, width, height } = node.bounds;
  const at = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  if (at.x < x || at.y < y || at.x >= x + width || at.y >= y + height) return undefined;
  for (const child of node.children) {
    const inner = scrollable(child, area);
    if (inner) return inner;
  }
  return node.scrollable ? node : undefined;
}

/** Two fingers that part, or come together, by a part of the area. */
export function pinch(session: Uia2Session, body: z.output<typeof pinchBody>, opens: boolean): void {
  const { x, y, width, height } = areaOf(session, body);
  const scale = 1 + body.percent;
  session.ui.pinch({ x: x + width / 2, y: y + height / 2 }, opens ? scale : 1 / scale);
}

export async function scrollTo(session: Uia2Session, body: z.output<typeof scrollToBody>): Promise<void> {
  const { strategy, selector, maxSwipes = 30 } = body.params;
  const area = body.origin ? session.node(Uia2Session.idOf(body.origin)) : firstScrollable(session);
  for (const way of ["forward", "backward"] as const) {
    for (let swipes = 0; swipes <= maxSwipes; swipes++) {
      if ((await session.findAll({ strategy, selector })).length > 0) return;
      if (!session.scrollOn(area, way)) break;
    }
  }
  throw new Uia2Failure("no such element", `Scrolling has not shown ${selector}`);
}

function firstScrollable({ ui }: Uia2Session): UiNode {
  const { root } = ui.active();
  const within = (node: UiNode): UiNode | undefined => {
    if (node.scrollable) return node;
    for (const child of node.children) {
      const found = within(child);
      if (found) return found;
    }
    return undefined;
  };
  return within(root) ?? root;
}

import type { Rect, Space } from "../shapes.ts";

/** Keys that move the focus. Those across rows come first: of two ways that are as long, the one that leaves the row is taken. */
export const arrows = ["UP", "DOWN", "LEFT", "RIGHT"] as const;
export type Arrow = (typeof arrows)[number];

export const opposite = { UP: "DOWN", DOWN: "UP", LEFT: "RIGHT", RIGHT: "LEFT" } as const;

/** A rect seen along an arrow: it begins at `near` and ends at `far`, and lies between `from` and `to` across. */
type Span = { near: number; far: number; from: number; to: number };

function along({ x, y, width, height }: Rect, arrow: Arrow): Span {
  switch (arrow) {
    case "UP":
      return { near: -(y + height), far: -y, from: x, to: x + width };
    case "DOWN":
      return { near: y, far: y + height, from: x, to: x + width };
    case "LEFT":
      return { near: -(x + width), far: -x, from: y, to: y + height };
    case "RIGHT":
      return { near: x, far: x + width, from: y, to: y + height };
  }
}

/**
 * The candidate that Android's FocusFinder documents for an arrow: what lies in the row or column of the source wins over what
 * lies next to it, else the nearest, where the way along the arrow counts 13 times. Undefined when none lies ahead.
 */
export function aheadOf<One extends { rect: Rect }>(
  source: Rect,
  candidates: Iterable<One>,
  arrow: Arrow,
): One | undefined {
  const own = along(source, arrow);
  let best: { one: One; span: Span } | undefined;
  for (const one of candidates) {
    const span = along(one.rect, arrow);
    if (!isAhead(own, span)) continue;
    if (best === undefined || isBetter(own, span, best.span, arrow)) best = { one, span };
  }
  return best?.one;
}

const isAhead = (own: Span, other: Span): boolean =>
  own.far < other.far && (own.near < other.near || own.far <= other.near);

/** Whether an arrow from one rect meets the other. */
export const isInLine = (from: Rect, to: Rect, arrow: Arrow): boolean =>
  isInBeam(along(from, arrow), along(to, arrow));

const isInBeam = (own: Span, other: Span): boolean => other.to > own.from && other.from < own.to;

function isBetter(own: Span, one: Span, best: Span, arrow: Arrow): boolean {
  if (winsByBeam(own, one, best, arrow)) return true;
  return !winsByBeam(own, best, one, arrow) && weight(own, one) < weight(own, best);
}

/** Up and down, what lies next to the column still wins when it ends before the other one begins. */
function winsByBeam(own: Span, one: Span, other: Span, arrow: Arrow): boolean {
  if (!isInBeam(own, one) || isInBeam(own, other)) return false;
  if (arrow === "LEFT" || arrow === "RIGHT" || other.near < own.far) return true;
  return gap(own, one) < Math.max(1, other.far - own.far);
}

const gap = (own: Span, other: Span): number => Math.max(0, other.near - own.far);

function weight(own: Span, other: Span): number {
  const across = (own.from + own.to - other.from - other.to) / 2;
  return 13 * gap(own, other) ** 2 + across ** 2;
}

/** Between the rect and the edge of the screen, one more like it has no room: if there is one, it is out of sight. */
export function isAtEdge(rect: Rect, arrow: Arrow, space: Space): boolean {
  const own = along(rect, arrow);
  const edge = along({ x: 0, y: 0, width: space.width, height: space.height }, arrow);
  return edge.far - own.far < own.far - own.near;
}

/** Siblings of one row (for UP and DOWN) or one column: as high or wide as each other, at the same height or side. */
export function areSiblings(one: Rect, other: Rect, arrow: Arrow): boolean {
  const [a, b] = [along(one, arrow), along(other, arrow)];
  const isLevel = Math.abs(a.near - b.near) <= 2 && Math.abs(a.far - b.far) <= 2;
  const [least, most] = [a.to - a.from, b.to - b.from].toSorted((x, y) => x - y);
  return isLevel && (most ?? 0) <= 1.5 * (least ?? 0);
}

/** It is shorter along the arrow than the one behind it in the same line: the edge cuts it off, so the list goes on. */
export function isCut(rect: Rect, others: Iterable<{ rect: Rect }>, arrow: Arrow): boolean {
  const behind = aheadOf(rect, others, opposite[arrow]);
  if (behind === undefined) return false;
  const [own, theirs] = [along(rect, arrow), along(behind.rect, arrow)];
  const isInLine = Math.abs(own.from - theirs.from) <= 2 && Math.abs(own.to - theirs.to) <= 2;
  return isInLine && own.far - own.near < 0.97 * (theirs.far - theirs.near);
}

/** Whether an arrow leads from one rect nearer to another. */
export function isTowards(from: Rect, to: Rect, arrow: Arrow): boolean {
  return along(from, arrow).far < along(to, arrow).far;
}

const isInside = (inner: Rect, outer: Rect): boolean =>
  inner !== outer &&
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height &&
  inner.width * inner.height < outer.width * outer.height;

/** Says whether a rect holds another one: lists can have the focus, too, but pass it on to what is in them. */
export const holdsAnother = (rect: Rect, others: readonly { rect: Rect }[]): boolean =>
  others.some((other) => isInside(other.rect, rect));

/** How many rows there are, plus how many stand in the longest. */
export function rowsAndColumns(places: Iterable<{ rect: Rect }>): number {
  const rows: { middle: number; count: number }[] = [];
  for (const { rect } of places) {
    const middle = rect.y + rect.height / 2;
    const row = rows.find((one) => Math.abs(one.middle - middle) < rect.height / 2);
    if (row) row.count += 1;
    else rows.push({ middle, count: 1 });
  }
  return rows.length + Math.max(0, ...rows.map(({ count }) => count));
}

import type { Rect } from "@labwright/controllers";

export type Direction = "left" | "right" | "up" | "down";

/**
 * The candidate that a D-pad leads to from a rect: as Android's FocusFinder does it. What lies in the beam (the source's own
 * row or column) wins over what lies outside it; else the least distance wins, in which the way along the direction counts
 * thirteen times.
 */
export function nextFocus<T extends { rect: Rect }>(
  source: Rect,
  candidates: readonly T[],
  direction: Direction,
): T | undefined {
  let best: T | undefined;
  for (const candidate of candidates) {
    if (!isAhead(source, candidate.rect, direction)) continue;
    if (!best || isBetter(source, candidate.rect, best.rect, direction)) best = candidate;
  }
  return best;
}

function isBetter(source: Rect, one: Rect, other: Rect, direction: Direction): boolean {
  if (beamBeats(source, one, other, direction)) return true;
  if (beamBeats(source, other, one, direction)) return false;
  return distance(source, one, direction) < distance(source, other, direction);
}

/** Edges along the direction, turned so that ahead is always towards greater numbers. */
function along({ x, y, width, height }: Rect, direction: Direction): { near: number; far: number } {
  if (direction === "right") return { near: x, far: x + width };
  if (direction === "left") return { near: -(x + width), far: -x };
  return direction === "down" ? { near: y, far: y + height } : { near: -(y + height), far: -y };
}

function across({ x, y, width, height }: Rect, direction: Direction): { from: number; to: number } {
  const isSideways = direction === "left" || direction === "right";
  return isSideways ? { from: y, to: y + height } : { from: x, to: x + width };
}

function isAhead(source: Rect, target: Rect, direction: Direction): boolean {
  const from = along(source, direction);
  const to = along(target, direction);
  return (from.near < to.near || from.far <= to.near) && from.far < to.far;
}

function isInBeam(source: Rect, target: Rect, direction: Direction): boolean {
  const one = across(source, direction);
  const other = across(target, direction);
  return other.to > one.from && other.from < one.to;
}

function beamBeats(source: Rect, one: Rect, other: Rect, direction: Direction): boolean {
  if (isInBeam(source, other, direction) || !isInBeam(source, one, direction)) return false;
  const edge = along(source, direction).far;
  const isOtherBeyondEdge = edge <= along(other, direction).near;
  if (!isOtherBeyondEdge || direction === "left" || direction === "right") return true;
  const gap = Math.max(0, along(one, direction).near - edge);
  return gap < Math.max(1, along(other, direction).far - edge);
}

function distance(source: Rect, target: Rect, direction: Direction): number {
  const major = Math.max(0, along(target, direction).near - along(source, direction).far);
  const middle = ({ from, to }: { from: number; to: number }) => (from + to) / 2;
  const minor = Math.abs(middle(across(source, direction)) - middle(across(target, direction)));
  return 13 * major * major + minor * minor;
}

import { z } from "zod";
import type { LabUi, Point } from "../android/labUi.ts";

const step = z.object({
  type: z.string(),
  duration: z.number().min(0).optional(),
  x: z.number().optional(),
  y: z.number().optional(),
  origin: z.literal("viewport").optional(),
});
const source = z.object({ type: z.enum(["pointer", "none"]), id: z.string(), actions: z.array(step) });
export const actionsBody = z.object({ actions: z.array(source) });
type Step = z.output<typeof step>;

/** A finger from where it comes down to where it leaves. */
type Stroke = { points: Point[]; heldMs: number; movedMs: number; restedMs: number };

const longPressMs = 500;
/** A finger that rests so long before it leaves flings nothing. */
const restMs = 100;
const slowMs = 60_000;
const slop = 8;

/** W3C actions: strokes of a finger one after the other, or two fingers together as a pinch. */
export function performActions(ui: LabUi, { actions }: z.output<typeof actionsBody>): void {
  const fingers = actions.filter(({ type }) => type === "pointer").map((one) => strokesOf(one.actions));
  const [first, second] = fingers;
  if (first?.[0] && second?.[0]) pinch(ui, first[0], second[0]);
  else for (const stroke of first ?? []) draw(ui, stroke);
}

function strokesOf(steps: readonly Step[]): Stroke[] {
  const strokes: Stroke[] = [];
  let at: Point = { x: 0, y: 0 };
  let stroke: Stroke | undefined;
  for (const one of steps) {
    if (one.type === "pointerMove") at = { x: one.x ?? 0, y: one.y ?? 0 };
    if (one.type === "pointerDown") {
      stroke = { points: [at], heldMs: 0, movedMs: 0, restedMs: 0 };
      strokes.push(stroke);
    } else if (one.type === "pointerUp") stroke = undefined;
    else if (stroke) extend(stroke, one, at);
  }
  return strokes;
}

function extend(stroke: Stroke, { type, duration = 0 }: Step, at: Point): void {
  if (type === "pointerMove") {
    stroke.points.push(at);
    stroke.movedMs += duration;
    stroke.restedMs = 0;
  } else if (stroke.points.length === 1) stroke.heldMs += duration;
  else stroke.restedMs += duration;
}

const lengthBetween = (one: Point, other: Point) => Math.hypot(other.x - one.x, other.y - one.y);

function draw(ui: LabUi, { points, heldMs, movedMs, restedMs }: Stroke): void {
  const [from] = points;
  const to = points.at(-1);
  if (!from || !to) return;
  if (lengthBetween(from, to) < slop) {
    if (heldMs + movedMs + restedMs >= longPressMs) ui.longPress(from);
    else ui.tap(from);
  } else if (heldMs >= longPressMs) ui.drag(from, to);
  else ui.swipe(from, to, restedMs >= restMs ? slowMs : movedMs);
}

function pinch(ui: LabUi, one: Stroke, other: Stroke): void {
  const ends = [one.points[0], other.points[0], one.points.at(-1), other.points.at(-1)];
  const [a, b, c, d] = ends;
  if (!a || !b || !c || !d) return;
  const before = Math.max(1, lengthBetween(a, b));
  const center = { x: Math.round((a.x + b.x) / 2), y: Math.round((a.y + b.y) / 2) };
  ui.pinch(center, lengthBetween(c, d) / before);
}

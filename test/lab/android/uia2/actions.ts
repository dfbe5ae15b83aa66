import { z } from "zod";
import type { LabUi, Point } from "../labUi.ts";
import { Uia2Failure } from "./failure.ts";
import { centerOf, element } from "./gestures.ts";
import { Uia2Session } from "./session.ts";

const step = z.object({
  type: z.string(),
  duration: z.number().min(0).optional(),
  x: z.number().optional(),
  y: z.number().optional(),
  origin: z.union([z.enum(["viewport", "pointer"]), element]).optional(),
  value: z.string().optional(),
});
const source = z.object({ type: z.enum(["pointer", "key", "none"]), id: z.string(), actions: z.array(step) });
export const actionsBody = z.object({ actions: z.array(source) });
type Step = z.output<typeof step>;
/** Whose screen is touched, and where its elements are. */
type TouchSession = Pick<Uia2Session, "ui" | "node">;

/** A finger from where it comes down to where it leaves. */
type Stroke = { points: Point[]; heldMs: number; movedMs: number; restedMs: number };

const longPressMs = 500;
/** A finger that rests so long before it leaves flings nothing. */
const restMs = 100;
const slowMs = 60_000;
const slop = 8;

/** W3C actions: strokes of a finger one after the other, two fingers together as a pinch, and keys. */
export function performActions(session: TouchSession, { actions }: z.output<typeof actionsBody>): void {
  const fingers = actions
    .filter(({ type }) => type === "pointer")
    .map((one) => strokesOf(session, one.actions));
  const [first, second] = fingers;
  if (first?.[0] && second?.[0]) pinch(session.ui, first[0], second[0]);
  else for (const stroke of first ?? []) draw(session.ui, stroke);
  for (const { type, actions: steps } of actions) if (type === "key") pressKeys(session.ui, steps);
}

function strokesOf(session: TouchSession, steps: readonly Step[]): Stroke[] {
  const strokes: Stroke[] = [];
  let at: Point = { x: 0, y: 0 };
  let stroke: Stroke | undefined;
  for (const one of steps) {
    if (one.type === "pointerMove") at = target(session, one, at);
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

function target(session: TouchSession, { x = 0, y = 0, origin = "viewport" }: Step, at: Point): Point {
  if (origin === "viewport") return { x, y };
  const from = origin === "pointer" ? at : centerOf(session.node(Uia2Session.idOf(origin)));
  return { x: from.x + x, y: from.y + y };
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

/** Keys without a letter, by their place in W3C's table, with Android's code. */
const keys: ReadonlyMap<string, number> = new Map([
  ["\uE003", 67],
  ["\uE004", 61],
  ["\uE006", 66],
  ["\uE007", 66],
  ["\uE00C", 111],
  ["\uE00D", 62],
  ["\uE012", 21],
  ["\uE013", 19],
  ["\uE014", 22],
  ["\uE015", 20],
]);

function pressKeys(ui: LabUi, steps: readonly Step[]): void {
  for (const { type, value } of steps) {
    if (type !== "keyDown") continue;
    if (value === undefined) throw new Uia2Failure("invalid argument", "A key needs its value");
    const code = keys.get(value);
    if (code === undefined) ui.type(value);
    else ui.key(code);
  }
}

import type { Point } from "../screens/pointing.ts";
import { type AppiumSession, input } from "./session.ts";

type Step =
  | { type: "pointerMove"; duration: number; x: number; y: number; origin: "viewport" }
  | { type: "pointerDown" | "pointerUp"; button: 0 }
  | { type: "pause"; duration: number };

const touchMs = 50;
/** Between the taps of a double tap. */
const betweenMs = 80;
/** A finger that rests so long before it leaves lets nothing run on. */
const restMs = 200;

const to = ({ x, y }: Point, duration = 0): Step => ({
  type: "pointerMove",
  duration,
  x,
  y,
  origin: "viewport",
});
const down: Step = { type: "pointerDown", button: 0 };
const up: Step = { type: "pointerUp", button: 0 };
const pause = (duration: number): Step => ({ type: "pause", duration });

/** Taps a point, once or twice. */
export function tap(session: AppiumSession, point: Point, times: number, signal: AbortSignal): Promise<void> {
  const one = [down, pause(touchMs), up];
  const again = Array.from({ length: times - 1 }, () => [pause(betweenMs), ...one]).flat();
  return perform(session, [to(point), ...one, ...again], signal);
}

export const hold = (session: AppiumSession, point: Point, ms: number, signal: AbortSignal): Promise<void> =>
  perform(session, [to(point), down, pause(ms), up], signal);

/** `rests`: the finger stops before it leaves. */
export function swipe(
  session: AppiumSession,
  way: { from: Point; to: Point; ms: number; rests?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const rest = way.rests === true ? [pause(restMs)] : [];
  return perform(session, [to(way.from), down, to(way.to, way.ms), ...rest, up], signal);
}

/** One finger, as W3C actions. */
async function perform(session: AppiumSession, actions: readonly Step[], signal: AbortSignal): Promise<void> {
  const finger = { type: "pointer", id: "finger", parameters: { pointerType: "touch" }, actions };
  await input(session, () => session.device.call("performActions", [[finger]], signal));
}

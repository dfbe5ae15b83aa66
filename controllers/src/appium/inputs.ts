import type { Point } from "../screens/input.ts";
import type { Keys } from "../screens/keys.ts";
import type { Pinch, Swipe, Touch } from "../screens/touch.ts";
import { holdOk, pressKey } from "./commands/keys.ts";
import { hideKeyboard } from "./commands/system.ts";
import type { AppiumParts } from "./session.ts";

type Step =
  | { type: "pointerMove"; duration: number; x: number; y: number; origin: "viewport" }
  | { type: "pointerDown" | "pointerUp"; button: 0 }
  | { type: "pause"; duration: number };

const touchMs = 50;
/** Between the taps of a double tap. */
const betweenMs = 80;
/** A finger that rests this long before lifting causes no fling. */
const restMs = 200;
/** Android and iOS take a touch of more than 500 ms for a long one, by which things can be moved. */
const liftMs = 800;
const pinchMs = 500;

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

export function createTouch(session: AppiumParts): Touch {
  const { device, pictures } = session;
  const perform = (fingers: readonly (readonly Step[])[], signal: AbortSignal) =>
    session.reader.send(
      async () => void (await device.call("performActions", [fingers.map(finger)], signal)),
    );
  return {
    natural: () => device.facts().screen,
    inTree: (pixel, signal) => pictures.inTree(pixel, signal),
    tap: (point, times, signal) => perform([tapping(point, times)], signal),
    hold: (point, ms, signal) => perform([[to(point), down, pause(ms), up]], signal),
    swipe: (swipe, signal) => perform([swiping(swipe)], signal),
    drag: ({ from, to: end, ms }, signal) =>
      perform([[to(from), down, pause(liftMs), to(end, ms), pause(restMs), up]], signal),
    pinch: (given, signal) => perform(pinching(given), signal),
    hideKeyboard: (signal) => hideKeyboard(session, signal),
  };
}

export const createKeys = (session: AppiumParts): Keys => ({
  async press(keys, signal) {
    for (const key of keys) await pressKey(session, key, 1, signal);
  },
  holdOk: (ms, signal) => holdOk(session, ms, signal),
});

const finger = (actions: readonly Step[], index: number) => ({
  type: "pointer",
  id: `finger${index + 1}`,
  parameters: { pointerType: "touch" },
  actions,
});

function tapping(point: Point, times: number): Step[] {
  const one = [down, pause(touchMs), up];
  const again = Array.from({ length: times - 1 }, () => [pause(betweenMs), ...one]).flat();
  return [to(point), ...one, ...again];
}

const swiping = ({ from, to: end, ms, rests }: Swipe): Step[] => [
  ...[to(from), down, to(end, ms)],
  ...(rests === true ? [pause(restMs)] : []),
  up,
];

/** Two fingers side by side: near the middle, and so much of the half of the area away from there. */
function pinching({ area, zoom, percent }: Pinch): Step[][] {
  const middle = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  const near = area.width / 10;
  const far = near + (area.width / 2 - near) * (percent / 100) * 0.9;
  const at = (side: -1 | 1, distance: number) => ({
    x: Math.round(middle.x + side * distance),
    y: Math.round(middle.y),
  });
  return ([-1, 1] as const).map((side) => {
    const [from, end] = zoom === "in" ? [near, far] : [far, near];
    return [to(at(side, from)), down, to(at(side, end), pinchMs), up];
  });
}

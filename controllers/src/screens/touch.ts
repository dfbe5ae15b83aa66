import type { Rect, Withheld } from "../contract.ts";
import { hasTarget, type Target } from "../elements/target.ts";
import { DeviceError } from "../errors.ts";
import { moveFocusTo } from "../focus/command.ts";
import { pause } from "../waiting/deadlines.ts";
import { type Pace, type Place, type Point, type ScreenInput, sent, type Way } from "./input.ts";
import type { ScreenReader } from "./reader.ts";
import type { Screen, Seen } from "./screen.ts";
import { areaAround, placesOf, search, slow, swipeEnds } from "./scrolling.ts";
import { allNodes, nodesBelow, type UiNode } from "./tree.ts";

const lookEveryMs = 150;

export type Swipe = Pace & { from: Point; to: Point };
export type Pinch = { area: Rect; zoom: "in" | "out"; percent: number };

/** How a driver touches its screen, in the units of the tree. Each reports to the reader that something was sent, whatever comes of it. */
export type Touch = {
  /** The size of the screen in its natural position. */
  natural(): { width: number; height: number };
  inTree(pixel: Point, signal: AbortSignal): Promise<Point>;
  tap(point: Point, times: number, signal: AbortSignal): Promise<void>;
  hold(point: Point, ms: number, signal: AbortSignal): Promise<void>;
  swipe(swipe: Swipe, signal: AbortSignal): Promise<void>;
  /** Holds what is at `from` until it can be moved, and drops it at `to`. */
  drag(swipe: Swipe, signal: AbortSignal): Promise<void>;
  /** Two fingers part (`in`) or meet (`out`), by so much of the area. */
  pinch(pinch: Pinch, signal: AbortSignal): Promise<void>;
  hideKeyboard(signal: AbortSignal): Promise<void>;
};

const noFocus = "A phone is touched and moves no focus by keys. Use click_element.";

export class TouchInput implements ScreenInput {
  readonly reader: ScreenReader;
  readonly touch: Touch;
  readonly withheld: readonly Withheld[] = [{ name: moveFocusTo.name, reason: noFocus }];

  constructor(reader: ScreenReader, touch: Touch) {
    this.reader = reader;
    this.touch = touch;
  }

  /** A keyboard in front of the element is hidden, once. */
  async reach(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen> {
    const until = performance.now() + timeoutMs;
    for (let hidden = false; ; ) {
      const { seen, screen } = await this.reader.one(target, signal, Math.max(0, until - performance.now()));
      const problem = problemOf(seen, screen);
      if (problem === undefined) return seen;
      if (problem === covered && !hidden) {
        hidden = true;
        await this.touch.hideKeyboard(signal);
        continue;
      }
      if (problem === covered || problem === behindDialog || performance.now() >= until)
        throw new DeviceError("ELEMENT_NOT_ACTIONABLE", `${this.reader.describe(seen)} ${problem}`);
      await pause(lookEveryMs, signal);
      await this.reader.look(signal);
    }
  }

  click(reached: Seen, times: number, signal: AbortSignal): Promise<void> {
    return this.touch.tap(centreOf(reached.element.rect), times, signal);
  }

  async edit(reached: Seen, signal: AbortSignal): Promise<void> {
    if (!reached.node.focused) await this.click(reached, 1, signal);
  }

  use({ bounds }: UiNode, signal: AbortSignal): Promise<void> {
    return this.touch.tap(centreOf(bounds), 1, signal);
  }

  async hold(place: Place, { ms, timeoutMs }: { ms: number; timeoutMs: number }, signal: AbortSignal) {
    const hint = "Give an element by ref or selector, or a point by x and y.";
    const { name, ...point } = await this.pointOf(place, { timeoutMs, hint }, signal);
    await this.touch.hold(point, ms, signal);
    return name;
  }

  async areaAround(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Rect> {
    const { seen, screen } = await this.reader.one(target, signal, timeoutMs);
    return areaAround(seen, screen);
  }

  step(area: Rect, way: Way, pace: Pace, signal: AbortSignal): Promise<void> {
    return this.touch.swipe({ ...swipeEnds(area, way), ...pace }, signal);
  }

  /** Looks before and after: a swipe at the end of a list does nothing. */
  async scroll(area: Rect, way: Way, signal: AbortSignal) {
    const before = placesOf(await this.reader.recent(signal));
    await this.step(area, way, slow, signal);
    const scrolled = sent(`scrolled ${way}`);
    const after = placesOf(await this.reader.look(signal));
    if (after !== before) return scrolled;
    const message = "nothing scrolled: it is at the end, or there is nothing to scroll";
    return { ...scrolled, message, isNews: true };
  }

  bring(target: Target, timeoutMs: number, signal: AbortSignal): Promise<Seen> {
    return search(this, target, timeoutMs, signal);
  }

  async typeOnScreen(): Promise<void> {}

  /** Throws INVALID_PARAMS with the hint unless it is an element or a point, and what `reach` throws. */
  async pointOf(
    { x, y, ...target }: Place,
    { timeoutMs, hint }: { timeoutMs: number; hint: string },
    signal: AbortSignal,
  ): Promise<Point & { name: string }> {
    const isPoint = x !== undefined && y !== undefined;
    const isElement = hasTarget(target);
    const isBoth = isElement && (x !== undefined || y !== undefined);
    if (isBoth || (!isElement && !isPoint)) throw new DeviceError("INVALID_PARAMS", hint);
    if (isPoint) return { ...(await this.onScreen({ x, y }, signal)), name: `${x},${y}` };
    const seen = await this.reach(target, timeoutMs, signal);
    return { ...centreOf(seen.element.rect), name: this.reader.describe(seen) };
  }

  /** A point of a picture in the units of the tree. Throws INVALID_PARAMS for one that is beyond the screen however it is turned. */
  async onScreen(pixel: Point, signal: AbortSignal): Promise<Point> {
    const point = await this.touch.inTree(pixel, signal);
    if (isWithin(point, this.touch.natural())) return point;
    // A phone may have been unfolded since it was connected.
    if (isWithin(point, (await this.reader.recent(signal)).space)) return point;
    throw new DeviceError(
      "INVALID_PARAMS",
      `The point ${pixel.x},${pixel.y} lies beyond the screen. Take one of a picture of the whole screen.`,
    );
  }
}

const covered = "is behind the keyboard, which does not go. Scroll it up, or close the keyboard by hand.";

const behindDialog = "is behind a dialog. Answer it with handle_dialog first.";

function problemOf({ node, element }: Seen, { tree, space }: Screen): string | undefined {
  const dialog = allNodes(tree).find(({ role }) => role === "alertdialog");
  if (dialog && ![...nodesBelow(dialog)].includes(node)) return behindDialog;
  // A keyboard covers no more than the lower part, and what it covers is listed all the same.
  const isLow = centreOf(element.rect).y > space.height / 2;
  if (tree.isKeyboardShown && !node.focused && isLow) return covered;
  return node.disabled ? "is disabled. Do first what enables it, or wait longer with timeout_ms." : undefined;
}

export const centreOf = ({ x, y, width, height }: Rect): Point => ({
  x: Math.floor(x + width / 2),
  y: Math.floor(y + height / 2),
});

function isWithin({ x, y }: Point, { width, height }: { width: number; height: number }): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return Math.max(x, y) < long && Math.min(x, y) < short;
}

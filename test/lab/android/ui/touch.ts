import type { LabPage, Point } from "../labUi.ts";
import type { Placed } from "./layout.ts";
import type { Stage } from "./stage.ts";
import { type Surface, shadeTitle } from "./surfaces.ts";

/** `placed` is the view there that does something, else the deepest one, which `deepest` is. */
type Hit = { surface: Surface; placed: Placed; deepest: Placed };

const slopDp = 8;
const longPressMs = 500;
const doubleTapMs = 300;
/** Dp of a second below which a list does not run on. Of this and of the way that it runs: AOSP, OverScroller and ViewConfiguration. */
const slowestFling = 50;
const friction = 0.015;
const inchesToMeters = 39.37;
const gravity = 9.80665;
const inflexion = 0.35;
const deceleration = Math.log(0.78) / Math.log(0.9);

export class Touch {
  readonly #stage: Stage;
  #lastTap: { key: string; at: number } | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  tap(point: Point): void {
    const hit = this.#hit(point);
    if (!hit || this.#isOfPage(hit, (page, within) => page.tap(within(point)))) return;
    const { surface, placed } = hit;
    const { view } = placed;
    const isSecond = this.#isSecondTap(placed.key);
    if (view.isDisabled) return;
    if (view.field !== undefined) this.#stage.focus(surface, placed, { isTyping: true });
    else if (view.range) this.#slide(hit, point);
    else if (view.onDoubleTap && isSecond) this.#stage.act(surface, view.onDoubleTap);
    else if (view.onTap) this.#stage.act(surface, view.onTap);
  }

  longPress(point: Point): void {
    const hit = this.#hit(point);
    if (!hit || hit.placed.view.isDisabled) return;
    if (hit.placed.view.onLongPress) this.#stage.act(hit.surface, hit.placed.view.onLongPress);
    else this.tap(point);
  }

  swipe(from: Point, to: Point, durationMs: number): void {
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    if (Math.hypot(dx, dy) < slopDp * this.#stage.scale) {
      if (durationMs >= longPressMs) this.longPress(from);
      else this.tap(from);
      return;
    }
    const hit = this.#hit(from);
    if (this.#isOfPage(hit, (page, within) => page.swipe(within(from), within(to)))) return;
    if (hit?.placed.view.range) this.#slide(hit, to);
    else if (hit) this.#scroll(hit, { dx, dy, durationMs });
  }

  #scroll(hit: Hit, { dx, dy, durationMs }: { dx: number; dy: number; durationMs: number }): void {
    const axis = Math.abs(dx) > Math.abs(dy) ? "x" : "y";
    if (this.#movesShade(hit.surface, axis === "y" ? dy : 0)) return;
    const area = ancestor(hit.deepest, ({ scrolling }) => scrolling?.axis === axis && scrolling.most > 0);
    if (!area) return;
    const way = axis === "x" ? dx : dy;
    const speed = (way / Math.max(1, durationMs)) * 1_000;
    this.#stage.scroll(hit.surface, area, -(way + this.#runsOn(speed)));
  }

  drag(from: Point, to: Point): void {
    const hit = this.#hit(from);
    if (hit && ancestor(hit.deepest, ({ view }) => view.isDraggable === true)) {
      const target = this.#hit(to);
      const box = target && ancestor(target.deepest, ({ view }) => view.onDrop !== undefined);
      if (target && box?.view.onDrop) this.#stage.act(target.surface, box.view.onDrop);
      return;
    }
    const slowly = (Math.hypot(to.x - from.x, to.y - from.y) / (slowestFling * this.#stage.scale)) * 1_100;
    this.swipe(from, to, slowly);
  }

  pinch(center: Point, scale: number): void {
    const hit = this.#hit(center);
    const zoomed = hit && ancestor(hit.deepest, ({ view }) => view.zooms !== undefined);
    if (!hit || !zoomed?.view.zooms) return;
    const now = Number(hit.surface.task?.values()[zoomed.view.zooms] ?? 100);
    const to = Math.round(Math.min(1_000, Math.max(10, now * scale)));
    this.#stage.setValue(hit.surface, zoomed.view.zooms, to);
  }

  /** The keys follow the touch: to the page, or away from it. */
  #isOfPage(hit: Hit | undefined, act: (page: LabPage, within: (point: Point) => Point) => void): boolean {
    const { page } = this.#stage;
    if (!page) return false;
    const area = hit && ancestor(hit.deepest, ({ view }) => view.isPage === true);
    page.hasKeys = area !== undefined;
    if (area) act(page, ({ x, y }) => ({ x: x - area.rect.x, y: y - area.rect.y }));
    return area !== undefined;
  }

  /** Pixels beyond those of the finger, by its speed in pixels a second. */
  #runsOn(speed: number): number {
    const { scale } = this.#stage;
    if (Math.abs(speed) < slowestFling * scale) return 0;
    const drag = friction * gravity * inchesToMeters * scale * 160 * 0.84;
    const strength = Math.log((inflexion * Math.abs(speed)) / drag);
    return Math.sign(speed) * drag * Math.exp((deceleration / (deceleration - 1)) * strength);
  }

  #slide({ surface, placed }: Hit, { x }: Point): void {
    const { view, rect } = placed;
    if (!view.range || view.isDisabled) return;
    const share = Math.min(1, Math.max(0, (x - rect.x) / rect.width));
    this.#stage.setValue(surface, view.range.value, Math.round(share * view.range.most));
  }

  /** A finger from the status bar opens the shade, one upwards on it closes it. */
  #movesShade(surface: Surface, dy: number): boolean {
    const opens = surface.title === "StatusBar" && dy > 0;
    const closes = surface.title === shadeTitle && dy < 0;
    if (opens || closes) this.#stage.notifications(opens);
    return opens || closes;
  }

  #isSecondTap(key: string): boolean {
    const at = this.#stage.now();
    const isSecond = this.#lastTap?.key === key && at - this.#lastTap.at <= doubleTapMs;
    this.#lastTap = isSecond ? undefined : { key, at };
    return isSecond;
  }

  /** What is in front there. A touch outside a popup closes it. */
  #hit(point: Point): Hit | undefined {
    for (const surface of this.#stage.surfaces().toReversed()) {
      if (surface.kind === "toast") continue;
      const deepest = deepestAt(surface.root, point);
      if (deepest) return hitOf(surface, deepest);
      if (surface.popup) {
        this.#stage.cancel(surface, surface.popup);
        return undefined;
      }
    }
    return undefined;
  }
}

/** Nothing can be touched of an app that does not respond. */
function hitOf(surface: Surface, deepest: Placed): Hit | undefined {
  if (surface.task?.isHung && !surface.popup) return undefined;
  return { surface, deepest, placed: ancestor(deepest, ({ view }) => doesSomething(view)) ?? deepest };
}

const doesSomething = ({ onTap, onLongPress, field, range }: Placed["view"]) =>
  [onTap, onLongPress, field, range].some((one) => one !== undefined);

function deepestAt(placed: Placed, point: Point): Placed | undefined {
  const { visible } = placed;
  if (!visible || point.x < visible.x || point.y < visible.y) return undefined;
  if (point.x >= visible.x + visible.width || point.y >= visible.y + visible.height) return undefined;
  for (const child of placed.children.toReversed()) {
    const found = deepestAt(child, point);
    if (found) return found;
  }
  return placed;
}

function ancestor(placed: Placed, isWanted: (placed: Placed) => boolean): Placed | undefined {
  for (let one: Placed | undefined = placed; one; one = one.parent) if (isWanted(one)) return one;
  return undefined;
}

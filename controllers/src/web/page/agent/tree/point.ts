import type { InpageDom } from "./dom.ts";
import { native } from "./native.ts";

/** In CSS pixels of the document's own view. */
export type Point = { x: number; y: number };

/** Finds where an element can be clicked. Runs inside the page. */
export class InpagePoint {
  private readonly undrawnFrameMs = 500;
  private readonly ownClick = "a[href],button,select,textarea,[role=button],[role=link]";

  constructor(private readonly dom: InpageDom) {}

  /**
   * The point to click, if a user could click it now: drawn, enabled, at one place over two frames, on the screen and not
   * covered. Null in every other case.
   */
  async ready(element: Element): Promise<Point | null> {
    if (
      !native.isConnected(element) ||
      native.matches(element, ":disabled") ||
      native.closest(element, "[aria-disabled='true']")
    )
      return null;
    const before = await this.boxAtNextFrame(element);
    const box = await this.boxAtNextFrame(element);
    this.dom.begin();
    const isStill =
      before?.x === box?.x &&
      before?.y === box?.y &&
      before?.width === box?.width &&
      before?.height === box?.height;
    if (!box || !isStill || !this.dom.rendered(element) || visualViewport?.scale !== 1) return null;
    const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    return this.isHit(element, point) ? point : null;
  }

  /** The first line of an element that is broken over several. */
  private async boxAtNextFrame(element: Element): Promise<DOMRect | undefined> {
    await this.nextFrame();
    return [...native.getClientRects(element)].find(({ width, height }) => width * height > 1);
  }

  /** Ends when the browser begins to draw the next frame, or does not draw the document at all. */
  private nextFrame(): Promise<void> {
    return new Promise((done) => {
      const undrawn = setTimeout(done, this.undrawnFrameMs);
      requestAnimationFrame(() => {
        clearTimeout(undrawn);
        done();
      });
    });
  }

  /** A click there reaches the element or something within it. */
  private isHit(element: Element, { x, y }: Point): boolean {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    const hit = this.dom.hit({ x, y });
    for (let at = hit ?? undefined; at; at = this.dom.parent(at)) {
      if (at === element) return true;
      // A label hands its click on to its field, but for what has a click of its own.
      if (element instanceof HTMLLabelElement && native.matches(at, this.ownClick)) return false;
    }
    return false;
  }
}

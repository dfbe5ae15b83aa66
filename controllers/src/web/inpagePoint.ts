import type { InpageDom } from "./inpageDom.ts";

/** In CSS pixels of the document's own view. */
export type Point = { x: number; y: number };

/** Finds where an element can be clicked. Runs inside the page. */
export class InpagePoint {
  constructor(private readonly dom: InpageDom) {}

  /**
   * The point to click, if a user could click it now: drawn, enabled, at one place over two frames, on the screen and not
   * covered. Null in every other case.
   */
  async ready(element: Element): Promise<Point | null> {
    // Without it nobody could say that the element stands still.
    if (!globalThis.__labwrightRest) return null;
    if (!element.isConnected || element.matches(":disabled") || element.closest("[aria-disabled='true']"))
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
    await globalThis.__labwrightRest?.nextFrame();
    return [...element.getClientRects()].find(({ width, height }) => width * height > 1);
  }

  /** A click there reaches the element or something within it. */
  private isHit(element: Element, { x, y }: Point): boolean {
    if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
    let hit = document.elementFromPoint(x, y);
    for (let root = hit?.shadowRoot; root; root = hit?.shadowRoot) {
      const inner = root.elementFromPoint(x, y);
      if (inner === null || inner === hit) break;
      hit = inner;
    }
    for (let at = hit ?? undefined; at; at = this.dom.parent(at)) if (at === element) return true;
    return false;
  }
}

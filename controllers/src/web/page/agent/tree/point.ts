/** Finds where an element can be clicked. */

import * as dom from "./dom.ts";
import { native } from "./native.ts";
import * as sight from "./sight.ts";

/** In CSS pixels of the document's own view. */
export type Point = { x: number; y: number };

const undrawnFrameMs = 500;
const ownClick = "a[href],button,select,textarea,[role=button],[role=link]";

/** The point to click, if the element is drawn, enabled, still over two frames, on the screen and not covered; else null. */
export async function ready(element: Element): Promise<Point | null> {
  if (
    !native.isConnected(element) ||
    native.matches(element, ":disabled") ||
    native.closest(element, "[aria-disabled='true']")
  )
    return null;
  const before = await boxAtNextFrame(element);
  const box = await boxAtNextFrame(element);
  dom.begin();
  const isStill =
    before?.x === box?.x &&
    before?.y === box?.y &&
    before?.width === box?.width &&
    before?.height === box?.height;
  if (!box || !isStill || !sight.rendered(element) || visualViewport?.scale !== 1) return null;
  const point = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  return isHit(element, point) ? point : null;
}

/** The box of the element's first line. */
async function boxAtNextFrame(element: Element): Promise<DOMRect | undefined> {
  await nextFrame();
  return [...native.getClientRects(element)].find(({ width, height }) => width * height > 1);
}

/** Ends at the next animation frame, or after a while if the browser does not draw the document. */
function nextFrame(): Promise<void> {
  return new Promise((done) => {
    const undrawn = setTimeout(done, undrawnFrameMs);
    requestAnimationFrame(() => {
      clearTimeout(undrawn);
      done();
    });
  });
}

/** A click there reaches the element or something within it. */
function isHit(element: Element, { x, y }: Point): boolean {
  if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return false;
  const hit = dom.hit({ x, y });
  for (let at = hit ?? undefined; at; at = dom.parent(at)) {
    if (at === element) return true;
    // A label passes its click on to its field, unless a control within it takes the click.
    if (element instanceof HTMLLabelElement && native.matches(at, ownClick)) return false;
  }
  return false;
}

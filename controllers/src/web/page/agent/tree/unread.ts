/** Knows what of the page is shown and cannot be read: a test may look for what stands there. */

import * as dom from "./dom.ts";
import { native } from "./native.ts";
import * as sight from "./sight.ts";
import * as world from "./world.ts";

/** Smaller ones, in CSS pixels of an edge, show nothing that is read. */
const LEAST_EDGE = 16;

const css = "canvas,img[usemap],object[data],embed[src]";
const kinds: Readonly<Record<string, string>> = {
  ...{ canvas: "a canvas", img: "an image map" },
  ...{ object: "an embedded document", embed: "an embedded document" },
};

/** What is there, each once, with how many there are. To be asked when the page was walked. */
export function list(): string[] {
  const shown = new Map<string, number>();
  const count = (what: string) => shown.set(what, (shown.get(what) ?? 0) + 1);
  const unread = [...dom.walked].flatMap((root) => [...native.querySelectorAll(root, css)]);
  for (const element of unread.filter(isShown)) count(kinds[native.localName(element)] ?? "");
  for (const host of world.closedHosts().filter(isShown))
    count(`the closed shadow root of <${native.localName(host)}>`);
  return [...shown].map(([what, times]) => (times === 1 ? what : `${what} (${times} times)`));
}

const isShown = (element: Element): boolean => {
  const { width, height } = dom.box(element);
  return width >= LEAST_EDGE && height >= LEAST_EDGE && sight.seen(element);
};

/** Lists content that is shown but cannot be read, since a test may look for a text in it. */

import * as dom from "./dom.ts";
import { native } from "./native.ts";
import * as sight from "./sight.ts";
import * as world from "./world.ts";

/** In CSS pixels; a smaller one shows no text. */
const LEAST_EDGE = 16;

const css = "canvas,img[usemap],object[data],embed[src]";
const kinds: Readonly<Record<string, string>> = {
  ...{ canvas: "a canvas", img: "an image map" },
  ...{ object: "an embedded document", embed: "an embedded document" },
};

/** Each kind once, with its number. To be called after the page was walked. */
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

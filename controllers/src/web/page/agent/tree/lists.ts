/** Finds and scrolls what can be scrolled in a frame, such as lists that draw only their visible part. */

import * as dom from "./dom.ts";
import { native } from "./native.ts";
import * as sight from "./sight.ts";

type Axis = "x" | "y";
type List = { element: Element; axis: Axis; began: number };

let lists: List[] = [];
const most = 4;

/** Names of what scrolls, the largest first; {@link scroll} takes an index of this list. */
export function find(): string[] {
  const root = document.scrollingElement;
  const inner = dom.select("*").filter((element) => element !== root && sight.seen(element));
  const all = [...(root ? [root] : []), ...inner].flatMap((element) => listOf(element, root) ?? []);
  lists = all.toSorted((a, b) => size(b) - size(a)).slice(0, most);
  return lists.map(({ element }) => (element === root ? "the page" : nameOf(element)));
}

/** Scrolls by most of the visible part, or back to where it began; false if nothing moved. */
export function scroll(at: number, way: "on" | "back" | "where it began"): boolean {
  const list = lists[at];
  if (!list || !native.isConnected(list.element)) return false;
  const { element, axis, began } = list;
  const before = place(list);
  const seen = axis === "x" ? native.clientWidth(element) : native.clientHeight(element);
  const step = Math.max(Math.round(seen * 0.8), 1);
  const by = way === "on" ? step : way === "back" ? -step : began - before;
  const options = { [axis === "x" ? "left" : "top"]: by, behavior: "instant" };
  Reflect.apply(Element.prototype.scrollBy, element, [options]);
  return place(list) !== before;
}

function listOf(element: Element, root: Element | null): List | undefined {
  for (const axis of ["y", "x"] as const) {
    if (room(element, axis) <= 1) continue;
    const style = dom.style(element);
    const overflow = axis === "x" ? style.overflowX : style.overflowY;
    const scrolls = element === root ? !/hidden|clip/.test(overflow) : /auto|scroll|overlay/.test(overflow);
    if (scrolls) return { element, axis, began: place({ element, axis }) };
  }
  return undefined;
}

function room(element: Element, axis: Axis): number {
  return axis === "x"
    ? native.scrollWidth(element) - native.clientWidth(element)
    : native.scrollHeight(element) - native.clientHeight(element);
}

function place({ element, axis }: Pick<List, "element" | "axis">): number {
  return axis === "x" ? native.scrollLeft(element) : native.scrollTop(element);
}

function size({ element }: List): number {
  return native.clientWidth(element) * native.clientHeight(element);
}

function nameOf(element: Element): string {
  const label = native.getAttribute(element, "aria-label");
  if (label) return `"${dom.cut(label, 60)}"`;
  const id = native.id(element);
  return id === "" ? `<${native.localName(element)}>` : `#${dom.cut(id, 60)}`;
}

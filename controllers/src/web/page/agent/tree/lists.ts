import type { InpageDom } from "./dom.ts";
import { native } from "./native.ts";

type Axis = "x" | "y";
type List = { element: Element; axis: Axis; began: number };

/** What can be scrolled in a frame, such as lists that draw only what is in sight. Runs inside the page. */
export class InpageLists {
  private lists: List[] = [];
  private readonly most = 4;

  constructor(private readonly dom: InpageDom) {}

  /** Names of what scrolls, the largest first; {@link scroll} takes their places. */
  find(): string[] {
    const root = document.scrollingElement;
    const inner = this.dom.select("*").filter((element) => element !== root && this.dom.seen(element));
    const all = [...(root ? [root] : []), ...inner].flatMap((element) => this.listOf(element, root) ?? []);
    this.lists = all.toSorted((a, b) => this.size(b) - this.size(a)).slice(0, this.most);
    return this.lists.map(({ element }) => (element === root ? "the page" : this.nameOf(element)));
  }

  /** Scrolls most of what is in sight, or back to where it began; false where nothing moved. */
  scroll(at: number, way: "on" | "back" | "where it began"): boolean {
    const list = this.lists[at];
    if (!list || !native.isConnected(list.element)) return false;
    const { element, axis, began } = list;
    const before = this.place(list);
    const seen = axis === "x" ? native.clientWidth(element) : native.clientHeight(element);
    const step = Math.max(Math.round(seen * 0.8), 1);
    const by = way === "on" ? step : way === "back" ? -step : began - before;
    const options = { [axis === "x" ? "left" : "top"]: by, behavior: "instant" };
    Reflect.apply(Element.prototype.scrollBy, element, [options]);
    return this.place(list) !== before;
  }

  private listOf(element: Element, root: Element | null): List | undefined {
    for (const axis of ["y", "x"] as const) {
      if (this.room(element, axis) <= 1) continue;
      const style = this.dom.style(element);
      const overflow = axis === "x" ? style.overflowX : style.overflowY;
      const scrolls = element === root ? !/hidden|clip/.test(overflow) : /auto|scroll|overlay/.test(overflow);
      if (scrolls) return { element, axis, began: this.place({ element, axis }) };
    }
    return undefined;
  }

  private room(element: Element, axis: Axis): number {
    return axis === "x"
      ? native.scrollWidth(element) - native.clientWidth(element)
      : native.scrollHeight(element) - native.clientHeight(element);
  }

  private place({ element, axis }: Pick<List, "element" | "axis">): number {
    return axis === "x" ? native.scrollLeft(element) : native.scrollTop(element);
  }

  private size({ element }: List): number {
    return native.clientWidth(element) * native.clientHeight(element);
  }

  private nameOf(element: Element): string {
    const label = native.getAttribute(element, "aria-label");
    if (label) return `"${this.dom.cut(label, 60)}"`;
    const id = native.id(element);
    return id === "" ? `<${native.localName(element)}>` : `#${this.dom.cut(id, 60)}`;
  }
}

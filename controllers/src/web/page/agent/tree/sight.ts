import { native } from "./native.ts";

/** The page's tree as a user meets it. */
type Tree = {
  style(element: Element): CSSStyleDeclaration;
  display(element: Element): string;
  position(element: Element): string;
  box(element: Element): DOMRect;
  parent(element: Element): Element | undefined;
  /** What is remembered of an element until the next look. */
  of(element: Element): { flow: Region | undefined; away: boolean | undefined };
};

export type Region = { left: number; top: number; right: number; bottom: number };

const nowhere: Region = { left: 0, top: 0, right: 0, bottom: 0 };

/**
 * Where on the page something can be seen by somebody who scrolls: not what a box cuts off that cannot scroll, what was moved
 * beyond the page's edge, or what turns its back. In CSS pixels of the document's own view. Runs inside the page.
 */
export class InpageSight {
  private whole: Region | undefined;

  constructor(private readonly dom: Tree) {}

  /** To be called before each look. */
  begin(): void {
    this.whole = undefined;
  }

  /** No part of the element's own box can be seen. */
  isCutOff(element: Element): boolean {
    return !this.isSeenIn(this.extent(element), this.around(element));
  }

  /** A part of a text that lies directly in `parent` can be seen. */
  isTextSeen(text: Node, parent: Element): boolean {
    const style = this.dom.style(parent);
    const flow = this.inside(parent);
    const isFree = flow === this.document() && style.textIndent === "0px";
    if (isFree) return true;
    const range = new Range();
    range.selectNodeContents(text);
    return [...range.getClientRects()].some((rect) => this.isSeenIn(rect, flow));
  }

  /** The element's box, or that of its contents where it has no height or width of its own and they stand out of it. */
  extent(element: Element): Region & { width: number; height: number } {
    const own = this.dom.box(element);
    if (own.width * own.height > 0 || this.dom.style(element).overflow !== "visible") return own;
    const range = new Range();
    range.selectNodeContents(element);
    const contents = range.getBoundingClientRect();
    return contents.width * contents.height > 0 ? contents : own;
  }

  /** A face of a card that is turned over, or what lies on it. */
  facesAway(element: Element): boolean {
    const known = this.dom.of(element);
    known.away ??= this.dom.style(element).backfaceVisibility === "hidden" && this.turned(element).m33 < 0;
    return known.away;
  }

  /** The turns of an element and of those around it that share one space with it. */
  private turned(element: Element): DOMMatrix {
    const style = this.dom.style(element);
    const own = this.rotated(style.rotate).multiply(new DOMMatrix(style.transform));
    const parent = this.dom.parent(element);
    const shares = parent !== undefined && this.dom.style(parent).transformStyle === "preserve-3d";
    return shares ? this.turned(parent).multiply(own) : own;
  }

  /** The property `rotate`: `none`, `45deg`, `y 180deg` or `1 1 0 180deg`. */
  private rotated(rotate: string): DOMMatrix {
    const parts = rotate.split(" ");
    const angle = parts.pop() ?? "";
    if (angle === "none" || angle === "") return new DOMMatrix();
    const axes: Readonly<Record<string, string>> = { x: "1,0,0", y: "0,1,0", z: "0,0,1", "": "0,0,1" };
    const axis = axes[parts.join(",")] ?? parts.join(",");
    return new DOMMatrix(`rotate3d(${axis},${angle})`);
  }

  private isSeenIn(
    box: { left: number; top: number; right: number; bottom: number },
    region: Region,
  ): boolean {
    const width = Math.min(box.right, region.right) - Math.max(box.left, region.left);
    const height = Math.min(box.bottom, region.bottom) - Math.max(box.top, region.top);
    return (
      width > Math.min(0.5, (box.right - box.left) / 2) && height > Math.min(0.5, (box.bottom - box.top) / 2)
    );
  }

  /** Where the element itself can be seen. */
  private around(element: Element): Region {
    const parent = this.dom.parent(element);
    if (!parent) return this.document();
    const position = this.dom.position(element);
    if (position === "fixed") return this.insideFixed(parent);
    return position === "absolute" ? this.insideAbsolute(parent) : this.inside(parent);
  }

  /** Where what lies in the flow of an element can be seen. */
  private inside(element: Element): Region {
    const known = this.dom.of(element);
    known.flow ??= this.cutBy(element, this.dom.style(element), this.around(element));
    return known.flow;
  }

  /** Where in an element can be seen what `absolute` places, which passes by boxes that hold none such. */
  private insideAbsolute(element: Element): Region {
    const style = this.dom.style(element);
    if (this.dom.position(element) !== "static" || this.holdsFixed(style)) return this.inside(element);
    const parent = this.dom.parent(element);
    return parent ? this.insideAbsolute(parent) : this.document();
  }

  private insideFixed(element: Element): Region {
    if (this.holdsFixed(this.dom.style(element))) return this.inside(element);
    const parent = this.dom.parent(element);
    return parent ? this.insideFixed(parent) : this.window();
  }

  private holdsFixed(style: CSSStyleDeclaration): boolean {
    return (
      [style.transform, style.perspective, style.filter, style.backdropFilter].some(
        (one) => one && one !== "none",
      ) ||
      [style.rotate, style.scale, style.translate].some((one) => one && one !== "none") ||
      /paint|layout|strict|content/.test(style.contain) ||
      /transform|perspective|filter/.test(style.willChange)
    );
  }

  /** What is left of a region within a box that cuts off what stands out of it; where it scrolls, all that it holds. */
  private cutBy(element: Element, style: CSSStyleDeclaration, region: Region): Region {
    if (!this.cuts(element, style)) return region;
    const box = this.dom.box(element);
    const pad = {
      left: box.left + native.clientLeft(element),
      top: box.top + native.clientTop(element),
      right: box.left + native.clientLeft(element) + native.clientWidth(element),
      bottom: box.top + native.clientTop(element) + native.clientHeight(element),
    };
    const seen = this.meet(pad, region);
    if (seen.right - seen.left <= 1 || seen.bottom - seen.top <= 1) return nowhere;
    const across = this.scrolls(style.overflowX) ? this.across(element, style, pad) : seen;
    const down = this.scrolls(style.overflowY) ? this.down(element, pad) : seen;
    return { left: across.left, right: across.right, top: down.top, bottom: down.bottom };
  }

  /** The window has taken over how the outermost boxes cut. */
  private cuts(element: Element, style: CSSStyleDeclaration): boolean {
    if (style.overflowX === "visible" && style.overflowY === "visible") return false;
    const display = this.dom.display(element);
    if (element === native.documentElement(document) || display.startsWith("inline ")) return false;
    if (display === "inline" || display === "contents") return false;
    return element !== native.body(document) || !this.rootOverflow().isOfBody;
  }

  private scrolls(overflow: string): boolean {
    return overflow === "auto" || overflow === "scroll";
  }

  private across(element: Element, { direction }: CSSStyleDeclaration, pad: Region) {
    const [width, at] = [native.scrollWidth(element), native.scrollLeft(element)];
    const left = direction === "rtl" ? pad.right - at - width : pad.left - at;
    return { left, right: left + width };
  }

  private down(element: Element, pad: Region) {
    const top = pad.top - native.scrollTop(element);
    return { top, bottom: top + native.scrollHeight(element) };
  }

  private meet(one: Region, other: Region): Region {
    return {
      left: Math.max(one.left, other.left),
      top: Math.max(one.top, other.top),
      right: Math.min(one.right, other.right),
      bottom: Math.min(one.bottom, other.bottom),
    };
  }

  private window(): Region {
    return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  }

  /** What of the document can be scrolled into the window. */
  private document(): Region {
    this.whole ??= this.reachable();
    return this.whole;
  }

  private reachable(): Region {
    const root = native.documentElement(document);
    const { overflowX, overflowY } = this.rootOverflow();
    const [width, height] = [native.scrollWidth(root), native.scrollHeight(root)];
    const isBackwards = this.dom.style(root).direction === "rtl";
    const left = isBackwards ? native.clientWidth(root) - scrollX - width : -scrollX;
    const isFixed = (overflow: string) => overflow === "hidden" || overflow === "clip";
    return {
      left: isFixed(overflowX) ? 0 : left,
      right: isFixed(overflowX) ? innerWidth : left + width,
      top: isFixed(overflowY) ? 0 : -scrollY,
      bottom: isFixed(overflowY) ? innerHeight : height - scrollY,
    };
  }

  /** The window takes how it cuts from the root, or from the body where the root says nothing. */
  private rootOverflow(): { overflowX: string; overflowY: string; isOfBody: boolean } {
    const root = this.dom.style(native.documentElement(document));
    const body = native.body(document);
    const isOfBody = root.overflowX === "visible" && root.overflowY === "visible" && body !== null;
    const { overflowX, overflowY } = isOfBody ? this.dom.style(body) : root;
    return { overflowX, overflowY, isOfBody };
  }
}

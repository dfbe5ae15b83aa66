/**
 * What a user can see by scrolling: nothing transparent, clipped by a box that cannot scroll, moved beyond the page's edge, or
 * turned away. Regions are in CSS pixels of the document's own view.
 */
import * as dom from "./dom.ts";
import { native } from "./native.ts";

const nowhere: dom.Region = { left: 0, top: 0, right: 0, bottom: 0 };

/** In square pixels. */
const leastArea = 1;

/** Laid out and not `visibility: hidden`; says nothing of size, colour or opacity. */
export function rendered(element: Element): boolean {
  const known = dom.known(element);
  known.rendered ??= isRendered(element);
  return known.rendered;
}

function isRendered(element: Element): boolean {
  if (dom.display(element) === "contents") {
    const parent = dom.parent(element);
    return !parent || rendered(parent);
  }
  return native.checkVisibility(element, { visibilityProperty: true, checkVisibilityCSS: true });
}

export function hasArea(element: Element): boolean {
  const { width, height } = extent(element);
  return width * height >= leastArea;
}

/** Transparent, cut off, beyond the page's edge or turned over: itself, or an element around it. */
export function veiled(element: Element): boolean {
  return isVeiledWithin(element) || isCutOff(element) || isSpeck(element);
}

/** Hidden by a style that hides all of an element's contents, wherever they are placed. */
function isVeiledWithin(element: Element): boolean {
  const known = dom.known(element);
  if (known.veiled !== undefined) return known.veiled;
  const parent = dom.parent(element);
  known.veiled = (parent !== undefined && isVeiledWithin(parent)) || veilsAll(element);
  return known.veiled;
}

function veilsAll(element: Element): boolean {
  const style = dom.style(element);
  const { opacity, filter } = style;
  if ((opacity !== "1" || filter !== "none") && Number(opacity) * shade(filter) < 0.05) return true;
  const position = dom.position(element);
  const isPlaced = position === "absolute" || position === "fixed";
  if (isPlaced && style.clip === "rect(0px, 0px, 0px, 0px)") return true;
  const { clipPath } = style;
  return (clipPath !== "none" && isCutAway(element, clipPath)) || facesAway(element);
}

/** The opacity that the filters leave, from 0 to 1. */
function shade(filter: string): number {
  const shade = /opacity\(([\d.]+)(%?)\)/.exec(filter);
  return shade ? Number(shade[1]) / (shade[2] ? 100 : 1) : 1;
}

/** A `clip-path` that leaves nothing. */
function isCutAway(element: Element, path: string): boolean {
  if (/^(circle|ellipse)\(0(px|%)?[ )]/.test(path)) return true;
  const shape = /^(inset|polygon|rect|xywh)\((.*?)(?: round .*)?\)/.exec(path);
  if (!shape) return false;
  const { width, height } = dom.box(element);
  const lengths = (side: (at: number) => number) =>
    (shape[2] ?? "")
      .split(/[\s,]+/)
      .map((one, at) =>
        one.endsWith("%") ? (Number.parseFloat(one) / 100) * side(at) : Number.parseFloat(one),
      );
  if (shape[1] === "polygon") {
    const at = lengths((index) => (index % 2 === 0 ? width : height)).filter(Number.isFinite);
    const isFlat = (rest: number) => {
      const side = at.filter((_, index) => index % 2 === rest);
      return Math.max(...side) - Math.min(...side) < 0.5;
    };
    return isFlat(0) || isFlat(1);
  }
  if (shape[1] !== "inset") return false;
  const [top = 0, right = top, bottom = top, left = right] = lengths((at) => (at % 2 === 0 ? height : width));
  return top + bottom >= height || left + right >= width;
}

/** Clipped to a point, as style sheets hide text that is only for screen readers. */
function isSpeck(element: Element): boolean {
  const { width, height } = dom.box(element);
  if (width > 1 || height > 1) return false;
  const { overflow, clip, clipPath } = dom.style(element);
  return overflow !== "visible" || clip !== "auto" || clipPath !== "none";
}

/** Rendered, with a size, not veiled and, if it is only text, legible. */
export function seen(element: Element): boolean {
  if (!rendered(element) || !hasArea(element) || veiled(element)) return false;
  return !isOnlyText(element) || legible(element);
}

function isOnlyText(element: Element): boolean {
  if (native.childElementCount(element) > 0 || (native.textContent(element) ?? "").trim() === "")
    return false;
  if (native.matches(element, "input,select,textarea,button,svg *")) return false;
  const style = dom.style(element);
  const isPainted =
    style.backgroundImage !== "none" ||
    !/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor) ||
    style.boxShadow !== "none" ||
    style.outlineStyle !== "none" ||
    [style.borderTopWidth, style.borderLeftWidth].some((width) => Number.parseFloat(width) > 0);
  return !isPainted;
}

/** Text in it can be read: not transparent, not tiny, not in its background's colour. */
export function legible(element: Element, texts: readonly Node[] = textsOf(element)): boolean {
  if (veiled(element)) return false;
  const style = dom.style(element);
  if (Number.parseFloat(style.fontSize) * scale(element) < 2) return false;
  if (!texts.some((text) => isTextSeen(text, element))) return false;
  if (style.backgroundClip === "text" || style.getPropertyValue("-webkit-background-clip") === "text")
    return true;
  const colour = style.color;
  if (/^rgba\(.*, 0\)$/.test(colour)) return false;
  return colour !== background(element);
}

/** The factor by which transforms scale the element. */
function scale(element: Element): number {
  const height = element instanceof HTMLElement ? native.offsetHeight(element) : 0;
  return height > 0 ? dom.box(element).height / height : 1;
}

function textsOf(element: Element): Node[] {
  const isText = (node: Node) => dom.isText(node) && (native.nodeValue(node) ?? "").trim() !== "";
  return [...native.childNodes(element)].filter(isText);
}

function background(element: Element): string | undefined {
  for (let at: Element | undefined = element; at; at = dom.parent(at)) {
    const style = dom.style(at);
    if (style.backgroundImage !== "none") return undefined;
    if (!/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor)) return style.backgroundColor;
  }
  return "rgb(255, 255, 255)";
}

function isCutOff(element: Element): boolean {
  return !isSeenIn(extent(element), around(element));
}

function isTextSeen(text: Node, parent: Element): boolean {
  const style = dom.style(parent);
  const flow = inside(parent);
  const isFree = flow === documentRegion() && style.textIndent === "0px";
  if (isFree) return true;
  const range = new Range();
  range.selectNodeContents(text);
  return [...range.getClientRects()].some((rect) => isSeenIn(rect, flow));
}

/** The element's box, or that of its contents if it has no size and they overflow it. */
function extent(element: Element): dom.Region & { width: number; height: number } {
  const own = dom.box(element);
  if (own.width * own.height > 0 || dom.style(element).overflow !== "visible") return own;
  const range = new Range();
  range.selectNodeContents(element);
  const contents = range.getBoundingClientRect();
  return contents.width * contents.height > 0 ? contents : own;
}

/** The back of a card that is turned over, or its contents. */
function facesAway(element: Element): boolean {
  const known = dom.known(element);
  known.away ??= dom.style(element).backfaceVisibility === "hidden" && turned(element).m33 < 0;
  return known.away;
}

/** The transforms of an element and of those around it in the same 3D space. */
function turned(element: Element): DOMMatrix {
  const style = dom.style(element);
  const own = rotated(style.rotate).multiply(new DOMMatrix(style.transform));
  const parent = dom.parent(element);
  const shares = parent !== undefined && dom.style(parent).transformStyle === "preserve-3d";
  return shares ? turned(parent).multiply(own) : own;
}

/** The property `rotate`: `none`, `45deg`, `y 180deg` or `1 1 0 180deg`. */
function rotated(rotate: string): DOMMatrix {
  const parts = rotate.split(" ");
  const angle = parts.pop() ?? "";
  if (angle === "none" || angle === "") return new DOMMatrix();
  const axes: Readonly<Record<string, string>> = { x: "1,0,0", y: "0,1,0", z: "0,0,1", "": "0,0,1" };
  const axis = axes[parts.join(",")] ?? parts.join(",");
  return new DOMMatrix(`rotate3d(${axis},${angle})`);
}

function isSeenIn(
  box: { left: number; top: number; right: number; bottom: number },
  region: dom.Region,
): boolean {
  const width = Math.min(box.right, region.right) - Math.max(box.left, region.left);
  const height = Math.min(box.bottom, region.bottom) - Math.max(box.top, region.top);
  return (
    width > Math.min(0.5, (box.right - box.left) / 2) && height > Math.min(0.5, (box.bottom - box.top) / 2)
  );
}

/** Where the element itself can be seen. */
function around(element: Element): dom.Region {
  const parent = dom.parent(element);
  if (!parent) return documentRegion();
  const position = dom.position(element);
  if (position === "fixed") return insideFixed(parent);
  return position === "absolute" ? insideAbsolute(parent) : inside(parent);
}

/** Where the contents in the flow of an element can be seen. */
function inside(element: Element): dom.Region {
  const known = dom.known(element);
  known.flow ??= cutBy(element, dom.style(element), around(element));
  return known.flow;
}

/** Where `absolute` contents can be seen: only positioned boxes clip them. */
function insideAbsolute(element: Element): dom.Region {
  const style = dom.style(element);
  if (dom.position(element) !== "static" || holdsFixed(style)) return inside(element);
  const parent = dom.parent(element);
  return parent ? insideAbsolute(parent) : documentRegion();
}

function insideFixed(element: Element): dom.Region {
  if (holdsFixed(dom.style(element))) return inside(element);
  const parent = dom.parent(element);
  return parent ? insideFixed(parent) : windowRegion();
}

function holdsFixed(style: CSSStyleDeclaration): boolean {
  return (
    [style.transform, style.perspective, style.filter, style.backdropFilter].some(
      (one) => one && one !== "none",
    ) ||
    [style.rotate, style.scale, style.translate].some((one) => one && one !== "none") ||
    /paint|layout|strict|content/.test(style.contain) ||
    /transform|perspective|filter/.test(style.willChange)
  );
}

/** The region clipped by a box that hides its overflow; all of its contents, where it scrolls. */
function cutBy(element: Element, style: CSSStyleDeclaration, region: dom.Region): dom.Region {
  if (!cuts(element, style)) return region;
  const box = dom.box(element);
  const pad = {
    left: box.left + native.clientLeft(element),
    top: box.top + native.clientTop(element),
    right: box.left + native.clientLeft(element) + native.clientWidth(element),
    bottom: box.top + native.clientTop(element) + native.clientHeight(element),
  };
  const seen = meet(pad, region);
  if (seen.right - seen.left <= 1 || seen.bottom - seen.top <= 1) return nowhere;
  const across = scrolls(style.overflowX) ? scrolledAcross(element, style, pad) : seen;
  const down = scrolls(style.overflowY) ? scrolledDown(element, pad) : seen;
  return { left: across.left, right: across.right, top: down.top, bottom: down.bottom };
}

/** The window takes the overflow of the outermost boxes, which then clip nothing themselves. */
function cuts(element: Element, style: CSSStyleDeclaration): boolean {
  if (style.overflowX === "visible" && style.overflowY === "visible") return false;
  const display = dom.display(element);
  if (element === native.documentElement(document) || display.startsWith("inline ")) return false;
  if (display === "inline" || display === "contents") return false;
  return element !== native.body(document) || !rootOverflow().isOfBody;
}

function scrolls(overflow: string): boolean {
  return overflow === "auto" || overflow === "scroll";
}

function scrolledAcross(element: Element, { direction }: CSSStyleDeclaration, pad: dom.Region) {
  const [width, at] = [native.scrollWidth(element), native.scrollLeft(element)];
  const left = direction === "rtl" ? pad.right - at - width : pad.left - at;
  return { left, right: left + width };
}

function scrolledDown(element: Element, pad: dom.Region) {
  const top = pad.top - native.scrollTop(element);
  return { top, bottom: top + native.scrollHeight(element) };
}

function meet(one: dom.Region, other: dom.Region): dom.Region {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

function windowRegion(): dom.Region {
  return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
}

/** The part of the document that can be scrolled into the window. */
function documentRegion(): dom.Region {
  const known = dom.known(document);
  known.flow ??= reachable();
  return known.flow;
}

function reachable(): dom.Region {
  const root = native.documentElement(document);
  const { overflowX, overflowY } = rootOverflow();
  const [width, height] = [native.scrollWidth(root), native.scrollHeight(root)];
  const isBackwards = dom.style(root).direction === "rtl";
  const left = isBackwards ? native.clientWidth(root) - scrollX - width : -scrollX;
  const isFixed = (overflow: string) => overflow === "hidden" || overflow === "clip";
  return {
    left: isFixed(overflowX) ? 0 : left,
    right: isFixed(overflowX) ? innerWidth : left + width,
    top: isFixed(overflowY) ? 0 : -scrollY,
    bottom: isFixed(overflowY) ? innerHeight : height - scrollY,
  };
}

/** The window takes its overflow from the root, or from the body if the root sets none. */
function rootOverflow(): { overflowX: string; overflowY: string; isOfBody: boolean } {
  const root = dom.style(native.documentElement(document));
  const body = native.body(document);
  const isOfBody = root.overflowX === "visible" && root.overflowY === "visible" && body !== null;
  const { overflowX, overflowY } = isOfBody ? dom.style(body) : root;
  return { overflowX, overflowY, isOfBody };
}

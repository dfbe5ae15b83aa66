import type { PageWords } from "./pageWords.ts";

/** CSS pixels of what the page shows now. */
type Box = { x: number; y: number; width: number; height: number };

/** A thing of a page; its role is one of those that `src/screens` knows. */
export type PageNode = {
  tag: string;
  role: string;
  id: string;
  /** By which the page calls it besides its text; empty where it has none. */
  name: string;
  text: string;
  hint: string;
  rect: Box;
  /** Those that hold, of: checkable, checked, clickable, disabled, focusable, focused, password, scrollable, selected. */
  states: string[];
  children: PageNode[];
};

/**
 * A snapshot of a page. `wholeHeight` is what it would show without a keyboard over it; `foreign` counts the frames of other
 * origins, which cannot be read.
 */
export type PageLook = {
  title: string;
  isVisible: boolean;
  width: number;
  height: number;
  wholeHeight: number;
  scrolls: boolean;
  isCut: boolean;
  foreign: number;
  nodes: PageNode[];
};

/** Where a document or area stands, what it shows, and whether the focus may be in it. */
type Place = { x: number; y: number; clip: Box; frame: Box; hasFocus: boolean };

/** What was seen of an element that is a thing of its own. */
type Sight = { role: string; acts: boolean; scrolls: boolean; text: string; rect: Box; place: Place };

/** Reads a page as a user sees it: frames of its origin and open shadow roots too. Runs inside the page. */
export class PageReader {
  private visitsLeft = 20_000;
  private left: number;
  private foreign = 0;
  constructor(
    private readonly words: PageWords,
    private readonly testId: string,
    most: number,
  ) {
    this.left = most;
  }

  read(): PageLook {
    const view = window.visualViewport;
    const { width, height } = view ?? { width: innerWidth, height: innerHeight };
    const clip = { x: 0, y: 0, width, height };
    const corner = { x: -(view?.offsetLeft ?? 0), y: -(view?.offsetTop ?? 0) };
    const nodes = this.walk(this.top(document), { ...corner, clip, frame: clip, hasFocus: true });
    const isCut = this.left <= 0 || this.visitsLeft <= 0;
    const wholeHeight = innerHeight / (view?.scale ?? 1);
    const isVisible = document.visibilityState === "visible";
    const title = this.words.tidy(document.title);
    return {
      title,
      isVisible,
      width,
      height,
      wholeHeight,
      scrolls: this.scrolls(document),
      isCut,
      foreign: this.foreign,
      nodes,
    };
  }

  /** Behind a modal dialog nothing can be used. */
  private top(page: Document): Element {
    const modal = CSS.supports("selector(:modal)") ? "dialog:modal,[aria-modal=true]" : "[aria-modal=true]";
    const shown = [...page.querySelectorAll(modal)].filter((one) => this.words.isShown(one));
    return shown.at(-1) ?? page.documentElement;
  }

  private scrolls({ scrollingElement, defaultView }: Document): boolean {
    return scrollingElement !== null && scrollingElement.scrollHeight > (defaultView?.innerHeight ?? 0) + 1;
  }

  private below(element: Element): Element[] {
    if (element.shadowRoot) return [...element.shadowRoot.children];
    const assigned = this.isSlot(element) ? element.assignedElements() : [];
    return assigned.length > 0 ? assigned : [...element.children];
  }

  private walk(element: Element, place: Place): PageNode[] {
    this.visitsLeft -= 1;
    if (this.left <= 0 || this.visitsLeft <= 0 || !this.words.isShown(element)) return [];
    if (this.isFrame(element)) return this.frame(element, place);
    const style = this.words.styleOf(element);
    const outer = style.position === "fixed" ? { ...place, clip: place.frame } : place;
    const { node, isWhole } = this.see(element, outer, style);
    const inner =
      style.overflow === "visible" ? outer : { ...outer, clip: this.clipOf(element, outer, style) };
    const children = isWhole ? [] : this.below(element).flatMap((child) => this.walk(child, inner));
    return node ? [{ ...node, children }] : children;
  }

  /** Without a node where the element itself says and does nothing. `isWhole`: the node says all that is below it, too. */
  private see(
    element: Element,
    place: Place,
    style: CSSStyleDeclaration,
  ): { node: PageNode | undefined; isWhole: boolean } {
    const role = this.words.roleOf(element);
    const scrolls = this.isScroller(element, style);
    const acts = this.words.acts(element, role, style);
    const { text, isWhole } = this.words.isHiddenLabel(element)
      ? { text: "", isWhole: false }
      : this.words.textOf(element, role, acts);
    const rect = this.clipped(this.boxOf(element, place, style), place.clip);
    const isThing = acts || scrolls || text !== "" || /^(list|grid|img|progressbar)$/.test(role);
    if (!isThing || !rect || style.visibility !== "visible") return { node: undefined, isWhole };
    return { node: this.node(element, { role, acts, scrolls, text, rect, place }), isWhole };
  }

  private frame(element: HTMLIFrameElement, place: Place): PageNode[] {
    const page = element.contentDocument;
    const style = this.words.styleOf(element);
    const box = this.boxOf(element, place, style);
    const clip = this.clipped(box, place.clip);
    if (!clip) return [];
    if (!page?.documentElement) {
      this.foreign += 1;
      return [];
    }
    const x = box.x + element.clientLeft + Number.parseFloat(style.paddingLeft);
    const y = box.y + element.clientTop + Number.parseFloat(style.paddingTop);
    const hasFocus = place.hasFocus && element.ownerDocument.activeElement === element;
    return this.walk(this.top(page), { x, y, clip, frame: clip, hasFocus });
  }

  private node(element: Element, { role, acts, scrolls, text, rect, place }: Sight): PageNode {
    this.left -= 1;
    const name = this.words.nameOf(element);
    const focus = this.words.rootOf(element).activeElement;
    const has: Readonly<Record<string, boolean>> = {
      checkable: /^(checkbox|radio|switch)$/.test(role),
      checked: element.matches(":checked:not(option),[aria-checked=true]"),
      clickable: acts,
      disabled: element.matches(":disabled,[aria-disabled=true]"),
      focusable: "tabIndex" in element && Number(element.tabIndex) >= 0,
      focused: place.hasFocus && focus === element && element.localName !== "body",
      password: element.matches("input[type=password]"),
      scrollable: scrolls,
      selected: element.matches("[aria-selected=true],option:checked"),
    };
    return {
      tag: element.localName,
      role: role || (acts ? "" : "text"),
      id: this.words.tidy(element.getAttribute(this.testId) || element.id),
      name: name === text ? "" : name,
      text,
      hint: this.words.tidy(element.getAttribute("placeholder") ?? ""),
      rect,
      states: Object.keys(has).filter((state) => has[state]),
      children: [],
    };
  }

  private isScroller(element: Element, { overflowY }: CSSStyleDeclaration): boolean {
    if (element === element.ownerDocument.documentElement)
      return element.ownerDocument !== document && this.scrolls(element.ownerDocument);
    return /^(auto|scroll)$/.test(overflowY) && element.scrollHeight > element.clientHeight + 1;
  }

  // Those of a frame are none of the classes of this window.
  private isSlot(element: Element): element is HTMLSlotElement {
    return element.localName === "slot";
  }
  private isFrame(element: Element): element is HTMLIFrameElement {
    return element.localName === "iframe";
  }
  /** Of a link on two lines, the first line: the middle of both lies outside it. */
  private boxOf(element: Element, { x, y }: Place, { display }: CSSStyleDeclaration): Box {
    const first = display === "inline" ? element.getClientRects()[0] : undefined;
    const rect = first ?? element.getBoundingClientRect();
    return { x: x + rect.x, y: y + rect.y, width: rect.width, height: rect.height };
  }

  private clipOf(element: Element, place: Place, style: CSSStyleDeclaration): Box {
    const isPage = element.matches("html,body");
    const nothing = { x: 0, y: 0, width: 0, height: 0 };
    return isPage ? place.clip : (this.clipped(this.boxOf(element, place, style), place.clip) ?? nothing);
  }

  private clipped(box: Box, by: Box): Box | undefined {
    const [x, y] = [Math.max(box.x, by.x), Math.max(box.y, by.y)];
    const width = Math.min(box.x + box.width, by.x + by.width) - x;
    const height = Math.min(box.y + box.height, by.y + by.height) - y;
    return width > 0 && height > 0 ? { x, y, width, height } : undefined;
  }
}

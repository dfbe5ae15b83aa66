import { native } from "./native.ts";
import { InpageSight, type Region } from "./sight.ts";

/** What one look has read of an element, so that no look asks twice. */
class Known {
  style: CSSStyleDeclaration | undefined = undefined;
  display: string | undefined = undefined;
  position: string | undefined = undefined;
  box: DOMRect | undefined = undefined;
  rendered: boolean | undefined = undefined;
  /** With what lies in it. */
  veiled: boolean | undefined = undefined;
  /** Its back is turned to the user. */
  away: boolean | undefined = undefined;
  /** Where what lies in its flow can be seen. */
  flow: Region | undefined = undefined;
}

/**
 * The page's tree as a user meets it: shadow roots opened, slots filled, hidden parts known. Runs inside the page.
 * Styles are remembered from one `begin` to the next: within one look at a page that does not move.
 */
export class InpageDom {
  readonly sight = new InpageSight(this);
  /** Of a thing that can be seen, in square pixels. */
  private readonly leastArea = 1;

  constructor(private readonly tidy: (text: string) => string) {}

  private known = new Map<Element, Known>();
  private elements: readonly Element[] | undefined;
  /** The document, and the shadow roots whose children this look has asked for. */
  readonly walked = new Set<Document | ShadowRoot>();
  /** Counts the looks, for those who remember something of their own for the length of one. */
  looks = 0;

  begin(): void {
    this.looks++;
    this.elements = undefined;
    this.known.clear();
    this.walked.clear();
    this.walked.add(document);
    this.sight.begin();
  }

  /** What is remembered of an element until the next look. */
  of(element: Element): Known {
    let known = this.known.get(element);
    if (!known) {
      known = new Known();
      this.known.set(element, known);
    }
    return known;
  }

  style(element: Element): CSSStyleDeclaration {
    const known = this.of(element);
    known.style ??= getComputedStyle(element);
    return known.style;
  }

  display(element: Element): string {
    const known = this.of(element);
    known.display ??= this.style(element).display;
    return known.display;
  }

  position(element: Element): string {
    const known = this.of(element);
    known.position ??= this.style(element).position;
    return known.position;
  }

  box(element: Element): DOMRect {
    const known = this.of(element);
    known.box ??= native.getBoundingClientRect(element);
    return known.box;
  }

  /** Child nodes as they are laid out: a shadow root's before the element's own, assigned nodes for a slot. */
  children(element: Element): readonly Node[] {
    const shadow = native.shadowRoot(element);
    if (shadow) {
      this.walked.add(shadow);
      return this.childrenOf(shadow);
    }
    if (element instanceof HTMLSlotElement) {
      const assigned = element.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    return this.childrenOf(element);
  }

  private childrenOf(node: Node): Node[] {
    const children: Node[] = [];
    for (let child = native.firstChild(node); child; child = native.nextSibling(child)) children.push(child);
    return children;
  }

  parent(element: Element): Element | undefined {
    const parent = native.assignedSlot(element) ?? native.parentElement(element);
    if (parent) return parent;
    const root = native.getRootNode(element);
    return root instanceof ShadowRoot ? root.host : undefined;
  }

  /** Every element of the page, shadow roots included, in document order. */
  everything(): readonly Element[] {
    this.elements ??= this.all(document);
    return this.elements;
  }

  /** Every element below `root`, shadow roots included, in document order. */
  all(root: Document | Element | ShadowRoot): readonly Element[] {
    const found: Element[] = [];
    const visit = (scope: Document | Element | ShadowRoot) => {
      for (const element of native.querySelectorAll(scope, "*")) {
        found.push(element);
        const shadow = native.shadowRoot(element);
        if (shadow) visit(shadow);
      }
    };
    visit(root);
    return found;
  }

  /** Every match of a CSS selector, in each shadow root too. */
  select(css: string, limit = 1000): Element[] {
    const found: Element[] = [];
    const roots: (Document | ShadowRoot)[] = [document];
    for (const root of roots) {
      found.push(...native.querySelectorAll(root, css));
      if (found.length > limit) break;
      for (const element of native.querySelectorAll(root, "*")) {
        const shadow = native.shadowRoot(element);
        if (shadow) roots.push(shadow);
      }
    }
    return found;
  }

  /** Tidy, and without the bytes of addresses that hold their own data. */
  clean(text: string): string {
    // What most texts are, which need no cleaning.
    if (/^(?:[!-~]+(?: [!-~]+)*)?$/.test(text) && !text.includes("data:")) return text;
    return this.tidy(text.replace(/data:[\w/+.-]*[;,][^\s"')]{20,}/g, "data:…"));
  }

  /** No longer than `length`, and how much more there is; `+` where the text was not read to its end. */
  cut(text: string, length: number): string {
    if (text.length <= length) return text;
    const kept = text.slice(0, length).trimEnd();
    const rest = text.length - kept.length;
    return text.length > 4000 && text.endsWith("…") ? `${kept} … ${rest}+ more` : `${kept} … ${rest} more`;
  }

  /** Laid out and not `visibility: hidden`; says nothing of size, colour or opacity. */
  rendered(element: Element): boolean {
    const known = this.of(element);
    known.rendered ??= this.isRendered(element);
    return known.rendered;
  }

  private isRendered(element: Element): boolean {
    if (this.display(element) === "contents") {
      const parent = this.parent(element);
      return !parent || this.rendered(parent);
    }
    return native.checkVisibility(element, { visibilityProperty: true, checkVisibilityCSS: true });
  }

  hasArea(element: Element): boolean {
    const { width, height } = this.sight.extent(element);
    return width * height >= this.leastArea;
  }

  /** Transparent, cut off, beyond the page's edge or turned over: itself, or with what it lies in. */
  veiled(element: Element): boolean {
    return this.isVeiledWithin(element) || this.sight.isCutOff(element) || this.isSpeck(element);
  }

  /** What hides all that lies in an element, wherever it is placed. */
  private isVeiledWithin(element: Element): boolean {
    const known = this.of(element);
    if (known.veiled !== undefined) return known.veiled;
    const parent = this.parent(element);
    known.veiled = (parent !== undefined && this.isVeiledWithin(parent)) || this.veilsAll(element);
    return known.veiled;
  }

  private veilsAll(element: Element): boolean {
    const style = this.style(element);
    const { opacity, filter } = style;
    if ((opacity !== "1" || filter !== "none") && Number(opacity) * this.shade(filter) < 0.05) return true;
    const position = this.position(element);
    const isPlaced = position === "absolute" || position === "fixed";
    if (isPlaced && style.clip === "rect(0px, 0px, 0px, 0px)") return true;
    const { clipPath } = style;
    return (clipPath !== "none" && this.isCutAway(element, clipPath)) || this.sight.facesAway(element);
  }

  /** How much of an element its filters leave. */
  private shade(filter: string): number {
    const shade = /opacity\(([\d.]+)(%?)\)/.exec(filter);
    return shade ? Number(shade[1]) / (shade[2] ? 100 : 1) : 1;
  }

  /** A `clip-path` that leaves nothing. */
  private isCutAway(element: Element, path: string): boolean {
    if (/^(circle|ellipse)\(0(px|%)?[ )]/.test(path)) return true;
    const shape = /^(inset|polygon|rect|xywh)\((.*?)(?: round .*)?\)/.exec(path);
    if (!shape) return false;
    const { width, height } = this.box(element);
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
    const [top = 0, right = top, bottom = top, left = right] = lengths((at) =>
      at % 2 === 0 ? height : width,
    );
    return top + bottom >= height || left + right >= width;
  }

  /** A point into which its contents are cut, as style sheets hide what is only for those who do not see. */
  private isSpeck(element: Element): boolean {
    const { width, height } = this.box(element);
    if (width > 1 || height > 1) return false;
    const { overflow, clip, clipPath } = this.style(element);
    return overflow !== "visible" || clip !== "auto" || clipPath !== "none";
  }

  /** A user can see it: rendered, with a size, not veiled, and its text legible where it is nothing else. */
  seen(element: Element): boolean {
    if (!this.rendered(element) || !this.hasArea(element) || this.veiled(element)) return false;
    return !this.isOnlyText(element) || this.legible(element);
  }

  private isOnlyText(element: Element): boolean {
    if (native.childElementCount(element) > 0 || (native.textContent(element) ?? "").trim() === "")
      return false;
    if (native.matches(element, "input,select,textarea,button,svg *")) return false;
    const style = this.style(element);
    const isPainted =
      style.backgroundImage !== "none" ||
      !/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor) ||
      style.boxShadow !== "none" ||
      style.outlineStyle !== "none" ||
      [style.borderTopWidth, style.borderLeftWidth].some((width) => Number.parseFloat(width) > 0);
    return !isPainted;
  }

  /** Text in it can be read: not transparent, not tiny, not in its background's colour. */
  legible(element: Element, texts: readonly Node[] = this.textsOf(element)): boolean {
    if (this.veiled(element)) return false;
    const style = this.style(element);
    if (Number.parseFloat(style.fontSize) * this.scale(element) < 2) return false;
    if (!texts.some((text) => this.sight.isTextSeen(text, element))) return false;
    if (style.backgroundClip === "text" || style.getPropertyValue("-webkit-background-clip") === "text")
      return true;
    const colour = style.color;
    if (/^rgba\(.*, 0\)$/.test(colour)) return false;
    return colour !== this.background(element);
  }

  /** By how much transforms have made it smaller or larger. */
  private scale(element: Element): number {
    const height = element instanceof HTMLElement ? native.offsetHeight(element) : 0;
    return height > 0 ? this.box(element).height / height : 1;
  }

  private textsOf(element: Element): Node[] {
    const isText = (node: Node) =>
      native.nodeType(node) === Node.TEXT_NODE && (native.nodeValue(node) ?? "").trim() !== "";
    return [...native.childNodes(element)].filter(isText);
  }

  private background(element: Element): string | undefined {
    for (let at: Element | undefined = element; at; at = this.parent(at)) {
      const style = this.style(at);
      if (style.backgroundImage !== "none") return undefined;
      if (!/^rgba\(.*, 0\)$|^transparent$/.test(style.backgroundColor)) return style.backgroundColor;
    }
    return "rgb(255, 255, 255)";
  }

  /**
   * Puts text together as it stands on the screen: white space as the style sheet leaves it, each block on lines of its own,
   * case as it is written.
   */
  writer(): { edge(): void; line(): void; write(text: string, parent: Element): void; read(): string } {
    let out = "";
    let isSoft = false;
    let isEdge = false;
    const dropSoft = () => {
      if (isSoft) out = out.slice(0, -1);
      isSoft = false;
    };
    const line = () => {
      dropSoft();
      isEdge = false;
      out += "\n";
    };
    const put = (text: string, isKept: boolean) => {
      const isStart = isEdge || isSoft || out === "" || out.endsWith("\n");
      const shown = isKept ? text : text.replace(/[ \t\n\r\f]+/g, " ").replace(/^ /, isStart ? "" : " ");
      if (shown === "") return;
      if (isEdge && out !== "" && !out.endsWith("\n")) line();
      isEdge = false;
      out += shown;
      isSoft = !isKept && shown.endsWith(" ");
    };
    return {
      edge: () => {
        isEdge = true;
      },
      line,
      write: (text, parent) => {
        const space = this.style(parent).whiteSpace;
        if (space !== "pre-line") return put(text, /^(pre|break)/.test(space));
        for (const [at, one] of text.split("\n").entries()) {
          if (at > 0) line();
          put(one, false);
        }
      },
      read: () => {
        dropSoft();
        return out.replace(/\n$/, "");
      },
    };
  }

  isInline(element: Element): boolean {
    const display = this.display(element);
    return display === "contents" || display.startsWith("inline") || display.startsWith("ruby");
  }

  /** The innermost element at a point of the view, also in shadow roots. */
  hit({ x, y }: { x: number; y: number }): Element | null {
    let hit = native.elementFromPoint(document, x, y);
    for (let root = hit && native.shadowRoot(hit); root; root = native.shadowRoot(hit)) {
      const inner = native.elementFromPoint(root, x, y);
      if (inner === null || inner === hit) break;
      hit = inner;
    }
    return hit;
  }
}

/**
 * The page's tree as a user meets it: shadow roots opened, slots filled, hidden parts known. Runs inside the page, sent
 * there as source text, so like every `Inpage…` class it refers to nothing outside itself but its constructor's arguments.
 * Styles are remembered from one `begin` to the next: within one look at a page that does not move.
 */
export class InpageDom {
  constructor(private readonly tidy: (text: string) => string) {}

  private styles = new Map<Element, CSSStyleDeclaration>();
  private veils = new Map<Element, boolean>();

  private elements: readonly Element[] | undefined;
  /** Counts the looks, for those who remember something of their own for the length of one. */
  looks = 0;

  begin(): void {
    this.looks++;
    this.elements = undefined;
    this.styles.clear();
    this.veils.clear();
  }

  style(element: Element): CSSStyleDeclaration {
    let style = this.styles.get(element);
    if (!style) {
      style = getComputedStyle(element);
      this.styles.set(element, style);
    }
    return style;
  }

  /** Child nodes as they are laid out: a shadow root's before the element's own, assigned nodes for a slot. */
  children(element: Element): readonly Node[] {
    if (element.shadowRoot) return [...element.shadowRoot.childNodes];
    if (element instanceof HTMLSlotElement) {
      const assigned = element.assignedNodes();
      if (assigned.length > 0) return assigned;
    }
    return [...element.childNodes];
  }

  parent(element: Element): Element | undefined {
    if (element.assignedSlot) return element.assignedSlot;
    if (element.parentElement) return element.parentElement;
    const root = element.getRootNode();
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
      for (const element of scope.querySelectorAll("*")) {
        found.push(element);
        if (element.shadowRoot) visit(element.shadowRoot);
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
      found.push(...root.querySelectorAll(css));
      if (found.length > limit) break;
      for (const element of root.querySelectorAll("*"))
        if (element.shadowRoot) roots.push(element.shadowRoot);
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
    const style = this.style(element);
    if (style.display === "contents") {
      const parent = this.parent(element);
      return !parent || this.rendered(parent);
    }
    if (typeof element.checkVisibility === "function") {
      return element.checkVisibility({ visibilityProperty: true, checkVisibilityCSS: true });
    }
    return element.getClientRects().length > 0 && style.visibility === "visible";
  }

  hasArea(element: Element): boolean {
    const rect = element.getBoundingClientRect();
    return rect.width > 0 && rect.height > 0;
  }

  /** Transparent, clipped away or put beyond the page's edge, itself or through an ancestor. */
  veiled(element: Element): boolean {
    const known = this.veils.get(element);
    if (known !== undefined) return known;
    const parent = this.parent(element);
    const veiled = (parent !== undefined && this.veiled(parent)) || this.veilsItself(element);
    this.veils.set(element, veiled);
    return veiled;
  }

  private veilsItself(element: Element): boolean {
    const style = this.style(element);
    if (Number(style.opacity) < 0.05) return true;
    if (style.position === "static" && style.clipPath === "none" && style.overflow === "visible")
      return false;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 && rect.height === 0) return style.overflow === "hidden";
    if (rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0) return true;
    const clips = style.overflow !== "visible" || style.clip !== "auto" || style.clipPath !== "none";
    if (rect.width <= 1 && rect.height <= 1) return clips;
    return (
      style.clip === "rect(0px, 0px, 0px, 0px)" || /^inset\((50|100)%\)$|^circle\(0/.test(style.clipPath)
    );
  }

  /** A user can see it: rendered, with a size, and not veiled. */
  seen(element: Element): boolean {
    return this.rendered(element) && this.hasArea(element) && !this.veiled(element);
  }

  /** Text in it can be read: not transparent, not tiny, not in its background's colour. */
  legible(element: Element): boolean {
    if (this.veiled(element)) return false;
    const style = this.style(element);
    if (Number.parseFloat(style.fontSize) < 2 || Number.parseFloat(style.textIndent) < -500) return false;
    if (style.backgroundClip === "text" || style.getPropertyValue("-webkit-background-clip") === "text")
      return true;
    const colour = style.color;
    if (/^rgba\(.*, 0\)$/.test(colour)) return false;
    return colour !== this.background(element);
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
    const display = this.style(element).display;
    return display === "contents" || display.startsWith("inline") || display.startsWith("ruby");
  }
}

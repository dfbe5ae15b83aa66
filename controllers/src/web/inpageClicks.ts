import type { InpageDom } from "./inpageDom.ts";
import type { InpageRoles } from "./inpageRoles.ts";

/**
 * Knows which elements listen for a press, so that widgets without a role are found. It notes listeners from the moment
 * the document starts, since the page offers no way to ask for them later. Runs inside the page.
 */
export class InpageClicks {
  private readonly listening = new WeakSet<EventTarget>();
  private readonly doubled = new WeakSet<EventTarget>();
  private readonly presses = new Set([
    "click",
    "dblclick",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchstart",
    "touchend",
  ]);
  private readonly attributes = [
    "onclick",
    "onmousedown",
    "onpointerdown",
    "ng-click",
    "data-ng-click",
    "jsaction",
    "data-action",
    "hx-get",
    "hx-post",
  ];

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
  ) {}

  private look = -1;
  private heeding = new Map<Element, boolean>();
  private isWatchedFromStart = false;
  /** Types of events that anybody on the page has listened to. */
  private readonly heard = new Set<string>();

  watch(): void {
    this.isWatchedFromStart = document.readyState === "loading";
    const note = (type: string, target: EventTarget) => {
      if (this.presses.has(type)) this.listening.add(target);
      if (type === "dblclick") this.doubled.add(target);
      this.heard.add(type);
    };
    const original = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function addEventListener(
      this: EventTarget,
      type: string,
      ...rest: [EventListenerOrEventListenerObject | null, (AddEventListenerOptions | boolean)?]
    ): void {
      const target = this ?? globalThis;
      if (rest[0]) note(type, target);
      Reflect.apply(original, target, [type, ...rest]);
    };
  }

  /** Whether anybody may hear events of these types that happen to `element`. */
  mayHear(element: Element | null, types: readonly string[]): boolean {
    if (!this.isWatchedFromStart || types.some((type) => this.heard.has(type))) return true;
    const hears = (target: object) => types.some((type) => Boolean(Reflect.get(target, `on${type}`)));
    for (let at = element ?? undefined; at; at = this.dom.parent(at)) if (hears(at)) return true;
    return hears(document) || hears(globalThis);
  }

  /** Whether the element or what is around it up to the document listens for double clicks. */
  isDoubleClicked(element: Element): boolean {
    for (let at: Element | undefined = element; at; at = this.dom.parent(at))
      if (this.doubled.has(at)) return true;
    return this.doubled.has(document);
  }

  listens(element: Element): boolean {
    if (this.look !== this.dom.looks) this.heeding = new Map();
    this.look = this.dom.looks;
    let heeds = this.heeding.get(element);
    if (heeds === undefined) {
      heeds = this.listening.has(element) || this.heeds(element);
      this.heeding.set(element, heeds);
    }
    return heeds;
  }

  private heeds(element: Element): boolean {
    if (element instanceof HTMLElement || element instanceof SVGElement) {
      if (element.onclick || element.onmousedown || element.onpointerdown) return true;
    }
    return this.attributes.some((name) => element.hasAttribute(name)) || this.hasFrameworkHandler(element);
  }

  /** React keeps an element's handlers in an expando and listens at the root; Svelte 5 delegates through `__click`. */
  private hasFrameworkHandler(element: Element): boolean {
    for (const key of Object.keys(element)) {
      if (key === "__click") return true;
      if (!key.startsWith("__reactProps$") && !key.startsWith("__reactEventHandlers$")) continue;
      const props: unknown = Reflect.get(element, key);
      if (typeof props !== "object" || props === null) continue;
      return ["onClick", "onMouseDown", "onPointerDown"].some(
        (name) => typeof Reflect.get(props, name) === "function",
      );
    }
    return false;
  }

  /** The pointer turns into a hand here and not already on the parent, who would then be the thing to press. */
  pointsHere(element: Element): boolean {
    if (this.dom.style(element).cursor !== "pointer") return false;
    const parent = this.dom.parent(element);
    return !parent || this.dom.style(parent).cursor !== "pointer";
  }

  /** A listener that serves what lies below: a page's root, a container of controls, half of the screen. */
  private delegates(element: Element): boolean {
    if (element === document.body || element === document.documentElement) return true;
    if (
      element.querySelector(
        "a[href],button,input,select,textarea,[role=button],[role=link],[role=tab],[role=menuitem]",
      )
    )
      return true;
    const rect = element.getBoundingClientRect();
    return rect.width * rect.height > 0.4 * innerWidth * innerHeight || element.childElementCount > 20;
  }

  /** A list whose listener sits on the list: its entries, all of one tag and each with words, are what a user presses. */
  private servesEntries(element: Element): boolean {
    const children = [...this.unwrapped(element).children];
    const tag = children[0]?.localName;
    return (
      children.length > 1 &&
      children.every((child) => child.localName === tag && /\S/.test(child.textContent ?? ""))
    );
  }

  /** The innermost of boxes around one other box and nothing else. */
  private unwrapped(element: Element): Element {
    const [only] = element.children;
    return only && this.isWrapper(element) ? this.unwrapped(only) : element;
  }

  private isWrapper(element: Element): boolean {
    const isWords = (node: Node) => node.nodeType === Node.TEXT_NODE && /\S/.test(node.nodeValue ?? "");
    return element.childElementCount === 1 && ![...element.childNodes].some(isWords);
  }

  /** What listens around the box of an entry, with nothing but wrappers between them. */
  private serverOf(entry: Element): Element | undefined {
    let at = this.dom.parent(entry);
    while (at && at !== document.body && !this.listens(at)) {
      const outer: Element | undefined = this.dom.parent(at);
      at = outer && this.isWrapper(outer) ? outer : undefined;
    }
    return at === document.body ? undefined : at;
  }

  /** A list that looks pressable as a whole: what a user presses are its entries. */
  private isListOfEntries(element: Element): boolean {
    return (
      element.matches("ul,ol,menu,tbody,[role=list],[role=listbox],[role=menu],[role=tree]") &&
      this.listens(element) &&
      this.servesEntries(element)
    );
  }

  /** A row or an entry with words of its own: its listener is for itself, also where it holds controls. */
  private isEntry(element: Element): boolean {
    if (!element.matches("tr,li,[role=row],[role=listitem]")) return false;
    const inner = [...element.querySelectorAll("a[href],button,input,select,textarea,[role=button]")];
    const words = (node: Element) => (node.textContent ?? "").replace(/\s/g, "").length;
    return inner.length <= 10 && words(element) > inner.reduce((sum, one) => sum + words(one), 0);
  }

  /** It has no role of a widget, and a user can press it all the same. */
  isClickable(element: Element): boolean {
    if (element.localName === "label") return this.isLabelOfHidden(element);
    if (this.pointsHere(element)) return !this.isListOfEntries(element);
    if (
      element.getAttribute("tabindex") &&
      Number(element.getAttribute("tabindex")) >= 0 &&
      !this.delegates(element)
    )
      return true;
    if (this.listens(element)) {
      if (this.isEntry(element)) return true;
      return !this.delegates(element) && !this.servesEntries(element);
    }
    const server = this.serverOf(element);
    if (!server || this.unwrapped(server) !== this.dom.parent(element)) return false;
    return this.servesEntries(server) && !this.delegates(element) && !this.delegates(server);
  }

  /** A label that is pressed in place of a field of its own that is hidden or a speck, as style sheets like to do it. */
  isLabelOfHidden(element: Element): boolean {
    return (
      element instanceof HTMLLabelElement &&
      element.control !== null &&
      this.standIn(element.control) === element
    );
  }

  /** What a user presses to reach a box or a file field: its label where the field itself is out of reach. */
  standIn(element: Element): Element {
    if (!(element instanceof HTMLInputElement) || !/^(checkbox|radio|file)$/.test(element.type))
      return element;
    if (this.isInReach(element)) return element;
    return (
      [...(element.labels ?? [])].find((label) => this.dom.rendered(label) && this.dom.hasArea(label)) ??
      element
    );
  }

  private isInReach(element: Element): boolean {
    const rect = element.getBoundingClientRect();
    const onPage = rect.right + scrollX > 0 && rect.bottom + scrollY > 0;
    return this.dom.rendered(element) && rect.width * rect.height > 4 && onPage;
  }

  /** The field that a label stands in for, else the element itself: whose state and value count. */
  field(element: Element): Element {
    return element instanceof HTMLLabelElement && this.isLabelOfHidden(element)
      ? (element.control ?? element)
      : element;
  }

  /** The role as a dump says it: a widget's own, `clickable` for what only listens. */
  role(element: Element): string {
    const role = this.roles.role(element);
    if (
      this.roles.isWidget(role) ||
      /^(iframe|heading)$/.test(role) ||
      /^(html|body)$/.test(element.localName)
    )
      return role;
    if (!this.isClickable(element)) return role;
    const field = this.field(element);
    return field === element ? "clickable" : this.roles.role(field) || "clickable";
  }
}

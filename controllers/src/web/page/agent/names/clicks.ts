import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import type { InpageWorld } from "../tree/world.ts";
import type { InpageRoles } from "./roles.ts";

/** Knows which elements a user can press, so that widgets without a role are found. Runs inside the page. */
export class InpageClicks {
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
    private readonly world: InpageWorld,
  ) {}

  private look = -1;
  private heeding = new Map<Element, boolean>();

  /** Whether the element or what is around it up to the document listens for double clicks. */
  isDoubleClicked(element: Element): boolean {
    for (let at: Element | undefined = element; at; at = this.dom.parent(at))
      if (this.world.isDoubled(at)) return true;
    return this.world.isDoubled(document);
  }

  listens(element: Element): boolean {
    if (this.look !== this.dom.looks) this.heeding = new Map();
    this.look = this.dom.looks;
    let heeds = this.heeding.get(element);
    if (heeds === undefined) {
      heeds =
        this.attributes.some((name) => native.hasAttribute(element, name)) || this.world.listens(element);
      this.heeding.set(element, heeds);
    }
    return heeds;
  }

  /** The pointer turns into a hand here and not already on the parent, who would then be the thing to press. */
  pointsHere(element: Element): boolean {
    if (this.dom.style(element).cursor !== "pointer") return false;
    const parent = this.dom.parent(element);
    return !parent || this.dom.style(parent).cursor !== "pointer";
  }

  /** A listener that serves what lies below: a page's root, a container of controls, half of the screen. */
  private delegates(element: Element): boolean {
    if (element === native.body(document) || element === native.documentElement(document)) return true;
    if (
      native.querySelector(
        element,
        "a[href],button,input,select,textarea,[role=button],[role=link],[role=tab],[role=menuitem]",
      )
    )
      return true;
    const rect = native.getBoundingClientRect(element);
    return (
      rect.width * rect.height > 0.4 * innerWidth * innerHeight || native.childElementCount(element) > 20
    );
  }

  /** A list whose listener sits on the list: its entries, all of one tag and each with words, are what a user presses. */
  private servesEntries(element: Element): boolean {
    const children = [...native.children(this.unwrapped(element))];
    const tag = children[0]?.localName;
    return (
      children.length > 1 &&
      children.every((child) => native.localName(child) === tag && /\S/.test(native.textContent(child) ?? ""))
    );
  }

  /** The innermost of boxes around one other box and nothing else. */
  private unwrapped(element: Element): Element {
    const [only] = native.children(element);
    return only && this.isWrapper(element) ? this.unwrapped(only) : element;
  }

  private isWrapper(element: Element): boolean {
    const isWords = (node: Node) =>
      native.nodeType(node) === Node.TEXT_NODE && /\S/.test(native.nodeValue(node) ?? "");
    return native.childElementCount(element) === 1 && ![...native.childNodes(element)].some(isWords);
  }

  /** What listens around the box of an entry, with nothing but wrappers between them. */
  private serverOf(entry: Element): Element | undefined {
    let at = this.dom.parent(entry);
    while (at && at !== native.body(document) && !this.listens(at)) {
      const outer: Element | undefined = this.dom.parent(at);
      at = outer && this.isWrapper(outer) ? outer : undefined;
    }
    return at === native.body(document) ? undefined : at;
  }

  /** A list that looks pressable as a whole: what a user presses are its entries. */
  private isListOfEntries(element: Element): boolean {
    return (
      native.matches(element, "ul,ol,menu,tbody,[role=list],[role=listbox],[role=menu],[role=tree]") &&
      this.listens(element) &&
      this.servesEntries(element)
    );
  }

  /** A row or an entry with words of its own: its listener is for itself, also where it holds controls. */
  private isEntry(element: Element): boolean {
    if (!native.matches(element, "tr,li,[role=row],[role=listitem]")) return false;
    const inner = [...native.querySelectorAll(element, "a[href],button,input,select,textarea,[role=button]")];
    const words = (node: Element) => (native.textContent(node) ?? "").replace(/\s/g, "").length;
    return inner.length <= 10 && words(element) > inner.reduce((sum, one) => sum + words(one), 0);
  }

  /** It has no role of a widget, and a user can press it all the same. */
  isClickable(element: Element): boolean {
    if (native.localName(element) === "label") return this.isLabelOfHidden(element);
    if (this.isShell(element)) return false;
    if (this.pointsHere(element)) return !this.isListOfEntries(element);
    if (
      native.getAttribute(element, "tabindex") &&
      Number(native.getAttribute(element, "tabindex")) >= 0 &&
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

  /** It says nothing but what the one item in it says, and whoever presses that presses both. */
  private isShell(element: Element): boolean {
    if (!native.matches(element, "li,[role=none],[role=presentation]")) return false;
    const items = "[role^=menuitem],[role=option],[role=tab]";
    const item = native.querySelector(element, items);
    if (!item || native.querySelectorAll(element, items).length > 1) return false;
    const words = (node: Element) => (native.textContent(node) ?? "").trim();
    return words(item) === words(element);
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
    const rect = native.getBoundingClientRect(element);
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
      /^(html|body)$/.test(native.localName(element))
    )
      return role;
    if (!this.isClickable(element)) return role;
    const field = this.field(element);
    return field === element ? "clickable" : this.roles.role(field) || "clickable";
  }
}

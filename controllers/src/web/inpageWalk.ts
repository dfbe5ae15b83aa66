import type { InpageClicks } from "./inpageClicks.ts";
import type { InpageDom } from "./inpageDom.ts";
import type { InpageNames } from "./inpageNames.ts";
import type { InpageRoles } from "./inpageRoles.ts";

export type LookOptions = {
  interactiveOnly: boolean;
  /** `f2` for the refs of a child frame, empty for the page itself. */
  prefix: string;
  /** Refs given from here on are numbered from this or higher, so that no number ever names two elements. */
  next: number;
  maxElements: number;
  budgetMs: number;
};

/** An element as the page tells of it; `box` is x, y, width, height in CSS pixels of its own frame's viewport. */
export type SeenElement = {
  ref: string;
  role: string;
  name: string;
  text?: string;
  value?: string;
  states: string[];
  box: [number, number, number, number];
  depth: number;
  interactive: boolean;
};

export type SeenPage = {
  elements: SeenElement[];
  next: number;
  title: string;
  url: string;
  read: number;
  total: number;
  cut: boolean;
};

/** `block` gathers the words of one block of text; inline elements share their block's. `atomic`: the name says it all. */
type Place = {
  depth: number;
  atomic: boolean;
  live: boolean;
  message: boolean;
  block: { record: SeenElement | undefined };
  name: string;
};

/** Walks the page once, top down, and lists what a user can act on and what helps to understand it. Runs inside the page. */
export class InpageWalk {
  private readonly refs = new Map<string, WeakRef<Element>>();
  private readonly given = new WeakMap<Element, string>();
  private next = 1;
  private out: SeenElement[] = [];
  private read = 0;
  private deadline = 0;
  private options: LookOptions = { interactiveOnly: true, prefix: "", next: 1, maxElements: 0, budgetMs: 0 };
  private readonly skipped =
    /^(script|style|template|noscript|head|link|meta|title|option|optgroup|datalist|source|track|defs)$/;
  private readonly notable = /^(heading|dialog|alertdialog|alert|status|iframe)$/;
  private readonly structure =
    /^(img|table|list|navigation|main|region|form|figure|progressbar|meter|group|tablist|toolbar|menu|menubar|tree|grid|radiogroup)$/;
  private readonly whole =
    /^(button|link|tab|menuitem\w*|option|checkbox|radio|switch|heading|combobox|listbox|textbox|searchbox|spinbutton|slider|img|clickable)$/;

  constructor(
    private readonly dom: InpageDom,
    private readonly roles: InpageRoles,
    private readonly names: InpageNames,
    private readonly clicks: InpageClicks,
  ) {}

  look(options: LookOptions): SeenPage {
    this.options = options;
    this.next = Math.max(this.next, options.next);
    this.out = [];
    this.read = 0;
    this.deadline = performance.now() + options.budgetMs;
    this.dom.begin();
    const top = {
      depth: 0,
      atomic: false,
      live: false,
      message: false,
      block: { record: undefined },
      name: "",
    };
    if (document.body) this.visit(document.body, top);
    return {
      elements: this.out,
      next: this.next,
      title: this.dom.cut(this.dom.clean(document.title), 200),
      url: location.href,
      read: this.read,
      cut: this.options.maxElements === 0 || this.out.length >= this.options.maxElements,
      total: document.getElementsByTagName("*").length,
    };
  }

  /** The element of a ref, if it still lives in this document. */
  byRef(ref: string): Element | undefined {
    const element = this.refs.get(ref)?.deref();
    return element?.isConnected ? element : undefined;
  }

  ref(element: Element): string {
    const known = this.given.get(element);
    if (known) return known;
    const ref = `${this.options.prefix}e${this.next++}`;
    this.given.set(element, ref);
    this.refs.set(ref, new WeakRef(element));
    return ref;
  }

  /** Out of time or of room; asked for every element, the clock only for every 64th. */
  private isOver(): boolean {
    if (this.out.length >= this.options.maxElements) return true;
    return (this.read & 63) === 0 && performance.now() > this.deadline && this.stop();
  }
  private stop(): true {
    this.options = { ...this.options, maxElements: 0 };
    return true;
  }

  private visit(element: Element, place: Place): void {
    if (this.skipped.test(element.localName) || this.isOver()) return;
    this.read++;
    if (this.dom.style(element).display === "none" || element.hasAttribute("inert")) return;
    const role = this.clicks.role(element);
    const interactive = this.roles.isWidget(role) && this.canAct(element, role);
    const record = this.record(element, role, interactive, place);
    if (record && role === "link" && this.dom.isInline(element)) this.addWords(record.name, place);
    this.visitBelow(element, this.inside(element, role, interactive, record, place));
    this.close(record, role, interactive);
  }

  private visitBelow(element: Element, place: Place): void {
    for (const child of this.dom.children(element)) {
      if (child instanceof Element) this.visit(child, place);
      else if (child.nodeType === Node.TEXT_NODE) this.addText(child.nodeValue ?? "", element, place);
    }
  }

  /** Form fields stay when they are see-through or tiny, since style sheets draw the control elsewhere. */
  private canAct(element: Element, role: string): boolean {
    if (!this.dom.rendered(element) || this.clicks.standIn(element) !== element) return false;
    if (element instanceof HTMLInputElement && /^(checkbox|radio|file|slider|colour)$/.test(role))
      return true;
    if (element instanceof HTMLSelectElement) return this.dom.hasArea(element);
    if (this.dom.veiled(element)) return false;
    return this.dom.hasArea(element) || [...element.children].some((child) => this.dom.hasArea(child));
  }

  private record(
    element: Element,
    role: string,
    interactive: boolean,
    place: Place,
  ): SeenElement | undefined {
    if (!interactive && !this.isContext(element, role)) return undefined;
    const { name } = this.names.name(element, role);
    if (name === "" && /^(heading|img)$/.test(role)) return undefined;
    if (name === "" && !interactive && this.structure.test(role) && !/^(progressbar|meter)$/.test(role))
      return undefined;
    const repeats = place.atomic && (name === "" || place.name.includes(name));
    if (repeats && /^(clickable|heading|img)$/.test(role)) return undefined;
    return this.emit(element, role, name, interactive, place.depth);
  }

  /** Not to be acted on, and yet listed: it tells where one is, or structure was asked for. */
  private isContext(element: Element, role: string): boolean {
    const wanted = this.notable.test(role) || (!this.options.interactiveOnly && this.structure.test(role));
    return wanted && this.dom.seen(element);
  }

  private emit(
    element: Element,
    role: string,
    name: string,
    interactive: boolean,
    depth: number,
  ): SeenElement {
    const box = element.getBoundingClientRect();
    const field = this.clicks.field(element);
    const seen: SeenElement = {
      ref: this.ref(element),
      role,
      name,
      states: this.roles.states(field),
      box: [Math.round(box.x), Math.round(box.y), Math.round(box.width), Math.round(box.height)],
      depth,
      interactive,
    };
    const value = interactive || /^(progressbar|meter)$/.test(role) ? this.roles.value(field) : undefined;
    if (value) seen.value = this.dom.cut(this.dom.clean(value), 200);
    if (element instanceof HTMLSelectElement) seen.text = this.choices(element);
    this.out.push(seen);
    return seen;
  }

  private choices(select: HTMLSelectElement): string {
    const labels = [...select.options]
      .slice(0, 5)
      .map((option) => this.dom.cut(this.dom.clean(option.label), 30));
    const more = select.options.length - labels.length;
    return more > 0 ? `${labels.join(" | ")} | ${more} more` : labels.join(" | ");
  }

  private inside(
    element: Element,
    role: string,
    interactive: boolean,
    record: SeenElement | undefined,
    place: Place,
  ): Place {
    const labelsField = element instanceof HTMLLabelElement && element.control !== null;
    const opensBlock = !place.message && (record !== undefined || !this.dom.isInline(element));
    const below = { ...place, atomic: place.atomic || labelsField };
    if (opensBlock) below.block = { record: interactive ? undefined : record };
    if (!record) return below;
    const isMessage = /^(alert|status)$/.test(role);
    return {
      ...below,
      depth: place.depth + 1,
      atomic: below.atomic || this.isWhole(role, interactive),
      live: place.live || isMessage || /dialog$/.test(role),
      message: place.message || isMessage,
      name: record.name || place.name,
    };
  }

  /** Its name is all the text there is in it. */
  private isWhole(role: string, interactive: boolean): boolean {
    return this.whole.test(role) && (interactive || /^(heading|img)$/.test(role));
  }

  private addText(raw: string, parent: Element, place: Place): void {
    if (place.atomic || (this.options.interactiveOnly && !place.live)) return;
    const text = this.dom.clean(raw);
    if (text === "" || !this.dom.rendered(parent) || !this.dom.legible(parent)) return;
    place.block.record ??= this.textRecord(parent, place.depth);
    this.append(text, place);
  }

  /** A link within a sentence is a row of its own and a word of the sentence. */
  private addWords(name: string, place: Place): void {
    if (!place.atomic && place.block.record?.text) this.append(name, place);
  }

  /** Text goes to the record of the block that holds it, made when the first word of the block is met. */
  private append(text: string, { block: { record } }: Place): void {
    const before = record?.text ?? "";
    if (!record || before.length >= 400) return;
    const gap = before === "" || /^[.,;:!?)]/.test(text) ? "" : " ";
    record.text = this.dom.cut(`${before}${gap}${text}`, 400);
  }

  private textRecord(parent: Element, depth: number): SeenElement | undefined {
    if (this.isOver()) return undefined;
    const block = this.blockOf(parent);
    return this.emit(block, this.roles.role(block) || "text", "", false, depth);
  }

  private blockOf(element: Element): Element {
    let at = element;
    for (
      let up = this.dom.parent(at);
      this.dom.isInline(at) && up && up !== document.body;
      up = this.dom.parent(at)
    )
      at = up;
    return at;
  }

  /** A live region that says nothing is no news. */
  private close(record: SeenElement | undefined, role: string, interactive: boolean): void {
    if (!record || interactive || !/^(alert|status)$/.test(role)) return;
    if (!record.text && !record.name && this.out.at(-1) === record) this.out.pop();
  }
}

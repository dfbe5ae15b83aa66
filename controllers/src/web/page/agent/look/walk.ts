import type { InpageClicks } from "../names/clicks.ts";
import type { InpageNames } from "../names/names.ts";
import type { InpageRoles } from "../names/roles.ts";
import type { InpageDom } from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import type { InpageApart } from "./apart.ts";
import type { InpageGroups } from "./groups.ts";
import type { InpageRecords, SeenElement } from "./records.ts";
import type { InpageRefs } from "./refs.ts";
import type { InpageRows } from "./rows.ts";
import type { InpageTables } from "./tables.ts";
import type { InpageTexts, TextChanges, TextPlace } from "./texts.ts";

export type LookOptions = {
  interactiveOnly: boolean;
  /** `f2` for the refs of a child frame, empty for the page itself. */
  prefix: string;
  /** Refs given from here on are numbered from this or higher, so that no number ever names two elements. */
  next: number;
  maxElements: number;
  budgetMs: number;
  testIdAttribute: string;
};

export type SeenText = { seen: SeenElement; was: string };

export type SeenPage = {
  elements: SeenElement[];
  /** The first texts of a page that has no elements. */
  first: SeenElement[];
  texts: Omit<TextChanges, "changed"> & { changed: SeenText[] };
  next: number;
  title: string;
  url: string;
  read: number;
  total: number;
  cut: boolean;
  /** What is seen of the page, in CSS pixels. */
  width: number;
  height: number;
};

type Block = TextPlace & { record: SeenElement | undefined; glued: boolean };

/** `block` gathers the words of one block of text, `glued` while no white space ends them; inline elements share their block's. `atomic`: the name says it all. */
type Place = {
  depth: number;
  atomic: boolean;
  live: boolean;
  message: boolean;
  block: Block;
  name: string;
  /** In a row of a table, which tells all the words in it. */
  told: boolean;
  /** The thing to press that this is in, and its role. */
  pressed?: Element;
  role?: string;
};

/** Walks the page once, top down, and lists what a user can act on and what helps to understand it. Runs inside the page. */
export class InpageWalk {
  private out: SeenElement[] = [];
  /** Native lists that a picker has taken the place of: a user sees them last. */
  private behind: SeenElement[] = [];
  private read = 0;
  private deadline = 0;
  private options: LookOptions = {
    interactiveOnly: true,
    prefix: "",
    next: 1,
    maxElements: 0,
    budgetMs: 0,
    testIdAttribute: "",
  };
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
    private readonly refs: InpageRefs,
    private readonly records: InpageRecords,
    private readonly tables: InpageTables,
    private readonly rows: InpageRows,
    private readonly groups: InpageGroups,
    private readonly apart: InpageApart,
    private readonly texts: InpageTexts,
  ) {}

  look(options: LookOptions): SeenPage {
    this.options = options;
    this.refs.begin(options.prefix, options.next);
    this.out = [];
    this.behind = [];
    this.read = 0;
    this.records.begin();
    this.deadline = performance.now() + options.budgetMs;
    this.texts.begin();
    const body = native.body(document);
    if (body) this.visit(body, this.top(body));
    const elements = this.finish();
    return {
      elements,
      first: elements.length > 0 ? [] : this.texts.first().map((text) => this.textOf(text)),
      texts: this.textChanges(elements),
      next: this.refs.next,
      title: this.dom.cut(this.dom.clean(native.title(document)), 200),
      url: location.href,
      read: this.read,
      width: innerWidth,
      height: innerHeight,
      cut: this.options.maxElements === 0 || this.out.length >= this.options.maxElements,
      total: native.querySelectorAll(document, "*").length,
    };
  }

  private top(body: Element): Place {
    return {
      depth: 0,
      atomic: false,
      live: false,
      message: false,
      block: { element: body, record: undefined, glued: false },
      name: "",
      told: false,
    };
  }

  private textChanges(elements: readonly SeenElement[]): SeenPage["texts"] {
    const names = elements.flatMap(({ name, text }) => [name, text ?? ""]);
    const { changed, ...others } = this.texts.changes(names);
    if (this.options.maxElements === 0) this.texts.forget();
    return { ...others, changed: changed.map(({ was, ...text }) => ({ seen: this.textOf(text), was })) };
  }

  private textOf({ element, text }: { element: Element; text: string }): SeenElement {
    return { ...this.records.context(element, this.roles.role(element) || "text", "", 0), text };
  }

  /** What can only be told of all that was seen, and every text no longer than a dump has room for. */
  private finish(): SeenElement[] {
    const elementOf = (seen: SeenElement) => this.refs.element(seen.ref);
    this.out.push(...this.behind);
    const twins = this.apart.mark(this.out, elementOf, this.options.testIdAttribute);
    if (this.options.interactiveOnly) {
      this.rows.sign(this.out, elementOf);
      this.out = twins.gathered(this.out, elementOf, (element, depth, name) =>
        this.records.context(element, "group", name, depth),
      );
    }
    const stepped = this.texts.withSteps(this.out, (text, depth) => ({ ...this.textOf(text), depth }));
    const all = this.groups.withCaptions(stepped, elementOf, (element, depth, name) =>
      this.records.context(element, "group", name, depth),
    );
    for (const seen of all) {
      seen.name = this.dom.cut(seen.name, 120);
      if (seen.text) seen.text = this.dom.cut(seen.text, 400);
    }
    return all;
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
    if (this.skipped.test(native.localName(element)) || this.isOver()) return;
    this.read++;
    if (this.dom.display(element) === "none" || native.hasAttribute(element, "inert")) return;
    const role = this.clicks.role(element);
    const interactive = this.roles.isWidget(role) && this.canAct(element, role);
    const record = this.record(element, role, interactive, place);
    if (record && role === "link" && this.dom.isInline(element)) this.addWords(record.name, place);
    const below = this.inside(element, role, interactive, record, place);
    this.visitBelow(element, below);
    const isBreak = native.localName(element) === "br";
    if (below.block !== place.block || isBreak) place.block.glued = false;
    if (isBreak || !this.dom.isInline(element)) place.block.isParted = true;
    this.close(record, role, interactive);
  }

  private visitBelow(element: Element, place: Place): void {
    for (const child of this.dom.children(element)) {
      if (child instanceof Element) this.visit(child, place);
      else if (native.nodeType(child) === Node.TEXT_NODE) this.addText(child, element, place);
    }
  }

  /** Form fields stay when they are see-through or tiny, since style sheets draw the control elsewhere. */
  private canAct(element: Element, role: string): boolean {
    if (!this.dom.rendered(element) || this.clicks.standIn(element) !== element) return false;
    if (element instanceof HTMLInputElement && /^(checkbox|radio|file|slider|colour)$/.test(role))
      return true;
    if (element instanceof HTMLSelectElement) return this.dom.hasArea(element);
    if (this.dom.veiled(element) || (role === "gridcell" && this.isWrapper(element))) return false;
    return (
      this.dom.hasArea(element) || [...native.children(element)].some((child) => this.dom.hasArea(child))
    );
  }

  /** A cell around the one thing in it that is pressed. */
  private isWrapper(cell: Element): boolean {
    const inner = native.querySelector(cell, "button,a[href],[role=button]");
    if (!inner || native.hasAttribute(cell, "tabindex") || this.clicks.listens(cell)) return false;
    return this.dom.clean(native.textContent(inner) ?? "") === this.dom.clean(native.textContent(cell) ?? "");
  }

  private record(
    element: Element,
    role: string,
    interactive: boolean,
    place: Place,
  ): SeenElement | undefined {
    if (!interactive && role === "row") return this.row(element, place.depth);
    if (!interactive && !this.isContext(element, role) && !this.isEditedCell(element, role, place))
      return undefined;
    const { name: said, derived, guessed } = this.names.name(element, role);
    const isTable = !interactive && this.tables.isTable(role);
    const name = said === "" && isTable ? this.tables.caption(element) : said;
    if (name === "" && this.needsName(role, interactive)) return undefined;
    if (this.repeats(element, role, name, place)) return undefined;
    const seen = this.emit(element, role, name, interactive, place.depth);
    if (interactive) this.records.addFacts(element, seen, { derived, guessed });
    return seen;
  }

  private row(element: Element, depth: number): SeenElement | undefined {
    const seen = this.rows.record(element, depth, this.options.interactiveOnly);
    if (seen) this.out.push(seen);
    return seen;
  }

  private needsName(role: string, interactive: boolean): boolean {
    if (/^(heading|img)$/.test(role)) return true;
    return !interactive && this.structure.test(role) && !/^(progressbar|meter)$/.test(role);
  }

  /** The same words again: an image, a heading or a box in something to press whose name has them. */
  private repeats(element: Element, role: string, name: string, place: Place): boolean {
    if (!place.atomic || !/^(clickable|heading|img)$/.test(role)) return false;
    const { pressed } = place;
    const listens = this.clicks.listens(element);
    // A part of a button is pressed with it.
    if (role === "clickable" && place.role !== "clickable" && pressed && !listens) return true;
    if (name !== "" && !place.name.includes(name)) return false;
    if (role !== "clickable" || !pressed || !(listens || this.clicks.pointsHere(element))) return true;
    return (name === place.name || name === "") && this.isOneWith(element, pressed, name === place.name);
  }

  /** A layer over the whole of what it is in, or a box within a box: there is but one thing to press. */
  private isOneWith(element: Element, around: Element, saysTheSame: boolean): boolean {
    const [inner, outer] = [this.dom.box(element), this.dom.box(around)];
    if (inner.width * inner.height > 0.5 * outer.width * outer.height) return true;
    return saysTheSame && !this.hasPressedTwin(element);
  }

  /** One of several beside each other, such as the icons for yes and no. */
  private hasPressedTwin(element: Element): boolean {
    const beside = this.siblings(element);
    return beside.some((one) => one !== element && this.clicks.listens(one));
  }

  private siblings(element: Element): Element[] {
    const parent = native.parentElement(element);
    return parent ? [...native.children(parent)] : [];
  }

  /** Not to be acted on, and yet listed: it tells where one is, or structure was asked for. */
  private isContext(element: Element, role: string): boolean {
    const wanted =
      this.notable.test(role) ||
      this.tables.isTable(role) ||
      (!this.options.interactiveOnly && this.structure.test(role));
    return wanted && this.dom.seen(element);
  }

  /** A cell where double clicks are heard, as in a spreadsheet, can be what a user is to act on. */
  private isEditedCell(element: Element, role: string, place: Place): boolean {
    if (!place.told || this.options.interactiveOnly || role !== "cell") return false;
    return this.clicks.isDoubleClicked(element);
  }

  private emit(
    element: Element,
    role: string,
    name: string,
    interactive: boolean,
    depth: number,
  ): SeenElement {
    const seen = this.records.element(element, role, name, interactive, depth);
    const isBehind = element instanceof HTMLSelectElement && this.isBehind(element);
    if (isBehind) seen.depth = 0;
    (isBehind ? this.behind : this.out).push(seen);
    return seen;
  }

  private isBehind(list: HTMLSelectElement): boolean {
    const { width, height } = this.dom.box(list);
    return width * height <= 9 || /^rect\(0px, 0px, 0px, 0px\)$/.test(this.dom.style(list).clip);
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
    if (opensBlock) below.block = { element, record: interactive ? undefined : record, glued: false };
    if (!record) return below;
    below.atomic ||= this.isWhole(element, role, interactive);
    below.told ||= role === "row";
    if (interactive) {
      below.pressed = element;
      below.role = role;
    }
    return this.belowRecord(record, below);
  }

  private belowRecord(record: SeenElement, place: Place): Place {
    const isMessage = /^(alert|status)$/.test(record.role);
    return {
      ...place,
      depth: place.depth + 1,
      live: place.live || isMessage || /dialog$/.test(record.role),
      message: place.message || isMessage,
      name: record.name || place.name,
    };
  }

  /** Its name is all the text there is in it. */
  private isWhole(element: Element, role: string, interactive: boolean): boolean {
    if (role === "treeitem") return !native.querySelector(element, "[role=group],[role=treeitem],ul,ol");
    return this.whole.test(role) && (interactive || /^(heading|img)$/.test(role));
  }

  private addText(node: Node, parent: Element, place: Place): void {
    if (!place.atomic) this.note({ text: native.nodeValue(node) ?? "", node, parent }, place);
    if (place.atomic || place.told || (this.options.interactiveOnly && !place.live)) return;
    const raw = native.nodeValue(node) ?? "";
    const text = this.dom.clean(raw);
    if (text === "") {
      if (raw !== "") place.block.glued = false;
      return;
    }
    if (!this.dom.rendered(parent) || !this.dom.legible(parent, [node])) return;
    place.block.record ??= this.textRecord(parent, place.depth);
    this.append(text, place, place.block.glued && !/^\s/.test(raw));
    place.block.glued = !/\s$/.test(raw);
  }

  /** A link within a sentence is a row of its own and a word of the sentence. */
  private addWords(name: string, place: Place): void {
    if (place.atomic) return;
    this.note({ text: name, parent: place.block.element }, place);
    if (!place.told && place.block.record?.text) this.append(name, place);
  }

  private note(part: Parameters<InpageTexts["note"]>[0], { block, live }: Place): void {
    const isListed = live || !this.options.interactiveOnly;
    this.texts.note(part, block, { isListed, after: this.out.at(-1) });
  }

  /** Text goes to the record of the block that holds it, made when the first word of the block is met. */
  private append(text: string, { block: { record } }: Place, isGlued = false): void {
    const before = record?.text ?? "";
    if (!record) return;
    const gap = before === "" || isGlued || /^[.,;:!?)]/.test(text) ? "" : " ";
    record.text = `${before}${gap}${text}`;
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
      this.dom.isInline(at) && up && up !== native.body(document);
      up = this.dom.parent(at)
    )
      at = up;
    return at;
  }

  /** A live region that says nothing is no news, and rows and tables count for their words only if those are asked for. */
  private close(record: SeenElement | undefined, role: string, interactive: boolean): void {
    if (!record || interactive) return;
    const isSilent = /^(alert|status)$/.test(role) && !record.text && !record.name;
    if (isSilent && this.out.at(-1) === record) this.out.pop();
    if (this.options.interactiveOnly && (role === "row" || this.tables.isTable(role)))
      this.rows.dropUnpressed(this.out, record);
  }
}

import type { InpageApart } from "./inpageApart.ts";
import type { InpageClicks } from "./inpageClicks.ts";
import type { InpageDom } from "./inpageDom.ts";
import type { InpageGroups } from "./inpageGroups.ts";
import type { InpageNames } from "./inpageNames.ts";
import type { InpageRecords, SeenElement } from "./inpageRecords.ts";
import type { InpageRefs } from "./inpageRefs.ts";
import type { InpageRoles } from "./inpageRoles.ts";
import type { InpageTables } from "./inpageTables.ts";

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

export type SeenPage = {
  elements: SeenElement[];
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

/** `block` gathers the words of one block of text; inline elements share their block's. `atomic`: the name says it all. */
type Place = {
  depth: number;
  atomic: boolean;
  live: boolean;
  message: boolean;
  block: { record: SeenElement | undefined };
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
    private readonly groups: InpageGroups,
    private readonly apart: InpageApart,
  ) {}

  look(options: LookOptions): SeenPage {
    this.options = options;
    this.refs.begin(options.prefix, options.next);
    this.out = [];
    this.read = 0;
    this.records.begin();
    this.deadline = performance.now() + options.budgetMs;
    this.dom.begin();
    const top = {
      depth: 0,
      atomic: false,
      live: false,
      message: false,
      block: { record: undefined },
      name: "",
      told: false,
    };
    if (document.body) this.visit(document.body, top);
    return {
      elements: this.finish(),
      next: this.refs.next,
      title: this.dom.cut(this.dom.clean(document.title), 200),
      url: location.href,
      read: this.read,
      width: innerWidth,
      height: innerHeight,
      cut: this.options.maxElements === 0 || this.out.length >= this.options.maxElements,
      total: document.getElementsByTagName("*").length,
    };
  }

  /** What can only be told of all that was seen, and every text no longer than a dump has room for. */
  private finish(): SeenElement[] {
    const elementOf = (seen: SeenElement) => this.refs.element(seen.ref);
    this.apart.mark(this.out, elementOf, this.options.testIdAttribute);
    const all = this.groups.withCaptions(this.out, elementOf, (element, depth, name) =>
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
    if (this.dom.veiled(element) || (role === "gridcell" && this.isWrapper(element))) return false;
    return this.dom.hasArea(element) || [...element.children].some((child) => this.dom.hasArea(child));
  }

  /** A cell around the one thing in it that is pressed. */
  private isWrapper(cell: Element): boolean {
    const inner = cell.querySelector("button,a[href],[role=button]");
    if (!inner || cell.hasAttribute("tabindex") || this.clicks.listens(cell)) return false;
    return this.dom.clean(inner.textContent ?? "") === this.dom.clean(cell.textContent ?? "");
  }

  private record(
    element: Element,
    role: string,
    interactive: boolean,
    place: Place,
  ): SeenElement | undefined {
    if (!interactive && role === "row") return this.rowRecord(element, place.depth);
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
    const [inner, outer] = [element.getBoundingClientRect(), around.getBoundingClientRect()];
    if (inner.width * inner.height > 0.5 * outer.width * outer.height) return true;
    return saysTheSame && !this.hasPressedTwin(element);
  }

  /** One of several beside each other, such as the icons for yes and no. */
  private hasPressedTwin(element: Element): boolean {
    const beside = [...(element.parentElement?.children ?? [])];
    return beside.some((one) => one !== element && this.clicks.listens(one));
  }

  private rowRecord(element: Element, depth: number): SeenElement | undefined {
    if (!this.dom.rendered(element)) return undefined;
    const headers = this.tables.headersOf(element);
    const text = headers === undefined || this.options.interactiveOnly ? "" : this.tables.text(element);
    if (headers === undefined || text === undefined) return undefined;
    const seen = this.emit(element, "row", "", false, depth);
    if (text !== "") seen.text = text;
    if (headers !== "") seen.headers = this.dom.cut(headers, 300);
    return seen;
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
    this.out.push(seen);
    return seen;
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
    if (role === "treeitem") return !element.querySelector("[role=group],[role=treeitem],ul,ol");
    return this.whole.test(role) && (interactive || /^(heading|img)$/.test(role));
  }

  private addText(raw: string, parent: Element, place: Place): void {
    if (place.atomic || place.told || (this.options.interactiveOnly && !place.live)) return;
    const text = this.dom.clean(raw);
    if (text === "" || !this.dom.rendered(parent) || !this.dom.legible(parent)) return;
    place.block.record ??= this.textRecord(parent, place.depth);
    this.append(text, place);
  }

  /** A link within a sentence is a row of its own and a word of the sentence. */
  private addWords(name: string, place: Place): void {
    if (!place.atomic && !place.told && place.block.record?.text) this.append(name, place);
  }

  /** Text goes to the record of the block that holds it, made when the first word of the block is met. */
  private append(text: string, { block: { record } }: Place): void {
    const before = record?.text ?? "";
    if (!record) return;
    const gap = before === "" || /^[.,;:!?)]/.test(text) ? "" : " ";
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
      this.dom.isInline(at) && up && up !== document.body;
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
      this.dropUnpressed(record, role === "row" ? 2 : 1);
  }

  private dropUnpressed(record: SeenElement, least: number): void {
    const at = this.out.lastIndexOf(record);
    const below = this.out.slice(at + 1);
    if (below.filter((one) => this.isCell(one, record)).length >= least) return;
    this.out.splice(at, 1);
    for (const one of below) one.depth--;
  }

  private isCell(
    { role, interactive, depth }: SeenElement,
    { role: of, depth: above }: SeenElement,
  ): boolean {
    if (of !== "row") return role === "row" && depth === above + 1;
    return interactive && depth === above + 1 && /^(gridcell|clickable|button|option)$/.test(role);
  }
}

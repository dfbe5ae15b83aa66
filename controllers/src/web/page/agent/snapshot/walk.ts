/** Walks through the page once and lists what a user can act on and what helps to understand it. */

import type { SeenElement, SeenPage } from "../answers.ts";
import * as clicks from "../names/clicks.ts";
import * as names from "../names/names.ts";
import * as roles from "../names/roles.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as apart from "./apart.ts";
import * as groups from "./groups.ts";
import * as records from "./records.ts";
import * as refs from "./refs.ts";
import * as tables from "./tables.ts";
import type { TextPlace } from "./texts.ts";
import * as texts from "./texts.ts";

export type SnapshotOptions = {
  interactiveOnly: boolean;
  /** `f2` for the refs of a child frame, empty for the page itself. */
  prefix: string;
  /** New refs are numbered from this or higher, so that no number is used twice. */
  next: number;
  maxElements: number;
  budgetMs: number;
  testIdAttribute: string;
};

type Block = TextPlace & { record: SeenElement | undefined; glued: boolean };

/** `block` collects the words of a block, which inline elements share. `atomic`: the element's name has all of its text. */
type Place = {
  depth: number;
  atomic: boolean;
  live: boolean;
  message: boolean;
  block: Block;
  name: string;
  /** In a row of a table, which has all words of its cells. */
  inRow: boolean;
  /** The widget around this place, and its role. */
  pressed?: Element;
  role?: string;
};

let out: SeenElement[] = [];
/** Native lists that a picker replaces; they come last. */
let behind: SeenElement[] = [];
let read = 0;
let deadline = 0;
let asked: SnapshotOptions;
const skipped =
  /^(script|style|template|noscript|head|link|meta|title|option|optgroup|datalist|source|track|defs)$/;
const notable = /^(heading|dialog|alertdialog|alert|status|iframe)$/;
const structure =
  /^(img|table|list|navigation|main|region|form|figure|progressbar|meter|group|tablist|toolbar|menu|menubar|tree|grid|radiogroup)$/;
const whole =
  /^(button|link|tab|menuitem\w*|option|checkbox|radio|switch|heading|combobox|listbox|textbox|searchbox|spinbutton|slider|img|clickable)$/;

export function snapshot(options: SnapshotOptions): Omit<SeenPage, "unread"> {
  asked = options;
  refs.begin(options.prefix, options.next);
  out = [];
  behind = [];
  read = 0;
  records.begin();
  deadline = performance.now() + options.budgetMs;
  texts.begin();
  const body = native.body(document);
  if (body) visit(body, top(body));
  const elements = finish();
  const cut = asked.maxElements === 0 || out.length >= asked.maxElements;
  return {
    elements,
    first: elements.length > 0 ? [] : texts.first().map((text) => textOf(text)),
    texts: textChanges(elements, !cut),
    next: refs.nextNumber,
    title: dom.cut(dom.clean(native.title(document)), 200),
    url: location.href,
    read,
    width: innerWidth,
    height: innerHeight,
    cut,
    total: native.querySelectorAll(document, "*").length,
  };
}

function top(body: Element): Place {
  return {
    depth: 0,
    atomic: false,
    live: false,
    message: false,
    block: { element: body, record: undefined, glued: false },
    name: "",
    inRow: false,
  };
}

function textChanges(elements: readonly SeenElement[], isWhole: boolean): SeenPage["texts"] {
  const names = elements.flatMap(({ name, text }) => [name, text ?? ""]);
  const { changed, ...others } = texts.changes(names, isWhole);
  return { ...others, changed: changed.map(({ was, ...text }) => ({ seen: textOf(text), was })) };
}

function textOf({ element, text }: { element: Element; text: string }): SeenElement {
  return { ...records.context(element, roles.role(element) || "text", "", 0), text };
}

/** Adds what depends on the whole list, and cuts long texts. */
function finish(): SeenElement[] {
  out.push(...behind);
  apart.mark(out, asked.testIdAttribute);
  if (asked.interactiveOnly) {
    tables.signRows(out);
    out = groups.withSigns(out);
  }
  const stepped = texts.withSteps(out, (text, depth) => ({ ...textOf(text), depth }));
  const all = groups.withCaptions(stepped);
  for (const seen of all) {
    seen.name = dom.cut(seen.name, 120);
    if (seen.text) seen.text = dom.cut(seen.text, 400);
  }
  return all;
}

/** Out of time or of room. The clock is read for every 64th element. */
function isOver(): boolean {
  if (out.length >= asked.maxElements) return true;
  return (read & 63) === 0 && performance.now() > deadline && stop();
}
function stop(): true {
  asked = { ...asked, maxElements: 0 };
  return true;
}

function visit(element: Element, place: Place): void {
  if (skipped.test(native.localName(element)) || isOver()) return;
  read++;
  if (dom.display(element) === "none" || native.hasAttribute(element, "inert")) return;
  const role = clicks.role(element);
  const interactive = roles.isWidget(role) && canAct(element, role);
  const record = recordOf(element, role, interactive, place);
  if (record && role === "link" && dom.isInline(element)) addWords(record.name, place);
  const below = inside(element, role, interactive, record, place);
  visitBelow(element, below);
  const isBreak = native.localName(element) === "br";
  if (below.block !== place.block || isBreak) place.block.glued = false;
  if (isBreak || !dom.isInline(element)) place.block.isParted = true;
  close(record, role, interactive);
}

function visitBelow(element: Element, place: Place): void {
  for (const child of dom.children(element)) {
    if (child instanceof Element) visit(child, place);
    else if (dom.isText(child)) addText(child, element, place);
  }
}

/** Transparent or tiny form fields count, since style sheets draw the control elsewhere. */
function canAct(element: Element, role: string): boolean {
  if (!sight.rendered(element) || clicks.standIn(element) !== element) return false;
  if (element instanceof HTMLInputElement && /^(checkbox|radio|file|slider|colour)$/.test(role)) return true;
  if (element instanceof HTMLSelectElement) return sight.hasArea(element);
  if (sight.veiled(element) || (role === "gridcell" && isWrapper(element))) return false;
  return sight.hasArea(element) || [...native.children(element)].some((child) => sight.hasArea(child));
}

/** A cell that only holds one widget. */
function isWrapper(cell: Element): boolean {
  const inner = native.querySelector(cell, "button,a[href],[role=button]");
  if (!inner || native.hasAttribute(cell, "tabindex") || clicks.listens(cell)) return false;
  return dom.clean(native.textContent(inner) ?? "") === dom.clean(native.textContent(cell) ?? "");
}

function recordOf(
  element: Element,
  role: string,
  interactive: boolean,
  place: Place,
): SeenElement | undefined {
  if (!interactive && role === "row") return row(element, place.depth);
  if (!interactive && !isContext(element, role) && !isEditedCell(element, role, place)) return undefined;
  const { name: said, derived, guessed } = names.nameOf(element, role);
  const isTable = !interactive && tables.isTable(role);
  const name = said === "" && isTable ? tables.caption(element) : said;
  if (name === "" && needsName(role, interactive)) return undefined;
  if (repeats(element, role, name, place)) return undefined;
  const seen = emit(element, role, name, interactive, place.depth);
  if (interactive) records.addFacts(element, seen, { derived, guessed });
  return seen;
}

function row(element: Element, depth: number): SeenElement | undefined {
  const seen = tables.row(element, depth, asked.interactiveOnly);
  if (seen) out.push(seen);
  return seen;
}

function needsName(role: string, interactive: boolean): boolean {
  if (/^(heading|img)$/.test(role)) return true;
  return !interactive && structure.test(role) && !/^(progressbar|meter)$/.test(role);
}

/** An image, a heading or a box in a widget whose name has the same words. */
function repeats(element: Element, role: string, name: string, place: Place): boolean {
  if (!place.atomic || !/^(clickable|heading|img)$/.test(role)) return false;
  const { pressed } = place;
  const listens = clicks.listens(element);
  // A part of a button is pressed with it.
  if (role === "clickable" && place.role !== "clickable" && pressed && !listens) return true;
  if (name !== "" && !place.name.includes(name)) return false;
  if (role !== "clickable" || !pressed || !(listens || clicks.pointsHere(element))) return true;
  return (name === place.name || name === "") && isOneWith(element, pressed, name === place.name);
}

/** A layer over the whole widget, or a box in a box with the same words: both are one widget. */
function isOneWith(element: Element, around: Element, saysTheSame: boolean): boolean {
  const [inner, outer] = [dom.box(element), dom.box(around)];
  if (inner.width * inner.height > 0.5 * outer.width * outer.height) return true;
  return saysTheSame && !hasPressedTwin(element);
}

/** One of several next to each other, such as the icons for yes and no. */
function hasPressedTwin(element: Element): boolean {
  const parent = native.parentElement(element);
  const siblings = parent ? [...native.children(parent)] : [];
  return siblings.some((one) => one !== element && clicks.listens(one));
}

/** Listed although a user cannot act on it: it shows where one is, or structure was asked for. */
function isContext(element: Element, role: string): boolean {
  const wanted =
    notable.test(role) || tables.isTable(role) || (!asked.interactiveOnly && structure.test(role));
  return wanted && sight.seen(element);
}

/** A cell that listens for double clicks, as in a spreadsheet. */
function isEditedCell(element: Element, role: string, place: Place): boolean {
  if (!place.inRow || asked.interactiveOnly || role !== "cell") return false;
  return clicks.isDoubleClicked(element);
}

function emit(
  element: Element,
  role: string,
  name: string,
  interactive: boolean,
  depth: number,
): SeenElement {
  const seen = records.element(element, role, name, interactive, depth);
  const isBehind = element instanceof HTMLSelectElement && liesBehind(element);
  if (isBehind) seen.depth = 0;
  (isBehind ? behind : out).push(seen);
  return seen;
}

function liesBehind(list: HTMLSelectElement): boolean {
  const { width, height } = dom.box(list);
  return width * height <= 9 || /^rect\(0px, 0px, 0px, 0px\)$/.test(dom.style(list).clip);
}

function inside(
  element: Element,
  role: string,
  interactive: boolean,
  record: SeenElement | undefined,
  place: Place,
): Place {
  const labelsField = element instanceof HTMLLabelElement && element.control !== null;
  const opensBlock = !place.message && (record !== undefined || !dom.isInline(element));
  const below = { ...place, atomic: place.atomic || labelsField };
  if (opensBlock) below.block = { element, record: interactive ? undefined : record, glued: false };
  if (!record) return below;
  below.atomic ||= isWhole(element, role, interactive);
  below.inRow ||= role === "row";
  if (interactive) {
    below.pressed = element;
    below.role = role;
  }
  return belowRecord(record, below);
}

function belowRecord(record: SeenElement, place: Place): Place {
  const isMessage = /^(alert|status)$/.test(record.role);
  return {
    ...place,
    depth: place.depth + 1,
    live: place.live || isMessage || /dialog$/.test(record.role),
    message: place.message || isMessage,
    name: record.name || place.name,
  };
}

/** Its name has all of its text. */
function isWhole(element: Element, role: string, interactive: boolean): boolean {
  if (role === "treeitem") return !native.querySelector(element, "[role=group],[role=treeitem],ul,ol");
  return whole.test(role) && (interactive || /^(heading|img)$/.test(role));
}

function addText(node: Node, parent: Element, place: Place): void {
  if (!place.atomic) note({ text: native.nodeValue(node) ?? "", node, parent }, place);
  if (place.atomic || place.inRow || (asked.interactiveOnly && !place.live)) return;
  const raw = native.nodeValue(node) ?? "";
  const text = dom.clean(raw);
  if (text === "") {
    if (raw !== "") place.block.glued = false;
    return;
  }
  if (!sight.rendered(parent) || !sight.legible(parent, [node])) return;
  place.block.record ??= textRecord(parent, place.depth);
  append(text, place, place.block.glued && !/^\s/.test(raw));
  place.block.glued = !/\s$/.test(raw);
}

/** A link in a sentence gets its own row and is also part of the sentence. */
function addWords(name: string, place: Place): void {
  if (place.atomic) return;
  note({ text: name, parent: place.block.element }, place);
  if (!place.inRow && place.block.record?.text) append(name, place);
}

function note(part: Parameters<typeof texts.note>[0], { block, live }: Place): void {
  const isListed = live || !asked.interactiveOnly;
  texts.note(part, block, { isListed, after: out.at(-1) });
}

function append(text: string, { block: { record } }: Place, isGlued = false): void {
  const before = record?.text ?? "";
  if (!record) return;
  const gap = before === "" || isGlued || /^[.,;:!?)]/.test(text) ? "" : " ";
  record.text = `${before}${gap}${text}`;
}

function textRecord(parent: Element, depth: number): SeenElement | undefined {
  if (isOver()) return undefined;
  const block = blockOf(parent);
  return emit(block, roles.role(block) || "text", "", false, depth);
}

function blockOf(element: Element): Element {
  let at = element;
  for (let up = dom.parent(at); dom.isInline(at) && up && up !== native.body(document); up = dom.parent(at))
    at = up;
  return at;
}

/** Drops an empty live region, and rows and tables without widgets if only widgets are asked for. */
function close(record: SeenElement | undefined, role: string, interactive: boolean): void {
  if (!record || interactive) return;
  const isSilent = /^(alert|status)$/.test(role) && !record.text && !record.name;
  if (isSilent && out.at(-1) === record) out.pop();
  if (asked.interactiveOnly && (role === "row" || tables.isTable(role))) tables.dropUnpressed(out, record);
}

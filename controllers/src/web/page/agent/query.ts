/** Finds elements by the words that a user knows them by. */

import { type PlainMatch, TextMatcher } from "../../../elements/text.ts";
import * as clicks from "./names/clicks.ts";
import * as names from "./names/names.ts";
import * as roles from "./names/roles.ts";
import * as words from "./names/words.ts";
import * as patterns from "./patterns.ts";
import * as refs from "./snapshot/refs.ts";
import * as dom from "./tree/dom.ts";
import { native } from "./tree/native.ts";
import * as sight from "./tree/sight.ts";

/** How a text is compared in the page. */
export type PageText = PlainMatch | patterns.TriedPattern;

/** A search in one frame. Playwright runs `css` and `xpath` itself; here they are only counted. */
export type PageQuery =
  | { kind: "ref"; ref: string }
  | { kind: "role"; role: string; name?: PageText }
  | { kind: "label" | "placeholder" | "text" | "any"; text: PageText }
  | { kind: "css"; css: string };

type Writer = ReturnType<typeof dom.writer>;
type Left = { characters: number; readonly boxes: "glued" | "apart" };

export const texts = new TextMatcher(dom.clean);

/** Matches in document order: only the visible ones, if there are any. */
export function find(query: PageQuery, root: Document | Element | ShadowRoot = document): Element[] {
  return preferVisible(match(query, root));
}

/**
 * All matches or, if there are several, those in exactly the query's case. `isCased`: all are in that case; not determined for a
 * single match with `isAlone`, since that costs a second search.
 */
export function targets(query: PageQuery, isAlone = true): { elements: Element[]; isCased: boolean } {
  const elements = find(query);
  const strict = elements.length > (isAlone ? 1 : 0) ? cased(query) : undefined;
  if (strict === undefined) return { elements, isCased: false };
  const shown = new Set(elements);
  const same = find(strict).filter((element) => shown.has(element));
  return same.length > 0 ? { elements: same, isCased: true } : { elements, isCased: false };
}

/** The different texts that a query with a pattern compares. */
export function textsOf(query: PageQuery, token: number): string[] {
  return patterns.textsOf(token, () => match(query, document));
}

function holds(wanted: PageText, element: Element, text: string | null): boolean {
  if (text === null) return false;
  return wanted.match === "tried"
    ? patterns.holds(wanted, element, texts.plain(text))
    : texts.holds(wanted, text);
}

/** The same query, case-sensitive; undefined if it already is, or cannot be. */
export function cased(query: PageQuery): PageQuery | undefined {
  if (query.kind === "ref" || query.kind === "css") return undefined;
  if (query.kind !== "role")
    return query.text.match === "same" ? { ...query, text: { ...query.text, match: "cased" } } : undefined;
  return query.name?.match === "same" ? { ...query, name: { ...query.name, match: "cased" } } : undefined;
}

export function preferVisible(found: readonly Element[]): Element[] {
  if (found.length < 2) return [...found];
  const visible = found.filter((element) => isVisible(element));
  return visible.length > 0 ? visible : [...found];
}

/** The targets of a query in the document, or all of its matches below an element. */
export function findBelow(query: PageQuery, root: Document | Element | ShadowRoot): readonly Element[] {
  return root === document ? targets(query).elements : find(query, root);
}

function isVisible(element: Element): boolean {
  return sight.rendered(element) && sight.hasArea(element);
}

function match(query: PageQuery, root: Document | Element | ShadowRoot): Element[] {
  if (query.kind === "ref") {
    const element = refs.element(query.ref);
    return element ? [element] : [];
  }
  if (query.kind === "css") return dom.select(query.css);
  const all = root === document ? candidates(query) : dom.all(root);
  if (query.kind === "text") return byText(all, query.text);
  const found = matchWidgets(query, all).map((element) => clicks.standIn(element));
  return [...new Set(found)];
}

function candidates(query: Exclude<PageQuery, { kind: "ref" | "css" }>): readonly Element[] {
  return knownFor(query.kind === "role" ? query.name : query.text) ?? dom.everything();
}

function knownFor(wanted: PageText | undefined): readonly Element[] | undefined {
  return wanted?.match === "tried" ? patterns.candidates(wanted) : undefined;
}

function matchWidgets(
  query: Exclude<PageQuery, { kind: "ref" | "css" }>,
  all: readonly Element[],
): Element[] {
  if (query.kind === "role") return byRole(all, query.role, query.name);
  if (query.kind === "label") return byLabel(all, query.text);
  if (query.kind === "placeholder") {
    return all.filter((one) => holds(query.text, one, native.getAttribute(one, "placeholder")));
  }
  return query.kind === "text" ? byText(all, query.text) : byAnything(all, query.text);
}

export function nameOf(element: Element, role: string): string {
  const known = dom.known(element);
  known.name ??= names.nameOf(element, role).name;
  return known.name;
}

function byRole(all: readonly Element[], role: string, name: PageText | undefined): Element[] {
  return all.filter((element) => {
    if (clicks.role(element) !== role) return false;
    return !name || holds(name, element, nameOf(element, role));
  });
}

/** A label that is only near its field counts if no label is tied to a field. */
function byLabel(all: readonly Element[], wanted: PageText): Element[] {
  const tied = all.filter((one) => labels(one).some((text) => holds(wanted, one, text)));
  if (tied.length > 0) return tied;
  return all.filter((one) => {
    const guess = names.guessedLabel(one, roles.role(one));
    return guess !== "" && holds(wanted, one, guess);
  });
}

function labels(element: Element): string[] {
  if (
    !native.matches(
      element,
      "input,select,textarea,button,[role],[contenteditable],[aria-label],[aria-labelledby]",
    )
  )
    return [];
  const spoken =
    native.hasAttribute(element, "aria-label") || native.hasAttribute(element, "aria-labelledby");
  const texts = [names.label(element)];
  if (spoken) texts.push(names.accessibleName(element, roles.role(element)));
  return texts.filter((text) => text !== "");
}

/** The innermost elements whose whole visible text matches. */
function byText(all: readonly Element[], wanted: PageText): Element[] {
  const hits = textHolders(all, wanted).filter((element) => {
    const own = element instanceof HTMLInputElement ? element.value : words.read(element);
    if (own === "" || wanted.match !== "exact") return own !== "" && holds(wanted, element, own);
    return holds(wanted, element, element instanceof HTMLInputElement ? own : words.shown(element));
  });
  const set = new Set(hits);
  const outer = new Set<Element>();
  for (const hit of hits) {
    for (let up = dom.parent(hit); up; up = dom.parent(up)) if (set.has(up)) outer.add(up);
  }
  return hits.filter((hit) => !outer.has(hit));
}

/** Elements whose own words may start the match, with five levels of parents. */
function textHolders(all: readonly Element[], wanted: PageText): Element[] {
  if (knownFor(wanted)) return [...all];
  const words =
    wanted.match === "tried"
      ? []
      : dom
          .clean(wanted.text)
          .toLowerCase()
          .split(/[ \u00A0]/);
  const first = words[0] ?? "";
  const holders = new Set<Element>();
  for (const element of all) {
    if (/^(script|style|template|noscript|title)$/.test(native.localName(element))) continue;
    if (isInputButton(element)) holders.add(element);
    else if (speaks(element, first)) addWithParents(element, holders);
  }
  return all.filter((element) => holders.has(element));
}

function speaks(element: Element, word: string): boolean {
  const known = dom.known(element);
  known.words ??= ownWords(element);
  return known.words !== "" && known.words.includes(word);
}

function ownWords(element: Element): string {
  const own = [...native.childNodes(element)].filter(dom.isText);
  return dom.clean(own.map((node) => native.nodeValue(node) ?? "").join(" ")).toLowerCase();
}

function addWithParents(element: Element, holders: Set<Element>): void {
  let at: Element | undefined = element;
  for (let up = 0; at && up < 5; up++, at = dom.parent(at)) holders.add(at);
}

/** A bare string: widgets by name, then fields by label or placeholder, then any text. */
function byAnything(all: readonly Element[], wanted: PageText): Element[] {
  const tiers = [
    () =>
      all.filter((element) => {
        const role = clicks.role(element);
        return roles.isWidget(role) && holds(wanted, element, nameOf(element, role));
      }),
    () =>
      all.filter(
        (element) =>
          labels(element).some((text) => holds(wanted, element, text)) ||
          holds(wanted, element, native.getAttribute(element, "placeholder")),
      ),
    () => byText(all, wanted),
  ];
  for (const tier of tiers) {
    const found = tier();
    const visible = found.filter((element) => isVisible(element));
    if (visible.length > 0) return visible;
    if (found.length > 0) return found;
  }
  return [];
}

/** Names of at most `limit` visible widgets and headings, for "did you mean". */
export function namesOnScreen(limit: number): { role: string; name: string; element: Element }[] {
  const found: { role: string; name: string; element: Element }[] = [];
  for (const element of dom.everything()) {
    if (found.length >= limit) break;
    const role = clicks.role(element);
    if (!roles.isWidget(role) && role !== "heading") continue;
    if (!isVisible(element)) continue;
    const name = nameOf(element, role);
    if (name !== "") found.push({ role, name, element });
  }
  return found;
}

/**
 * The visible text of the page, one line for each block; stops after `limit` characters. A box in a line, such as a badge, looks
 * separate from the words next to it although no space is between them: with `boxes: "apart"` it is separated by one.
 */
export function pageText(limit: number, boxes: "glued" | "apart"): string[] {
  const writer = dom.writer();
  const left = { characters: limit, boxes };
  if (native.body(document)) readBelow(native.body(document), writer, left);
  return writer
    .read()
    .split("\n")
    .filter((line) => dom.clean(line) !== "");
}

function readBelow(element: Element, writer: Writer, left: Left): void {
  if (left.characters <= 0 || dom.style(element).display === "none") return;
  if (/^(script|style|template|noscript|head|option)$/.test(native.localName(element))) return;
  if (native.localName(element) === "br") {
    writer.line();
    return;
  }
  const bound = boundOf(element, writer, left);
  bound();
  for (const child of dom.children(element)) {
    if (child instanceof Element) readBelow(child, writer, left);
    else readText(child, element, writer, left);
  }
  if (isInputButton(element)) writer.write(` ${native.getAttribute(element, "value") ?? ""} `, element);
  bound();
}

/** Returns a function that writes the separator before and after an element. */
function boundOf(element: Element, writer: Writer, { boxes }: Left): () => void {
  if (!dom.isInline(element)) return () => writer.edge();
  const isBox = boxes === "apart" && dom.style(element).display.startsWith("inline-");
  return () => isBox && writer.write(" ", element);
}

function isInputButton(element: Element): boolean {
  return native.matches(element, "input[type=submit],input[type=button],input[type=reset]");
}

function readText(node: Node, parent: Element, writer: Writer, left: Left): void {
  if (!dom.isText(node)) return;
  const text = native.nodeValue(node) ?? "";
  if (text.trim() !== "" && !(sight.rendered(parent) && sight.legible(parent, [node]))) return;
  left.characters -= text.length;
  writer.write(text, parent);
}

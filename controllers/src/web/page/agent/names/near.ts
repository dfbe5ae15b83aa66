/** Words near an element: a label that no mark-up ties to it, the text around it. */

import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import { columnOf, headCells } from "./columns.ts";
import * as words from "./words.ts";

const controls = "input,select,textarea,button,a[href],iframe,[role=button],[contenteditable]";
const fieldRoles = /^(textbox|searchbox|combobox|spinbutton|slider|listbox|switch)$/;

export function isField(element: Element, role: string): boolean {
  if (fieldRoles.test(role)) return true;
  return element instanceof HTMLInputElement && !/^(button|submit|reset|image)$/.test(element.type);
}

/** The placeholder shows how to write a value, not what the field is for. */
export function isFormat(placeholder: string): boolean {
  return /\d|[_#]{2}|@|^[\W_]+$|\b(dd?|mm?|yy(yy)?|hh?|ss|tt|jj(jj)?|aa(aa)?)[\W_]+(dd?|mm?|yy|hh?|ss)/i.test(
    placeholder,
  );
}

/** The nearest words before a field, or after a checkbox; empty if they belong to another element. */
export function label(element: Element): string {
  if (native.matches(element, "[type=checkbox],[type=radio]")) {
    const after = wordsNextTo(element, "nextSibling", 0);
    if (after) return after;
  }
  const below = labelBelow(element);
  if (below) return below;
  let at = element;
  for (let up = 0; up < 4; up++) {
    const said = wordsNextTo(at, "previousSibling", up);
    if (said !== undefined) return said || columnHead(element);
    const parent = dom.parent(at);
    if (!parent || /^(body|form|main|fieldset|html|dialog|ul|ol|table)$/.test(native.localName(parent)))
      break;
    at = parent;
  }
  return columnHead(element);
}

/** The words after a field, if several similar boxes hold a field and then its label. */
function labelBelow(element: Element): string | undefined {
  const box = dom.parent(element);
  if (!box || !isBoxOfOne(box) || wordsNextTo(element, "previousSibling", 0) !== undefined) return undefined;
  const neighbours = [native.previousElementSibling(box), native.nextElementSibling(box)];
  const isAlike = (one: Element | null) =>
    one !== null &&
    native.localName(one) === native.localName(box) &&
    native.getAttribute(one, "class") === native.getAttribute(box, "class") &&
    isBoxOfOne(one);
  return neighbours.some(isAlike) ? wordsNextTo(element, "nextSibling", 0) : undefined;
}

function isBoxOfOne(box: Element): boolean {
  const inner = native.children(box);
  const [first] = inner;
  if (!first || inner.length < 2 || !native.matches(first, "input,select,textarea")) return false;
  return native.querySelectorAll(box, controls).length === 1;
}

/** Undefined if there are no words on that side; empty if they name something else. */
function wordsNextTo(
  element: Element,
  side: "previousSibling" | "nextSibling",
  up: number,
): string | undefined {
  for (let node = element[side]; node; node = node[side]) {
    const said = wordsOf(node);
    if (said === undefined) continue;
    const isTitle = node instanceof Element && up > 0 && /^h[12]$/.test(native.localName(node));
    return said.length > 80 || isTitle || !/\p{L}/u.test(said) ? "" : said;
  }
  return undefined;
}

function wordsOf(node: Node): string | undefined {
  if (dom.isText(node)) return dom.clean(native.nodeValue(node) ?? "") || undefined;
  if (!(node instanceof Element) || /^(script|style|template|option)$/.test(native.localName(node)))
    return undefined;
  if (node instanceof HTMLLabelElement && node.htmlFor !== "" && node.control) return "";
  if (!sight.rendered(node)) return undefined;
  if (native.matches(node, controls) || native.querySelector(node, controls)) return "";
  return words.read(node) || undefined;
}

function columnHead(element: Element): string {
  const cell = native.closest(element, "td");
  const head = cell && headCells(cell.closest("table"))[columnOf(cell)];
  return head && head !== cell && head.localName === "th" ? words.read(head) : "";
}

/**
 * The words around an element that are not its own: those of the nearest parent that has some and holds none of `others`. Links
 * named like one of the `labels` do not count.
 */
export function around(
  element: Element,
  own: string,
  others: readonly Element[] = [],
  labels: ReadonlySet<string> = new Set(),
): string {
  let at = dom.parent(element);
  for (let up = 0; at && up < 5; up++, at = dom.parent(at)) {
    const scope = at;
    if (/^(body|html)$/.test(native.localName(scope)) || others.some((one) => native.contains(scope, one)))
      break;
    const said = plainWords(scope, element, own, labels);
    if (/[\p{L}\p{N}]/u.test(said)) return said.replace(/^[\s|·•,/–—-]+|[\s|·•,/–—-]+$/g, "");
  }
  return "";
}

function plainWords(
  scope: Element,
  element: Element,
  own: string,
  labels: ReadonlySet<string> = new Set(),
): string {
  const isLabel = (said: string) => said === own || labels.has(said);
  const skips = (node: Node) =>
    node === element ||
    (node instanceof Element &&
      (native.matches(node, "button,input,select,textarea,[role=button],script,style") ||
        (native.matches(node, "a,[role],[onclick]") && isLabel(words.read(node)))));
  return words.read(scope, false, skips);
}

/** The words right before a group of elements, such as the month before its days. */
export function caption(group: Element): string {
  let at: Element | undefined = group;
  for (let up = 0; at && up < 3; up++) {
    const said = wordsBefore(at);
    if (said !== "") return said.length <= 60 ? said : "";
    at = dom.parent(at);
    if (at && /^(body|main|form|html|section|article)$/.test(native.localName(at))) break;
  }
  return "";
}

function wordsBefore(element: Element): string {
  for (let side = native.previousElementSibling(element); side; side = native.previousElementSibling(side)) {
    const said = sight.rendered(side) ? plainWords(side, side, "") : "";
    if (said !== "") return said;
  }
  return "";
}

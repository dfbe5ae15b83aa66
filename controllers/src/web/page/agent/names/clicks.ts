/** Finds out which elements a user can press, also without a role. */

import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as world from "../tree/world.ts";
import * as roles from "./roles.ts";

const attributes = [
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

/** Whether the element, an element around it or the document listens for double clicks. */
export function isDoubleClicked(element: Element): boolean {
  for (let at: Element | undefined = element; at; at = dom.parent(at)) if (world.isDoubled(at)) return true;
  return world.isDoubled(document);
}

export function listens(element: Element): boolean {
  const known = dom.known(element);
  known.listens ??= attributes.some((name) => native.hasAttribute(element, name)) || world.listens(element);
  return known.listens;
}

/** The cursor is a pointer here and not already on the parent, which would then be the widget. */
export function pointsHere(element: Element): boolean {
  if (dom.style(element).cursor !== "pointer") return false;
  const parent = dom.parent(element);
  return !parent || dom.style(parent).cursor !== "pointer";
}

/** Its listener serves elements inside it: a page's root, a container of controls, half of the screen. */
function delegates(element: Element): boolean {
  if (element === native.body(document) || element === native.documentElement(document)) return true;
  if (
    native.querySelector(
      element,
      "a[href],button,input,select,textarea,[role=button],[role=link],[role=tab],[role=menuitem]",
    )
  )
    return true;
  const rect = native.getBoundingClientRect(element);
  return rect.width * rect.height > 0.4 * innerWidth * innerHeight || native.childElementCount(element) > 20;
}

/** A list whose entries, all of one tag and with words, are pressed although the listener is on the list. */
function servesEntries(element: Element): boolean {
  const children = [...native.children(unwrapped(element))];
  const tag = children[0]?.localName;
  return (
    children.length > 1 &&
    children.every((child) => native.localName(child) === tag && /\S/.test(native.textContent(child) ?? ""))
  );
}

/** Skips boxes that only hold one other box. */
function unwrapped(element: Element): Element {
  const [only] = native.children(element);
  return only && isWrapper(element) ? unwrapped(only) : element;
}

function isWrapper(element: Element): boolean {
  const isWords = (node: Node) => dom.isText(node) && /\S/.test(native.nodeValue(node) ?? "");
  return native.childElementCount(element) === 1 && ![...native.childNodes(element)].some(isWords);
}

/** The element that listens around an entry, with only wrappers between them. */
function serverOf(entry: Element): Element | undefined {
  let at = dom.parent(entry);
  while (at && at !== native.body(document) && !listens(at)) {
    const outer: Element | undefined = dom.parent(at);
    at = outer && isWrapper(outer) ? outer : undefined;
  }
  return at === native.body(document) ? undefined : at;
}

/** The whole list has the pointer, but its entries are pressed. */
function isListOfEntries(element: Element): boolean {
  return (
    native.matches(element, "ul,ol,menu,tbody,[role=list],[role=listbox],[role=menu],[role=tree]") &&
    listens(element) &&
    servesEntries(element)
  );
}

/** A row or entry with its own words: its listener is for itself, even if it holds controls. */
function isEntry(element: Element): boolean {
  if (!native.matches(element, "tr,li,[role=row],[role=listitem]")) return false;
  const inner = [...native.querySelectorAll(element, "a[href],button,input,select,textarea,[role=button]")];
  const words = (node: Element) => (native.textContent(node) ?? "").replace(/\s/g, "").length;
  return inner.length <= 10 && words(element) > inner.reduce((sum, one) => sum + words(one), 0);
}

/** A user can press it although it has no widget's role. */
function isClickable(element: Element): boolean {
  if (native.localName(element) === "label") return isLabelOfHidden(element);
  if (isShell(element)) return false;
  if (pointsHere(element)) return !isListOfEntries(element);
  if (
    native.getAttribute(element, "tabindex") &&
    Number(native.getAttribute(element, "tabindex")) >= 0 &&
    !delegates(element)
  )
    return true;
  if (listens(element)) {
    if (isEntry(element)) return true;
    return !delegates(element) && !servesEntries(element);
  }
  const server = serverOf(element);
  if (!server || unwrapped(server) !== dom.parent(element)) return false;
  return servesEntries(server) && !delegates(element) && !delegates(server);
}

/** It has the same words as the only item in it, so a press on that presses both. */
function isShell(element: Element): boolean {
  if (!native.matches(element, "li,[role=none],[role=presentation]")) return false;
  const items = "[role^=menuitem],[role=option],[role=tab]";
  const item = native.querySelector(element, items);
  if (!item || native.querySelectorAll(element, items).length > 1) return false;
  const words = (node: Element) => (native.textContent(node) ?? "").trim();
  return words(item) === words(element);
}

/** A label that is pressed in place of its field, which a style sheet hides. */
function isLabelOfHidden(element: Element): boolean {
  return (
    element instanceof HTMLLabelElement && element.control !== null && standIn(element.control) === element
  );
}

/** What a user presses for a checkbox, radio button or file field: its label if the field itself is out of reach. */
export function standIn(element: Element): Element {
  if (!(element instanceof HTMLInputElement) || !/^(checkbox|radio|file)$/.test(element.type)) return element;
  if (isInReach(element)) return element;
  return (
    [...(element.labels ?? [])].find((label) => sight.rendered(label) && sight.hasArea(label)) ?? element
  );
}

function isInReach(element: Element): boolean {
  const rect = native.getBoundingClientRect(element);
  const onPage = rect.right + scrollX > 0 && rect.bottom + scrollY > 0;
  return sight.rendered(element) && rect.width * rect.height > 4 && onPage;
}

/** The element whose state and value count: the field that a label stands in for, else the element itself. */
export function fieldOf(element: Element): Element {
  return element instanceof HTMLLabelElement && isLabelOfHidden(element)
    ? (element.control ?? element)
    : element;
}

/** The role in a snapshot: `clickable` for an element that can be pressed but has no widget's role. */
export function role(element: Element): string {
  const role = roles.role(element);
  if (
    roles.isWidget(role) ||
    /^(iframe|heading)$/.test(role) ||
    /^(html|body)$/.test(native.localName(element))
  )
    return role;
  if (!isClickable(element)) return role;
  const field = fieldOf(element);
  return field === element ? "clickable" : roles.role(field) || "clickable";
}

/** Knows which elements a user can press, so that widgets without a role are found. */

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

/** Whether the element or what is around it up to the document listens for double clicks. */
export function isDoubleClicked(element: Element): boolean {
  for (let at: Element | undefined = element; at; at = dom.parent(at)) if (world.isDoubled(at)) return true;
  return world.isDoubled(document);
}

export function listens(element: Element): boolean {
  const known = dom.known(element);
  known.listens ??= attributes.some((name) => native.hasAttribute(element, name)) || world.listens(element);
  return known.listens;
}

/** The pointer turns into a hand here and not already on the parent, who would then be the thing to press. */
export function pointsHere(element: Element): boolean {
  if (dom.style(element).cursor !== "pointer") return false;
  const parent = dom.parent(element);
  return !parent || dom.style(parent).cursor !== "pointer";
}

/** A listener that serves what lies below: a page's root, a container of controls, half of the screen. */
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

/** A list whose listener sits on the list: its entries, all of one tag and each with words, are what a user presses. */
function servesEntries(element: Element): boolean {
  const children = [...native.children(unwrapped(element))];
  const tag = children[0]?.localName;
  return (
    children.length > 1 &&
    children.every((child) => native.localName(child) === tag && /\S/.test(native.textContent(child) ?? ""))
  );
}

/** The innermost of boxes around one other box and nothing else. */
function unwrapped(element: Element): Element {
  const [only] = native.children(element);
  return only && isWrapper(element) ? unwrapped(only) : element;
}

function isWrapper(element: Element): boolean {
  const isWords = (node: Node) => dom.isText(node) && /\S/.test(native.nodeValue(node) ?? "");
  return native.childElementCount(element) === 1 && ![...native.childNodes(element)].some(isWords);
}

/** What listens around the box of an entry, with nothing but wrappers between them. */
function serverOf(entry: Element): Element | undefined {
  let at = dom.parent(entry);
  while (at && at !== native.body(document) && !listens(at)) {
    const outer: Element | undefined = dom.parent(at);
    at = outer && isWrapper(outer) ? outer : undefined;
  }
  return at === native.body(document) ? undefined : at;
}

/** A list that looks pressable as a whole: what a user presses are its entries. */
function isListOfEntries(element: Element): boolean {
  return (
    native.matches(element, "ul,ol,menu,tbody,[role=list],[role=listbox],[role=menu],[role=tree]") &&
    listens(element) &&
    servesEntries(element)
  );
}

/** A row or an entry with words of its own: its listener is for itself, also where it holds controls. */
function isEntry(element: Element): boolean {
  if (!native.matches(element, "tr,li,[role=row],[role=listitem]")) return false;
  const inner = [...native.querySelectorAll(element, "a[href],button,input,select,textarea,[role=button]")];
  const words = (node: Element) => (native.textContent(node) ?? "").replace(/\s/g, "").length;
  return inner.length <= 10 && words(element) > inner.reduce((sum, one) => sum + words(one), 0);
}

/** It has no role of a widget, and a user can press it all the same. */
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

/** It says nothing but what the one item in it says, and whoever presses that presses both. */
function isShell(element: Element): boolean {
  if (!native.matches(element, "li,[role=none],[role=presentation]")) return false;
  const items = "[role^=menuitem],[role=option],[role=tab]";
  const item = native.querySelector(element, items);
  if (!item || native.querySelectorAll(element, items).length > 1) return false;
  const words = (node: Element) => (native.textContent(node) ?? "").trim();
  return words(item) === words(element);
}

/** A label that is pressed in place of a field of its own that is hidden or a speck, as style sheets like to do it. */
function isLabelOfHidden(element: Element): boolean {
  return (
    element instanceof HTMLLabelElement && element.control !== null && standIn(element.control) === element
  );
}

/** What a user presses to reach a box or a file field: its label where the field itself is out of reach. */
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

/** The field that a label stands in for, else the element itself: whose state and value count. */
export function fieldOf(element: Element): Element {
  return element instanceof HTMLLabelElement && isLabelOfHidden(element)
    ? (element.control ?? element)
    : element;
}

/** The role as a dump says it: a widget's own, `clickable` for what only listens. */
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

/**
 * Names of elements: the accessible name (accname-1.2, in the parts that pages use) or, for a widget without one, a name derived
 * from titles, icons, classes or addresses.
 */

import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import * as sight from "../tree/sight.ts";
import * as near from "./near.ts";
import * as roles from "./roles.ts";
import { tableOf } from "./roles.ts";
import * as words from "./words.ts";

/** Words of style sheets, frameworks and mark-up that do not say what an element is for. */
const jargon = new Set(
  (
    "active bidi bold box btn button buttons clickable closed container content control cursor dark default draggable el " +
    "elem element expanded fa fixed focus footer fw group handle has header hidden hover icon icons inner input item items " +
    "large left lg light link list main material md mini new node off on open outer pinned pointer primary red regular right " +
    "round secondary selected single sm small solid span svg tab text ui widget with wrap wrapper xs xl"
  ).split(" "),
);
/** A class of an editor's tool with the editor's prefix, as in `ql-bold`. */
const toolClass =
  /^(?!(?:alert|bs|btn|card|dropdown|fa|form|list|menu|nav|page|tab)-)[a-z]+-(bold|header|link|list|text)$/;
/** Attributes with the command of an editor's button. */
const commands = ["data-command", "data-cmd", "data-mce-name", "data-trix-attribute", "data-name"];
const ligature = "[class*=material-icons],[class*=material-symbols]";
const iconClass =
  /^(?:fa|bi|mdi|icon|glyphicon|lucide|feather|ti|ri|ph|uil|oi|pi|ion|octicon|codicon|material)-(.+)$/;

/** Meanings of icons whose names in the common icon sets only say what they show. */
const iconMeanings = tableOf({
  "angle double down": "expand",
  "angle double left": "first",
  "angle double right": "last",
  "angle double up": "collapse",
  bars: "menu",
  bell: "notifications",
  cog: "settings",
  cogs: "settings",
  ellipsis: "more",
  "ellipsis h": "more",
  "ellipsis v": "more",
  "eye slash": "hide",
  gear: "settings",
  hamburger: "menu",
  magnifier: "search",
  minus: "remove",
  pencil: "edit",
  plus: "add",
  times: "close",
  trash: "delete",
  "trash o": "delete",
  x: "close",
  xmark: "close",
});

/** The child element that holds an element's name. */
const captions = tableOf({
  fieldset: "legend",
  table: "caption",
  figure: "figcaption",
  svg: "title",
});

/** `derived`: the element has no accessible name. `guessed`: the name is the words near it. */
export function nameOf(element: Element, role: string): { name: string; derived: boolean; guessed: boolean } {
  const accessible = accessibleName(element, role);
  const guess = roles.isWidget(role) ? guessLabel(element, role, accessible) : "";
  if (guess !== "") return { name: guess, derived: true, guessed: true };
  if (accessible || !roles.isWidget(role)) return { name: accessible, derived: false, guessed: false };
  const derived = dom.clean(derive(element, role));
  return { name: derived, derived: derived !== "", guessed: false };
}

export function accessibleName(element: Element, role: string): string {
  const clean = (text: string | null | undefined) => dom.clean(text ?? "");
  const content = () => (roles.isNamedByContent(role) ? nameByContent(element, role) : "");
  return (
    labelledBy(element) ||
    clean(native.getAttribute(element, "aria-label")) ||
    nativeName(element) ||
    content() ||
    clean(native.getAttribute(element, "title")) ||
    clean(placeholderOf(element))
  );
}

function placeholderOf(element: Element): string | null {
  return native.getAttribute(element, "placeholder") ?? native.getAttribute(element, "aria-placeholder");
}

/** Without the words of widgets of the same kind that it holds. */
function nameByContent(element: Element, role: string): string {
  if (native.childElementCount(element) === 0) return words.read(element);
  // An icon font draws the word as a picture.
  const isIcon = (node: Node) => node instanceof Element && native.matches(node, ligature);
  if (role !== "clickable")
    return native.querySelector(element, ligature) ? words.read(element, false, isIcon) : words.read(element);
  const isLeaf = (node: Node) =>
    node instanceof Element &&
    (native.matches(node, "ul,ol,[role=group]") ||
      (native.localName(node) === native.localName(element) &&
        native.className(node) !== "" &&
        native.getAttribute(node, "class") === native.getAttribute(element, "class")));
  return words.read(element, false, isLeaf) || words.read(element);
}

/** The words near a field that mark-up does not label. A placeholder that only shows a format does not count as a name. */
function guessLabel(element: Element, role: string, accessible: string): string {
  const placeholder = placeholderOf(element) ?? "";
  const isNamed = accessible !== "" && !(accessible === placeholder && near.isFormat(placeholder));
  if (isNamed || !near.isField(element, role) || hint(element) !== "") return "";
  return near.label(element);
}

/** The label of a field as {@link nameOf} guesses it; empty if the field has a name. */
export function guessedLabel(element: Element, role: string): string {
  return near.isField(element, role) ? guessLabel(element, role, accessibleName(element, role)) : "";
}

function labelledBy(element: Element): string {
  return dom
    .named(element, "aria-labelledby")
    .slice(0, 5)
    .map((one) => dom.clean(native.getAttribute(one, "aria-label") ?? "") || words.read(one, true))
    .filter((text) => text !== "")
    .join(" ");
}

function nativeName(element: Element): string {
  if (element instanceof HTMLInputElement && ["button", "submit", "reset", "image"].includes(element.type)) {
    return dom.clean(buttonName(element));
  }
  if (hasLabels(element)) return labelled(element);
  if (element instanceof HTMLImageElement || element instanceof HTMLAreaElement)
    return dom.clean(element.alt);
  if (element instanceof HTMLOptionElement || element instanceof HTMLOptGroupElement)
    return dom.clean(element.label);
  const inner = captions.get(native.localName(element));
  const part = inner && [...native.children(element)].find((child) => native.localName(child) === inner);
  return part ? dom.clean(native.textContent(part) ?? "") : "";
}

function buttonName(input: HTMLInputElement): string {
  if (input.type === "image") return input.alt || input.title || "Submit";
  return input.value || { submit: "Submit", reset: "Reset" }[input.type] || "";
}

function hasLabels(element: Element): boolean {
  return native.matches(element, "input,select,textarea,button,meter,progress,output");
}

/** Like `element.labels`, for which Chromium walks through the whole page for each element. */
function labelsOf(element: Element): readonly Element[] {
  const root = dom.rootOf(element);
  if (!root) return [];
  const known = dom.known(root);
  known.labels ??= labelsIn(root);
  return known.labels.get(element) ?? [];
}

function labelsIn(root: Document | ShadowRoot): Map<Element, readonly Element[]> {
  const labels = new Map<Element, readonly Element[]>();
  for (const label of native.querySelectorAll(root, "label"))
    if (label.control) labels.set(label.control, [...(labels.get(label.control) ?? []), label]);
  return labels;
}

/** Text of the `label` elements of a field. */
export function label(element: Element): string {
  return hasLabels(element) ? labelled(element) : "";
}

function labelled(element: Element): string {
  return labelsOf(element)
    .slice(0, 3)
    .map((label) => words.read(label, true, (node) => node === element))
    .filter((text) => text !== "")
    .join(" ");
}

/** A name for an element without an accessible one; empty if nothing says what it is for. */
function derive(element: Element, role: string): string {
  // A name inside a composite field belongs to one of its parts.
  const inside = near.isField(element, role) ? "" : nameInside(element);
  const spoken = hint(element) || inside || pseudoText(element);
  if (spoken) return spoken;
  const icon = iconWords(element);
  const purpose = purposeWords(element).filter((word) => !icon.includes(word));
  if (purpose.length === 0) return iconMeanings.get(icon.join(" ")) ?? icon.join(" ");
  return icon.length > 0 ? `${purpose.join(" ")} (${icon.join(" ")})` : purpose.join(" ");
}

function hint(element: Element): string {
  const hints = [
    "data-tooltip",
    "data-title",
    "data-original-title",
    "data-bs-original-title",
    "data-tip",
    "data-label",
  ];
  return hints.map((hint) => native.getAttribute(element, hint)).find((said) => said) ?? "";
}

function nameInside(element: Element): string {
  const inner = native.querySelector(element, "[title],[aria-label],img[alt],svg title");
  if (!inner) return "";
  const said =
    native.getAttribute(inner, "title") ??
    native.getAttribute(inner, "aria-label") ??
    native.getAttribute(inner, "alt");
  return said || (native.localName(inner) === "title" ? (native.textContent(inner) ?? "") : "");
}

function pseudoText(element: Element): string {
  const said = ["::before", "::after"].map((part) => {
    const content = getComputedStyle(element, part).content;
    return /^".*"$/.test(content) ? content.slice(1, -1) : "";
  });
  return dom.clean(said.join(" "));
}

/** "trash" for `fa fa-trash`, `#icon-trash` and `trash.svg`; of several icons, the visible one counts. */
function iconWords(element: Element): string[] {
  const icons = [...native.querySelectorAll(element, "i,span,svg,use,img")].slice(0, 8);
  const shown = [element, ...icons.filter((one) => native.localName(one) === "use" || sight.rendered(one))];
  for (const one of shown) {
    const words = iconSources(one, one !== element)
      .map((source) => wordsIn(source, false))
      .find((found) => found.length > 0);
    if (words) return words.slice(0, 3);
  }
  return [];
}

function iconSources(icon: Element, hasAddress: boolean): string[] {
  const classes = [...native.classList(icon)].flatMap((name) => iconClass.exec(name)?.[1] ?? []);
  const address = ["href", "xlink:href", "src"].map((name) => native.getAttribute(icon, name));
  const file = (hasAddress && address.find((one) => one !== null)) || "";
  return [
    native.matches(icon, ligature) ? (native.textContent(icon) ?? "") : "",
    native.getAttribute(icon, "data-icon") ?? native.getAttribute(icon, "data-lucide") ?? "",
    ...classes,
    /^data:/.test(file) ? "" : file.replace(/^.*[#/]|\.\w+$|[?].*$/g, ""),
  ];
}

/** Words of the author's identifiers: id, name, target, classes, else those of the parent. */
function purposeWords(element: Element): string[] {
  const tool = toolWords(element);
  if (tool.length > 0) return tool;
  const parent = dom.parent(element);
  const sources = [
    native.id(element),
    native.getAttribute(element, "name") ?? "",
    target(element),
    [...native.classList(element)].filter((name) => !iconClass.test(name)).join(" "),
    parent && native.childElementCount(parent) === 1
      ? native.id(parent) || (native.getAttribute(parent, "class") ?? "")
      : "",
  ];
  return (
    sources
      .map((source) => wordsIn(source, true))
      .find((words) => words.length > 0)
      ?.slice(-3) ?? []
  );
}

/** The command of an editor's button, with its value if it has one: "list ordered". */
function toolWords(element: Element): string[] {
  const command = commands.map((name) => native.getAttribute(element, name)).find((said) => said);
  if (command) return wordsIn(command, false);
  const own = [...native.classList(element)].flatMap((name) => toolClass.exec(name)?.[1] ?? []);
  const value = native.localName(element) === "button" ? (native.getAttribute(element, "value") ?? "") : "";
  return own.length > 0 && /^\w{0,20}$/.test(value) ? [...own, value].filter((word) => word !== "") : [];
}

function target(element: Element): string {
  const href = native.getAttribute(element, "href") ?? "";
  if (/^(data|javascript|blob):/.test(href)) return "";
  return href
    .replace(/[?].*$/, "")
    .replace(/^.*[/#](?=[^/#])/, "")
    .replace(/\.\w+$/, "");
}

/** Readable words of an identifier, each once, without generated ones and, with `plain`, without jargon. */
function wordsIn(source: string, plain: boolean): string[] {
  if (source.length > 200) return [];
  if (!plain && /^[a-z]\d?$/i.test(source)) return [source.toLowerCase()];
  const words = source
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 1 && /[aeiouy]/.test(word) && !(plain && jargon.has(word)));
  return [...new Set(words)];
}

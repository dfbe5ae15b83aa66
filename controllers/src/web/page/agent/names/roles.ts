/** Roles and states of elements by WAI-ARIA and its mapping to HTML (HTML-AAM). */
import { canAlwaysBe } from "../../../../elements/stateTable.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";

/** A map, since words of a page may be names that every object has, such as `constructor`. */
export const tableOf = <Row = string>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> =>
  new Map(Object.entries(rows));

const tags = tableOf({
  article: "article",
  aside: "complementary",
  button: "button",
  caption: "caption",
  datalist: "listbox",
  dd: "definition",
  details: "group",
  dialog: "dialog",
  dt: "term",
  fieldset: "group",
  figure: "figure",
  footer: "contentinfo",
  form: "form",
  frame: "iframe",
  h1: "heading",
  h2: "heading",
  h3: "heading",
  h4: "heading",
  h5: "heading",
  h6: "heading",
  header: "banner",
  hr: "separator",
  iframe: "iframe",
  li: "listitem",
  main: "main",
  menu: "list",
  meter: "meter",
  nav: "navigation",
  ol: "list",
  optgroup: "group",
  option: "option",
  output: "status",
  p: "paragraph",
  progress: "progressbar",
  search: "search",
  summary: "button",
  table: "table",
  tbody: "rowgroup",
  td: "cell",
  textarea: "textbox",
  tfoot: "rowgroup",
  th: "columnheader",
  thead: "rowgroup",
  tr: "row",
  ul: "list",
});
/** Tags whose role depends on attributes or place: the selector, the role if it matches, the role if not. */
const rules = tableOf<readonly [string, string | undefined, string | undefined]>({
  a: ["[href]", "link", ""],
  area: ["[href]", "link", ""],
  select: ["[multiple],[size]:not([size='0'],[size='1'])", "listbox", "combobox"],
  img: ['[alt=""]:not([title])', "", "img"],
  th: ["[scope=row]", "rowheader", "columnheader"],
  section: ["[aria-label],[aria-labelledby]", "region", ""],
  header: [":is(article,aside,main,nav,section) *", "", undefined],
  footer: [":is(article,aside,main,nav,section) *", "", undefined],
});
const inputs: Readonly<Record<string, string>> = {
  button: "button",
  checkbox: "checkbox",
  color: "colour",
  file: "file",
  hidden: "",
  image: "button",
  number: "spinbutton",
  radio: "radio",
  range: "slider",
  reset: "button",
  search: "searchbox",
  submit: "button",
};
const known = new Set(
  (
    "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox " +
    "complementary contentinfo definition dialog directory document emphasis feed figure form generic grid gridcell group " +
    "heading img insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox " +
    "menuitemradio meter navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup " +
    "rowheader scrollbar search searchbox separator slider spinbutton status strong switch tab table tablist tabpanel term " +
    "textbox time timer toolbar tooltip tree treegrid treeitem"
  ).split(" "),
);
const widgets = new Set(
  (
    "button checkbox colour combobox file gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio " +
    "scrollbar searchbox slider spinbutton switch tab textbox treeitem clickable"
  ).split(" "),
);
const namedByContent = new Set(
  (
    "button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row " +
    "rowheader switch tab tooltip treeitem clickable"
  ).split(" "),
);

/** A role that a user acts on. `gridcell`, `option` and the like count even without their own listener. */
export function isWidget(role: string): boolean {
  return widgets.has(role);
}
export function isNamedByContent(role: string): boolean {
  return namedByContent.has(role);
}

/** The first known token of the `role` attribute, else the role of the tag; empty for a plain container. */
export function role(element: Element): string {
  const said = native.getAttribute(element, "role");
  if (said === null) return nativeRole(element);
  const tokens = said.toLowerCase().split(/\s+/);
  const token = tokens.find((one) => known.has(one));
  if (token === undefined) return nativeRole(element);
  if (token === "generic") return "";
  if (token === "none" || token === "presentation") return isFocusable(element) ? nativeRole(element) : "";
  return token;
}

function nativeRole(element: Element): string {
  if (element instanceof HTMLElement && native.isContentEditable(element)) return editable(element);
  const special = specialRole(element);
  return special === undefined ? (tags.get(native.localName(element)) ?? "") : special;
}

/** Undefined for tags whose role does not depend on attributes or place. */
function specialRole(element: Element): string | undefined {
  if (element instanceof HTMLInputElement) return inputRole(element);
  const rule = rules.get(native.localName(element));
  if (!rule) return undefined;
  const [when, then, otherwise] = rule;
  return native.matches(element, when) ? then : otherwise;
}

function inputRole(input: HTMLInputElement): string {
  const role = inputs[input.type] ?? "textbox";
  return input.list && (role === "textbox" || role === "searchbox") ? "combobox" : role;
}

/** The host of an editable region is a textbox; elements inside keep the roles of their tags. */
function editable(element: HTMLElement): string {
  const parent = native.parentElement(element);
  return parent && native.isContentEditable(parent) ? (tags.get(native.localName(element)) ?? "") : "textbox";
}

export function isFocusable(element: Element): boolean {
  return (
    native.hasAttribute(element, "tabindex") ||
    native.matches(
      element,
      "a[href],area[href],button,input,select,textarea,summary,iframe,audio[controls],video[controls]",
    )
  );
}

/** The states that are on, in a fixed order, and `collapsed`. */
export function states(element: Element): string[] {
  const states: string[] = [];
  for (const name of shownStates) {
    const value = reads[name]?.(element);
    if (value === true || value === "mixed") states.push(value === true ? name : value);
    else if (name === "expanded" && value === false) states.push("collapsed");
  }
  return states;
}

/** The value of every state that the element can have; `role` is the one in a snapshot. */
export function statesOf(element: Element, role: string): Record<string, boolean | "mixed"> {
  const found: Record<string, boolean | "mixed"> = {};
  for (const [name, read] of Object.entries(reads)) {
    const value = read(element);
    if (value || canBe(element, role, name, value)) found[name] = value ?? false;
  }
  return found;
}

const shownStates =
  "disabled checked selected expanded pressed focused required readonly invalid current".split(" ");

/** Undefined if the page does not say. */
const reads: Readonly<Record<string, (element: Element) => boolean | "mixed" | undefined>> = {
  disabled: (element) =>
    native.matches(element, ":disabled") ||
    native.closest(element, '[aria-disabled="true"]') !== null ||
    undefined,
  checked: (element) => isChecked(element),
  selected: (element) =>
    element instanceof HTMLOptionElement ? element.selected : saidState(element, "aria-selected"),
  expanded: (element) => expanded(element),
  open: (element) => isOpen(element),
  pressed: (element) => saidState(element, "aria-pressed"),
  focused: (element) => isFocused(element),
  required: (element) =>
    native.matches(element, ":required") ||
    (saidState(element, "aria-required") ?? (native.matches(element, ":optional") ? false : undefined)),
  readonly: (element) => isReadonly(element),
  editable: (element) => isEditable(element),
  invalid: (element) => isRefused(element) || saidState(element, "aria-invalid"),
  busy: (element) => saidState(element, "aria-busy"),
  current: (element) => saidState(element, "aria-current"),
};

/** An absent state is `false` only if the element can have it: by its role, or because the page sets it on similar elements. */
function canBe(element: Element, role: string, name: string, value: boolean | "mixed" | undefined): boolean {
  if (value !== undefined) return true;
  if (canAlwaysBe(role, name)) return true;
  if (name !== "selected" && name !== "current") return false;
  // Pages leave the attribute out if it would be false.
  const parent = native.parentElement(element);
  const others =
    parent &&
    native.closest(
      parent,
      "[role=tablist],[role=listbox],[role=tree],[role=treegrid],[role=grid],table,nav,[role=navigation],ol,ul",
    );
  return others !== null && native.querySelector(others, `[aria-${name}]`) !== null;
}

function saidState(element: Element, attribute: string): boolean | "mixed" | undefined {
  const value = native.getAttribute(element, attribute);
  if (value === null || value === "" || value === "undefined") return undefined;
  return value === "mixed" ? "mixed" : value !== "false";
}

export function checked(element: Element): "checked" | "mixed" | undefined {
  const value = isChecked(element);
  return value === true ? "checked" : value === "mixed" ? value : undefined;
}

function isChecked(element: Element): boolean | "mixed" | undefined {
  if (element instanceof HTMLInputElement && (element.type === "checkbox" || element.type === "radio"))
    return element.indeterminate ? "mixed" : element.checked;
  return saidState(element, "aria-checked");
}

function expanded(element: Element): boolean | undefined {
  const parent = native.parentElement(element);
  if (native.localName(element) === "summary" && parent instanceof HTMLDetailsElement) return parent.open;
  const value = native.getAttribute(element, "aria-expanded");
  return value === "true" || value === "false" ? value === "true" : undefined;
}

function isOpen(element: Element): boolean | undefined {
  if (element instanceof HTMLDetailsElement || element instanceof HTMLDialogElement) return element.open;
  const isKnown = element instanceof HTMLSelectElement && CSS.supports("selector(:open)");
  return isKnown ? native.matches(element, ":open") : undefined;
}

/** Undefined for an element that takes no text or choice. */
function isEditable(element: Element): boolean | undefined {
  const isField =
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    (element instanceof HTMLInputElement &&
      !/^(button|checkbox|file|hidden|image|radio|reset|submit)$/.test(element.type)) ||
    (element instanceof HTMLElement && native.isContentEditable(element)) ||
    /^(textbox|searchbox|combobox|spinbutton)$/.test(role(element));
  return isField ? !isReadonly(element) && !reads.disabled?.(element) : undefined;
}

export function isFocused(element: Element): boolean {
  const root = dom.rootOf(element);
  return root !== undefined && native.activeElement(root) === element && element !== native.body(document);
}

const knowsRefused = CSS.supports("selector(:user-invalid)");

/** The browser marks the user's input as invalid. */
export function isRefused(element: Element): boolean {
  const isJudged = knowsRefused && /^(input|select|textarea)$/.test(native.localName(element));
  return isJudged && native.matches(element, ":user-invalid");
}

function isReadonly(element: Element): boolean | undefined {
  const said = saidState(element, "aria-readonly") === true;
  const isField =
    element instanceof HTMLTextAreaElement ||
    (element instanceof HTMLInputElement && !/^(button|submit|reset)$/.test(element.type));
  return isField ? said || element.readOnly : said || undefined;
}

/** The value of a field as a user reads it. A password is four dots, whatever its length. */
export function value(element: Element): string | undefined {
  if (element instanceof HTMLInputElement) return inputValue(element);
  if (element instanceof HTMLTextAreaElement) return element.value;
  if (element instanceof HTMLSelectElement)
    return [...element.selectedOptions].map((o) => o.label.trim()).join(", ");
  if (element instanceof HTMLProgressElement || element instanceof HTMLMeterElement)
    return String(element.value);
  if (element instanceof HTMLElement && native.isContentEditable(element))
    return native.innerText(element).replace(/\n$/, "");
  const said =
    native.getAttribute(element, "aria-valuetext") ?? native.getAttribute(element, "aria-valuenow");
  if (said !== null || native.getAttribute(element, "role") !== "spinbutton") return said ?? undefined;
  return native.textContent(element) ?? undefined;
}

function inputValue(input: HTMLInputElement): string | undefined {
  if (["button", "submit", "reset", "image", "checkbox", "radio"].includes(input.type)) return undefined;
  if (input.type === "password") return input.value === "" ? "" : "••••";
  if (input.type === "file") return [...(input.files ?? [])].map((file) => file.name).join(", ");
  return input.value;
}

/** Reads fields back after an input. */

import type { FieldFacts, HeldField } from "./answers.ts";
import * as clicks from "./names/clicks.ts";
import * as roles from "./names/roles.ts";
import * as words from "./names/words.ts";
import { type PageQuery, targets } from "./query.ts";
import * as dom from "./tree/dom.ts";
import { native } from "./tree/native.ts";
import * as sight from "./tree/sight.ts";
import * as world from "./tree/world.ts";

type NotedField = { element: Element; query: PageQuery | undefined; before: FieldFacts };

const MOST_NOTED = 30;
const notedFields = new Map<number, NotedField>();

/** Remembers the field that will be acted on. */
export function note(element: Element, token: number, query?: PageQuery): FieldFacts {
  const field = fieldOf(element);
  const before = facts(field);
  notedFields.set(token, { element: field, query, before });
  const [oldest] = notedFields.keys();
  if (oldest !== undefined && notedFields.size > MOST_NOTED) notedFields.delete(oldest);
  return before;
}

/** The field that has the focus in this frame; null without one. */
export function noteFocused(token: number): FieldFacts | null {
  const active = withFocus();
  return active && native.localName(active) !== "body" ? note(active, token) : null;
}

/** The innermost element with the focus; null where another frame or window has it. */
export function withFocus(): Element | null {
  const active = focused();
  return active && native.hasFocus() && !/^(iframe|frame)$/.test(native.localName(active)) ? active : null;
}

function activeIn(host: Element): Element | null {
  const shadow = native.shadowRoot(host);
  return shadow && native.activeElement(shadow);
}

function focused(): Element | null {
  let active = native.activeElement(document);
  for (let at = active; at; at = activeIn(at)) active = at;
  return active;
}

/** What noted fields of this document hold now. A field that was drawn anew is found again by its id, query or name. */
export function held(tokens: readonly number[]): HeldField[] {
  return tokens.flatMap((token) => {
    const noted = notedFields.get(token);
    const field = noted && (native.isConnected(noted.element) ? noted.element : again(noted));
    return field ? { token, before: noted.before, now: facts(field) } : [];
  });
}

function again({ element: gone, query }: NotedField): Element | undefined {
  const name = native.getAttribute(gone, "name");
  const twins = [
    native.id(gone) === "" ? [] : dom.select(`[id="${CSS.escape(native.id(gone))}"]`),
    query === undefined || query.kind === "ref" ? [] : targets(query).elements,
    name ? dom.select(`${native.localName(gone)}[name="${CSS.escape(name)}"]`) : [],
  ];
  const [twin] = twins.find((found) => found.length === 1) ?? [];
  return twin && fieldOf(twin);
}

export function fieldOf(element: Element): Element {
  const field = element instanceof HTMLLabelElement ? (element.control ?? element) : clicks.fieldOf(element);
  if (!(field instanceof HTMLElement) || !native.isContentEditable(field)) return field;
  let host = field;
  for (let at = native.parentElement(host); at && native.isContentEditable(at); at = native.parentElement(at))
    host = at;
  return host;
}

function facts(field: Element): FieldFacts {
  const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  return {
    type: typeOf(field),
    value: isText ? textOf(field) : (roles.value(field) ?? ""),
    checked: roles.checked(field) === "checked",
    chosen: chosen(field),
    around: around(field),
    completed: isText ? completed(field) : 0,
    ...(isText ? caret(field) : {}),
    locale: navigator.language,
    limits: limits(field),
    readOnly: (isText && field.readOnly) || native.closest(field, "[aria-readonly='true']") !== null,
    disabled: native.matches(field, ":disabled") || native.closest(field, "[aria-disabled='true']") !== null,
    secret: native.matches(field, "input[type=password]"),
    origin: self.origin,
    seen: sight.seen(field),
    heard: world.mayHearInput(field),
  };
}

function chosen(field: Element): FieldFacts["chosen"] {
  const options = field instanceof HTMLSelectElement ? [...field.selectedOptions] : [];
  return options.map(({ label, value }) => ({ label, value }));
}

function limits(field: Element): FieldFacts["limits"] {
  const said = (name: string) => native.getAttribute(field, name) ?? "";
  const isText = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
  return {
    min: said("min"),
    max: said("max"),
    step: said("step"),
    maxLength: isText ? field.maxLength : -1,
    pattern: said("title") || said("pattern"),
    placeholder: said("placeholder"),
  };
}

function typeOf(field: Element): string {
  if (field instanceof HTMLInputElement) return field.type;
  if (field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement) return field.localName;
  return field instanceof HTMLElement && native.isContentEditable(field) ? "rich" : "none";
}

/** A user sees a row of boxes for one character each as one field. */
function textOf(field: HTMLInputElement | HTMLTextAreaElement): string {
  if (field.maxLength !== 1) return field.value;
  const boxes = "input[maxlength='1']";
  const group = groupOf(field, boxes);
  return group.length > 1 ? group.map(({ value }) => value).join("") : field.value;
}

function groupOf(field: Element, css: string): HTMLInputElement[] {
  const parent = native.parentElement(field);
  const group = parent && native.parentElement(parent);
  const boxes = group ? [...native.querySelectorAll(group, css)] : [];
  return boxes.filter((box) => box instanceof HTMLInputElement);
}

function completed(field: HTMLInputElement | HTMLTextAreaElement): number {
  const { selectionStart, selectionEnd, value } = field;
  if (selectionStart === null || selectionStart === 0 || selectionEnd !== value.length) return 0;
  return selectionEnd - selectionStart;
}

function caret(field: HTMLInputElement | HTMLTextAreaElement): { caret?: [number, number] } {
  const { selectionStart, selectionEnd } = field;
  return selectionStart === null || selectionEnd === null ? {} : { caret: [selectionStart, selectionEnd] };
}

function around(field: Element): string {
  let at = field;
  for (let up = 0; up < 3; up++) {
    const parent = dom.parent(at);
    if (!parent || /^(body|form|main|html)$/.test(native.localName(parent))) break;
    at = parent;
  }
  return at === field ? "" : words.read(at).slice(0, 2000);
}

/** Describes one element of a snapshot. */
import type { SeenElement } from "../answers.ts";
import * as clicks from "../names/clicks.ts";
import * as facts from "../names/facts.ts";
import * as roles from "../names/roles.ts";
import * as dom from "../tree/dom.ts";
import * as refs from "./refs.ts";

/** Of all lists in a snapshot. */
const mostChoices = 5_000;
let choicesLeft = 0;

export function begin(): void {
  choicesLeft = mostChoices;
}

export function element(
  element: Element,
  role: string,
  name: string,
  interactive: boolean,
  depth: number,
): SeenElement {
  const seen = context(element, role, name, depth);
  const field = clicks.fieldOf(element);
  seen.interactive = interactive;
  seen.states = roles.states(field);
  const value = interactive || /^(progressbar|meter)$/.test(role) ? roles.value(field) : undefined;
  if (value) seen.value = dom.cut(dom.clean(value), 200);
  const choices = choicesOf(element);
  if (choices) seen.choices = choices.shown;
  if (choices && choices.more > 0) seen.moreChoices = choices.more;
  return seen;
}

/** A row that a user cannot act on. */
export function context(element: Element, role: string, name: string, depth: number): SeenElement {
  const { x, y, width, height } = dom.box(element);
  return {
    ref: refs.of(element),
    role,
    name,
    states: [],
    box: [Math.round(x), Math.round(y), Math.round(width), Math.round(height)],
    depth,
    interactive: false,
  };
}

/** A row that names a group of elements. */
export const group = (element: Element, name: string, depth: number): SeenElement =>
  context(element, "group", name, depth);

/** Labels of the options of a list, or of a field's suggestions. */
function choicesOf(element: Element): { shown: string[]; more: number } | undefined {
  const list = element instanceof HTMLInputElement ? element.list : element;
  const isList = list instanceof HTMLSelectElement || list instanceof HTMLDataListElement;
  if (!isList || list.options.length === 0) return undefined;
  const options = [...list.options].slice(0, choicesLeft);
  choicesLeft -= options.length;
  const shown = options.map((option) => dom.cut(dom.clean(option.label || option.value), 100));
  return { shown, more: list.options.length - shown.length };
}

/** Adds what a widget accepts, and the words around it if its name says little. */
export function addFacts(
  element: Element,
  seen: SeenElement,
  label: { derived: boolean; guessed: boolean },
): void {
  const { role, name, states } = seen;
  const around = facts.wordsAround(element, role, name, label.derived && !label.guessed);
  const about = [
    ...(label.guessed ? ["(label guessed)"] : []),
    ...facts.of(clicks.fieldOf(element), role, name, states),
    ...(around === "" ? [] : [around]),
  ];
  if (about.length > 0) seen.about = about;
}

/** Finds the element that an input of a person is about, and describes it. */

import type { Candidate } from "../../../../elements/ranking.ts";
import * as fields from "../fields.ts";
import * as clicks from "../names/clicks.ts";
import * as names from "../names/names.ts";
import * as roles from "../names/roles.ts";
import * as selectors from "../selectors.ts";
import * as dom from "../tree/dom.ts";
import { native } from "../tree/native.ts";
import type { DeedTarget } from "./deed.ts";

const longestName = 200;

/** The innermost element, also in a closed shadow root, whose host the event names. */
export function hitBy(event: Event): Element | undefined {
  const [first] = event.composedPath();
  if (!(first instanceof Element)) return undefined;
  if (!native.shadowRoot(first) || !(event instanceof MouseEvent) || event.detail === 0) return first;
  return dom.hit({ x: event.clientX, y: event.clientY }) ?? first;
}

/** The control that a press there acts on: the button around an icon, the field of a label. */
export function pressable(hit: Element): Element {
  const body = native.body(document);
  for (let at: Element | undefined = hit; at && at !== body; at = dom.parent(at)) {
    if (at instanceof HTMLLabelElement && at.control) return at.control;
    const role = clicks.role(at);
    if (roles.isWidget(role) || role === "clickable") return fields.fieldOf(at);
  }
  return hit;
}

/** Such as a row whose buttons show while the pointer is on it, by the page's own styles: the element to point at first. */
export function hoveredFor(element: Element): Element | undefined {
  for (const selector of hoverSelectors()) {
    const owner = selector.slice(0, selector.lastIndexOf(":hover"));
    for (let shown: Element | undefined = element; shown; shown = dom.parent(shown)) {
      if (!native.matches(shown, selector)) continue;
      const found = shown.closest(owner || "*");
      if (found && found !== shown) return found;
    }
  }
  return undefined;
}

/** Of the styles that let something appear. Those of other sites cannot be read. */
const hoverSelectors = (): string[] =>
  [...document.styleSheets].flatMap((sheet) => {
    if (sheet.href !== null && new URL(sheet.href).origin !== location.origin) return [];
    return [...sheet.cssRules].flatMap((rule) => {
      if (!(rule instanceof CSSStyleRule) || !rule.selectorText.includes(":hover")) return [];
      const { display, visibility, opacity } = rule.style;
      const shows = (display && display !== "none") || visibility === "visible" || opacity === "1";
      return shows ? rule.selectorText.split(",").filter((one) => /:hover[^,]*[\s>]/.test(one)) : [];
    });
  });

export const isBox = (element: Element): element is HTMLInputElement =>
  element instanceof HTMLInputElement && /^(checkbox|radio)$/.test(element.type);

/** A field whose value is typed or chosen in a calendar, as `input_text` sets it. */
export function isTextField(element: Element): boolean {
  if (element instanceof HTMLTextAreaElement || native.isContentEditable(element)) return true;
  return (
    element instanceof HTMLInputElement &&
    !/^(checkbox|radio|file|range|button|submit|reset|image|hidden)$/.test(element.type)
  );
}

/** It opens or filters something when it is clicked, so the click counts though the field is typed into afterwards. */
export const opensList = (field: Element): boolean =>
  roles.role(field) === "combobox" ||
  native.matches(field, "[aria-haspopup],[aria-expanded],[aria-autocomplete],[readonly]");

export function writtenIn(field: Element): string {
  if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) return field.value;
  return field instanceof HTMLElement ? native.innerText(field) : "";
}

export function describeTarget(
  element: Element,
  testIdAttribute: string,
  hides: (text: string) => boolean,
): DeedTarget {
  const role = clicks.role(element);
  const [candidates = []] = selectors.rank([element], testIdAttribute);
  const isField = isTextField(element) || native.matches(element, "select");
  const { name } = names.nameOf(element, role);
  return {
    candidates: candidates.filter((one) => isLasting(one, isField) && !hides(one.value)),
    role,
    name: hides(name) ? "" : dom.cut(name, longestName),
  };
}

/** The text of a field is what was typed into it, and braces would be read as a placeholder. */
const isLasting = ({ kind, value }: Candidate, isField: boolean): boolean =>
  !(isField && kind === "text") && !value.includes("{{");

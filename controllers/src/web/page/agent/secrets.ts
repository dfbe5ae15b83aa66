/** Fields that hold a secret: their letters are drawn as dots, in pictures and videos too. */

import * as fields from "./fields.ts";
import * as dom from "./tree/dom.ts";
import { native } from "./tree/native.ts";

const texts = new Set<string>();
const covered = new Set<WeakRef<HTMLElement>>();
const dots = "-webkit-text-security";
let isWatching = false;
let isTyping = false;

export const decoded = (text: string): string =>
  new TextDecoder().decode(
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0)),
  );

/** From now on a field of the page that holds one of these is covered, also one that the page makes later. */
export function remember(...secrets: readonly string[]): void {
  for (const secret of secrets) texts.add(secret);
  if (!isWatching && texts.size > 0) {
    isWatching = true;
    // An observer runs before the page is drawn.
    const options = { subtree: true, childList: true, attributeFilter: ["type", "style", "value"] };
    new MutationObserver(coverAll).observe(document, options);
    document.addEventListener("input", coverAll, true);
  }
  coverAll();
}

/** Covers the field with the focus, and, until it is called with false, each that gets it. */
export function coverFocused(going: boolean): void {
  const focused = fields.withFocus();
  isTyping = going;
  if (focused && native.localName(focused) !== "body") cover(fields.fieldOf(focused));
  document.addEventListener("focusin", onFocus, true);
}

const onFocus = (): void => {
  if (isTyping) coverFocused(true);
};

export function cover(field: Element): void {
  if (!(field instanceof HTMLElement) || field.style.getPropertyPriority(dots) === "important") return;
  field.style.setProperty(dots, "disc", "important");
  covered.add(new WeakRef(field));
}

function coverAll(): void {
  for (const known of covered) {
    const field = known.deref();
    if (!field?.isConnected) continue;
    if (mayHoldSecret(field)) cover(field);
    else {
      field.style.removeProperty(dots);
      covered.delete(known);
    }
  }
  for (const field of dom.select("input:not([type=password]),textarea"))
    if (holdsSecret(textIn(field))) cover(field);
}

const textIn = (field: Element): string =>
  field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement
    ? field.value
    : (field.textContent ?? "");

const holdsSecret = (value: string): boolean => [...texts].some((text) => value.includes(text));

/** Also while it is being typed, and where each field takes one character. */
function mayHoldSecret(field: Element): boolean {
  const value = textIn(field);
  return value === "" || holdsSecret(value) || [...texts].some((text) => text.includes(value));
}

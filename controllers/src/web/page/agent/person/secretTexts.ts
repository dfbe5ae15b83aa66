/** Values of secret fields. They are kept here and never sent; elsewhere their names stand for them. */

import { secretNameOf } from "../../../../elements/secretName.ts";
import * as names from "../names/names.ts";
import * as roles from "../names/roles.ts";
import { native } from "../tree/native.ts";

const known = new WeakSet<Element>();
const byValue = new Map<string, string>();
const byField = new WeakMap<Element, string>();
/** What a secret field holds while it is typed into. */
let typing = "";
/** Shorter texts are found in words that have nothing to do with the secret. */
const shortest = 4;

/** A password, a code that is sent, or a card: also after the page shows its letters. */
export function isSecret(field: Element): boolean {
  const completes = native.getAttribute(field, "autocomplete") ?? "";
  const isDotted = getComputedStyle(field).getPropertyValue("-webkit-text-security");
  if (
    native.matches(field, "input[type=password]") ||
    /password|one-time-code|\bcc-(number|csc|exp)/.test(completes) ||
    /^(disc|circle|square)$/.test(isDotted)
  )
    known.add(field);
  return known.has(field);
}

/** The name for a value: the same for the same value, and for a field whose value is corrected; made of the field's label. */
export function nameSecret(field: Element, value: string): string {
  const before = byValue.get(value);
  if (before !== undefined) return before;
  const name = byField.get(field) ?? freeName(field);
  for (const [old, its] of byValue) if (its === name) byValue.delete(old);
  byField.set(field, name);
  byValue.set(value, name);
  return name;
}

function freeName(field: Element): string {
  const label = names.nameOf(field, roles.role(field)).name || (native.getAttribute(field, "name") ?? "");
  const base = secretNameOf(label);
  const taken = new Set(byValue.values());
  let name = base;
  for (let number = 2; taken.has(name); number++) name = `${base}_${number}`;
  return name;
}

export function noteTyping(value: string): void {
  typing = value;
}

/** Whether a text holds a secret that was typed into this document. */
export const holdsSecret = (text: string): boolean =>
  [typing, ...byValue.keys()].some((value) => value.length >= shortest && text.includes(value));

/**
 * The text as a step has it: with placeholders in place of the secrets in it. Braces that are there already stay braces: a page
 * could fill a field with the placeholder of another secret.
 */
export function asWritten(text: string): string {
  let said = text.replaceAll(/\{(?=\{\s*secret)/g, "{ ").replaceAll("{{", "\\{{");
  for (const [value, name] of byValue)
    if (value.length >= shortest) said = said.replaceAll(value, `{{secret.${name}}}`);
  return said;
}

import type { Scope } from "./types.ts";

/** A name with the names of fields or positions of items below it: `load.stops.0.city`. */
const path = "[A-Za-z_]\\w*(?:\\.\\w+)*";
export const placeholder = new RegExp(`\\{(${path})\\}`, "g");
/** In double braces, which stand for themselves. */
const marked = new RegExp(`\\{\\{[^{}]*\\}\\}|\\{(${path})\\}`, "g");

/** A value that a placeholder names and that is not there or does not fit. */
export class NoValue extends Error {}

/** Reads own fields only. Throws {@link NoValue} for a value that is missing or null. */
export function valueAt(name: string, scope: Scope): NonNullable<unknown> {
  let value: unknown = scope;
  for (const key of name.split(".")) {
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined;
  }
  if (value === undefined) throw new NoValue(`${name} is missing`);
  if (value === null) throw new NoValue(`${name} is null`);
  return value;
}

/** As text within a longer text. */
export function textAt(name: string, scope: Scope): string {
  const value = valueAt(name, scope);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return String(value);
  throw new NoValue(`${name} is ${Array.isArray(value) ? "a list" : "an object"}, and a text is needed`);
}

/**
 * Fills the placeholders in all texts of a value. A text that is one placeholder gives the value as it is, with its type. Texts
 * in double braces, such as {{secret.NAME}}, stay. Throws {@link NoValue}.
 */
export function fillValue(value: unknown, scope: Scope): unknown {
  if (typeof value === "string") return fillText(value, scope);
  if (Array.isArray(value)) return value.map((item) => fillValue(item, scope));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillValue(item, scope)]));
}

function fillText(text: string, scope: Scope): unknown {
  const whole = new RegExp(`^\\{(${path})\\}$`).exec(text)?.[1];
  return whole === undefined ? joinText(text, (name) => textAt(name, scope)) : valueAt(whole, scope);
}

/** Throws {@link NoValue}, also for a text that grows beyond {@link mostFilled}. */
export function joinText(text: string, textOf: (name: string) => string): string {
  let joined = "";
  let done = 0;
  for (const match of text.matchAll(marked)) {
    const [all, name] = match;
    joined = bounded(joined + text.slice(done, match.index) + (name === undefined ? all : textOf(name)));
    done = match.index + all.length;
  }
  return joined + text.slice(done);
}

/** Characters and values of one action: many placeholders that name one large result would fill all memory. */
const mostFilled = 1_000_000;
const tooLarge = () => new NoValue(`the action has more than ${mostFilled} characters and values`);

/** Throws {@link NoValue} for a text beyond {@link mostFilled}. */
export function bounded(text: string): string {
  if (text.length > mostFilled) throw tooLarge();
  return text;
}

/** Throws {@link NoValue} for an action with more than {@link mostFilled} characters and values. */
export function refuseLarge(action: unknown): void {
  let left = mostFilled;
  const count = (value: unknown): void => {
    left -= typeof value === "string" ? value.length : 1;
    if (left < 0) throw tooLarge();
    if (typeof value === "object" && value !== null) for (const item of Object.values(value)) count(item);
  };
  count(action);
}

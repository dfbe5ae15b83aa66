import { nearest } from "@labwright/controllers";
import type { Params } from "../domain/index.ts";
import { ToolError } from "../errors.ts";

const anyPlaceholder = /\{\{([^{}]*)\}\}/g;
const wholePlaceholder = /^\{\{([^{}]*)\}\}$/;
const pathGrammar = /^[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*$/;
const secretName = /^secret\s*\./;
const secretPlaceholder = /\{\{\s*secret\s*\.[^{}]*\}\}/g;

/** Filled in by whoever runs the step, after it is recorded: never here. */
const isSecret = (name: string) => secretName.test(name);

/** Names of `{{name}}` in every string below `value`, in order, each once; `{{secret.NAME}}` is not one of them. */
export function placeholdersIn(value: unknown): string[] {
  const found = new Set<string>();
  for (const text of stringsIn(value)) {
    for (const [, name = ""] of text.matchAll(anyPlaceholder)) {
      const trimmed = name.trim();
      if (!isSecret(trimmed)) found.add(trimmed);
    }
  }
  return [...found];
}

/** Whether a string below `value` names a secret. */
export function holdsSecret(value: unknown): boolean {
  return stringsIn(value).some((text) => text.search(secretPlaceholder) >= 0);
}

/** The first name of a placeholder's path, or undefined when the text between the braces is no path at all. */
export function rootOf(placeholder: string): string | undefined {
  return pathGrammar.test(placeholder) ? placeholder.split(/[.[]/, 1)[0] : undefined;
}

/**
 * Fills `{{name}}` and `{{name.path[0]}}` below `value` from `scope`. A string that is one placeholder takes the value
 * with its type; inside a longer string numbers and booleans are written out and objects become JSON. Filled values
 * are not filled again. `{{secret.NAME}}` stays. Throws UNKNOWN_VARIABLE naming all that are unknown, and
 * INVALID_INPUT when a block's output, which is data from outside, would name a secret.
 */
export function resolveValues(value: Params, scope: Params): Params {
  const unknown = new Set<string>();
  const resolved = mapObject(value, (item) => resolveOne(item, scope, unknown));
  refuseUnknown(unknown, scope);
  return resolved;
}

/** {@link resolveValues} for one value of any kind. */
export function resolveValue(value: unknown, scope: Params): unknown {
  const unknown = new Set<string>();
  const resolved = resolveOne(value, scope, unknown);
  refuseUnknown(unknown, scope);
  return resolved;
}

/** {@link resolveValues} for one string that stays a string. */
export function resolveText(value: string, scope: Params): string {
  return asText(resolveValue(value, scope));
}

function resolveOne(value: unknown, scope: Params, unknown: Set<string>): unknown {
  if (typeof value === "string") return resolveString(value, scope, unknown);
  if (Array.isArray(value)) return value.map((item) => resolveOne(item, scope, unknown));
  if (isObject(value)) return mapObject(value, (item) => resolveOne(item, scope, unknown));
  return value;
}

function resolveString(template: string, scope: Params, unknown: Set<string>): unknown {
  const find = (name: string) => {
    const found = lookUp(name, scope);
    if (found === undefined) unknown.add(name);
    return found;
  };
  const whole = wholePlaceholder.exec(template)?.[1]?.trim();
  if (whole !== undefined && !isSecret(whole)) {
    const found = find(whole);
    if (isOutput(whole) && holdsSecret(found)) throw namesSecret(template);
    return found;
  }
  // Two outputs side by side could spell a placeholder that neither holds, so the joined text is what is judged.
  let trusted = template;
  const filled = template.replace(anyPlaceholder, (text, name: string) => {
    const trimmed = name.trim();
    if (isSecret(trimmed)) return text;
    const inserted = asText(find(trimmed));
    trusted += isOutput(trimmed) ? "" : `\n${inserted}`;
    return inserted;
  });
  const allowed = new Set(trusted.match(secretPlaceholder) ?? []);
  if ((filled.match(secretPlaceholder) ?? []).some((found) => !allowed.has(found)))
    throw namesSecret(template);
  return filled;
}

const isOutput = (name: string) => /^[\w-]+\.output\b/.test(name);

function lookUp(name: string, scope: Params): unknown {
  if (!pathGrammar.test(name)) return undefined;
  let current: unknown = scope;
  for (const key of name.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

function refuseUnknown(unknown: ReadonlySet<string>, scope: Params): void {
  if (unknown.size === 0) return;
  throw unknownVariables([...unknown], Object.keys(scope));
}

/** UNKNOWN_VARIABLE for `names`, with the nearest of the `known`. */
export function unknownVariables(names: readonly string[], known: readonly string[]): ToolError {
  const near = [...new Set(names.flatMap((name) => nearest(rootOf(name) ?? name, known, 2)))];
  return new ToolError(
    "UNKNOWN_VARIABLE",
    `Nothing is known as ${names.map((name) => `{{${name}}}`).join(", ")}.`,
    near.length > 0
      ? `Did you mean ${near.map((name) => `{{${name}}}`).join(", ")}? Names are inputs, variables and block_id.output.`
      : "Names are inputs, variables and block_id.output of a block that has run.",
    { unknown: names, nearest: near },
  );
}

function namesSecret(template: string): ToolError {
  return new ToolError(
    "INVALID_INPUT",
    `What "${template}" gives names a secret, and only the author of a test may do that.`,
    "Look at the block whose output is used here: the data it read holds a secret's placeholder.",
  );
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isObject(value) ? Object.values(value).flatMap(stringsIn) : [];
}

const isObject = (value: unknown): value is Params => typeof value === "object" && value !== null;

function mapObject(value: Params, map: (item: unknown) => unknown): Params {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item)]));
}

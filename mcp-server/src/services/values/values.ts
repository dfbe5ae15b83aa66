import type { Params } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { Budget } from "./budget.ts";
import { brokenAt } from "./dataFindings.ts";
import { ExactNumber, isBeyondDouble, isNumberText, jsonText, readNumber } from "./exactNumbers.ts";
import { type Expression, loadExpressions, loadedExpression } from "./expressions.ts";
import {
  anyPlaceholder,
  holdsSecret,
  isPath,
  isSecret,
  placeholdersIn,
  secretPlaceholder,
  stringsIn,
  unknownVariables,
  wholePlaceholder,
} from "./placeholders.ts";

/** A filled text is no longer than this: one that holds itself twice would else double with each round of a loop. */
const longestText = 1_000_000;

/** Filled in, altogether: one answer of an API has no more. */
const mostFilled = { characters: 10_000_000, values: 2_000_000 };

/** The placeholders that name nothing, and how much was filled in. */
type Filling = { unknown: Set<string>; budget: Budget };

const newFilling = (): Filling => ({ unknown: new Set(), budget: new Budget(mostFilled, tooMuchFilled) });

/** A placeholder's value. `trusted` are texts that the author wrote: a secret that one of them names may be named. */
type Found = { value: unknown; trusted: () => readonly string[] };

/** Loads what the expressions below `value` need; most values need nothing. To be awaited before they are resolved. */
export async function readyToResolve(value: unknown): Promise<void> {
  if (placeholdersIn(value).some((placeholder) => !isPath(placeholder) || placeholder.includes("-")))
    await loadExpressions();
}

/**
 * Fills `{{name}}`, `{{name.path[0]}}` and `{{expression}}` below `value` from `scope`. A string that is one placeholder
 * takes the value with its type; inside a longer string numbers and booleans are written out and objects become JSON.
 * Filled values are not filled again. `{{secret.NAME}}` stays; `\{{name}}` becomes `{{name}}`. Throws UNKNOWN_VARIABLE naming all that are unknown,
 * VERIFICATION_FAILED for a field that an answer or a reading lacks, and INVALID_INPUT for an expression that fails, or when
 * a block's output, which is data from outside, would name a secret.
 */
export function resolveValues(value: Params, scope: Params): Params {
  const filling = newFilling();
  const resolved = mapObject(value, (item) => resolveOne(item, scope, filling));
  refuseUnknown(filling.unknown, scope);
  return resolved;
}

/** {@link resolveValues} for one value of any kind. */
export function resolveValue(value: unknown, scope: Params): unknown {
  const filling = newFilling();
  const resolved = resolveOne(value, scope, filling);
  refuseUnknown(filling.unknown, scope);
  return resolved;
}

/** What an author wrote, with each text that is `{{digits}}` of a number beyond a JavaScript number as that number. */
export function withExactNumbers<T>(value: T): T;
export function withExactNumbers(value: unknown): unknown {
  if (typeof value === "string") {
    const written = wholePlaceholder.exec(value)?.[1]?.trim() ?? "";
    return isBeyondDouble(written) ? readNumber(written) : value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => withExactNumbers(item));
  return isObject(value) ? mapObject(value, withExactNumbers) : value;
}

/** {@link resolveValues} for one string that stays a string. */
export function resolveText(value: string, scope: Params): string {
  return asText(resolveValue(value, scope));
}

function resolveOne(value: unknown, scope: Params, filling: Filling): unknown {
  if (typeof value === "string") return resolveString(value, scope, filling);
  if (Array.isArray(value)) return value.map((item) => resolveOne(item, scope, filling));
  if (isObject(value)) return mapObject(value, (item) => resolveOne(item, scope, filling));
  return value;
}

function resolveString(template: string, scope: Params, { unknown, budget }: Filling): unknown {
  const whole = wholePlaceholder.exec(template)?.[1]?.trim();
  if (whole !== undefined && !isSecret(whole)) {
    const { value, trusted } = find(whole, scope, unknown);
    budget.spendAll(value);
    if (holdsSecret(value)) refuseSecrets(template, stringsIn(value), trusted);
    return value;
  }
  // Two outputs side by side could spell a placeholder that neither holds, so the joined text is what is judged.
  const allowed: (() => readonly string[])[] = [() => [template]];
  const filled = template.replace(anyPlaceholder, (text, backslash: string, name: string) => {
    const trimmed = name.trim();
    if (backslash !== "" && isSecret(trimmed)) throw secretAsText(text);
    if (backslash !== "") return text.slice(1);
    if (isSecret(trimmed)) return text;
    const { value, trusted } = find(trimmed, scope, unknown);
    allowed.push(trusted);
    return asText(value);
  });
  if (filled.length > longestText) throw tooLong(template);
  budget.spend(filled);
  refuseSecrets(template, [filled], () => allowed.flatMap((texts) => texts()));
  return filled;
}

/** What a placeholder stands for: something known by this name and path, else what the expression gives. */
function find(placeholder: string, scope: Params, unknown: Set<string>): Found {
  if (isNumberText(placeholder)) return { value: readNumber(placeholder), trusted: () => [] };
  const value = lookUp(placeholder, scope);
  if (value !== undefined) {
    const isOutput = /^[\w-]+\.output\b/.test(placeholder);
    return { value, trusted: () => (isOutput ? [] : [asText(value), ...stringsIn(value)]) };
  }
  // A path may hold hyphens, as a header's name does; what is not there under that name may be a subtraction.
  if (isPath(placeholder) && !isSubtraction(placeholder, scope)) {
    unknown.add(placeholder);
    return { value: undefined, trusted: () => [] };
  }
  const expression = loadedExpression(placeholder);
  return { value: expression.evaluate(scope), trusted: () => authorsTexts(expression, scope) };
}

const isSubtraction = (placeholder: string, scope: Params): boolean =>
  placeholder.includes("-") &&
  loadedExpression(placeholder).names.every((name) => Object.hasOwn(scope, name));

/** Texts in what an expression reads, but for the outputs of blocks. */
function authorsTexts({ names }: Expression, scope: Params): string[] {
  const own = names.filter((name) => !isBlock(scope[name]));
  return own.flatMap((name) => stringsIn(scope[name]));
}

const isBlock = (value: unknown): boolean => isObject(value) && Object.hasOwn(value, "output");

function lookUp(name: string, scope: Params): unknown {
  if (!isPath(name)) return undefined;
  let current: unknown = scope;
  for (const key of keysOf(name)) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

const keysOf = (path: string) => path.split(/[.[\]]+/).filter((part) => part !== "");

function refuseUnknown(unknown: ReadonlySet<string>, scope: Params): void {
  const names = [...unknown];
  if (names.length === 0) return;
  const missing = names.flatMap((name) => missingData(name, scope) ?? []);
  if (missing.length < names.length) throw unknownVariables(names, Object.keys(scope));
  throw new ToolError(
    "VERIFICATION_FAILED",
    `${missing.join("; ")}.`,
    "Where the field may be missing, ask has(a.b) in a condition first.",
    { findings: missing },
  );
}

/** What an answer or a reading lacks, which is the app's doing; undefined for anything else. */
function missingData(name: string, scope: Params): string | undefined {
  const place = /^[\w-]+\.output\.(?:body|headers|data)(?=[.[])/.exec(name)?.[0];
  if (place === undefined || lookUp(place, scope) === undefined) return undefined;
  return brokenAt({ text: name, keys: keysOf(name) }, scope);
}

/** Every secret that `texts` name must stand, as it is, in one of the texts that the author wrote. */
function refuseSecrets(template: string, texts: readonly string[], trusted: Found["trusted"]): void {
  const named = texts.flatMap((text) => text.match(secretPlaceholder) ?? []);
  if (named.length === 0) return;
  const allowed = new Set(trusted().flatMap((text) => text.match(secretPlaceholder) ?? []));
  if (named.every((secret) => allowed.has(secret))) return;
  throw new ToolError(
    "INVALID_INPUT",
    `What "${template}" gives names a secret, and only the author of a test may do that.`,
    "Look at the block whose output is used here: the data it read holds a secret's placeholder.",
  );
}

/** It would be filled in where the step runs. */
const secretAsText = (text: string) =>
  new ToolError(
    "INVALID_INPUT",
    `${text} cannot be written as text.`,
    "The name of a secret cannot be typed or checked.",
  );

function tooLong(template: string): ToolError {
  return new ToolError(
    "INVALID_INPUT",
    `What "${template.slice(0, 100)}" gives is longer than ${longestText} characters.`,
    "Take a part of the data, or keep it as a list instead of one text.",
  );
}

const tooMuchFilled = (limit: string) =>
  new ToolError(
    "INVALID_INPUT",
    `The placeholders of this step give more than ${limit} together.`,
    "Fill in a part of the data, or the same data fewer times.",
  );

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? (jsonText(value) ?? "") : String(value);
}

const isObject = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !(value instanceof ExactNumber);

function mapObject(value: Params, map: (item: unknown) => unknown): Params {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item)]));
}

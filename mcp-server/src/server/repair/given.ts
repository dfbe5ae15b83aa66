/** What a caller sent to a tool of another server: data of unknown shape. */
export type Given = Readonly<Record<string, unknown>>;

/** The first of these arguments that is text; a number counts as its text. */
export function textOf(given: Given, ...names: readonly string[]): string | undefined {
  const values = names.map((name) => given[name]);
  const found = values.find(
    (value) => (typeof value === "string" && value !== "") || typeof value === "number",
  );
  return found === undefined ? undefined : String(found);
}

export function numberOf(given: Given, name: string): number | undefined {
  const value = textOf(given, name);
  const number = value === undefined ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

export const isTrue = (given: Given, ...names: readonly string[]): boolean =>
  names.some((name) => given[name] === true || given[name] === "true");

export const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

export const objectsOf = (value: unknown): Given[] =>
  listOf(value).flatMap((item) =>
    typeof item === "object" && item !== null ? [Object.fromEntries(Object.entries(item))] : [],
  );

const isRef = (text: string) => /^([a-z]\d+)?e\d+$/.test(text);

/** Refs are ours: a caller has them from our own looks, under whatever name the other server gives them. */
const refNames = ["ref", "target", "uid", "elementUUID", "elementId", "element_id"];
const wordNames = ["selector", "element", "label"];

/** How we name the element that is meant: by its ref, else by its selector or visible name. */
export function elementIn(
  given: Given,
  ...moreNames: readonly string[]
): { ref: string } | { selector: string } | object {
  const named = textOf(given, ...refNames);
  if (named !== undefined) return isRef(named) ? { ref: named } : { selector: named };
  const selector = textOf(given, ...wordNames, ...moreNames);
  return selector === undefined ? {} : { selector };
}

export const hasElement = (given: Given): boolean => Object.keys(elementIn(given)).length > 0;

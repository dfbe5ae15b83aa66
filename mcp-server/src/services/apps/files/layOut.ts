import { isCollection, isPair, isScalar } from "yaml";
import { type Fields, isFields } from "../steps/index.ts";

/** Collections up to this length go on one line. */
const longestLine = 90;
/** Under these keys each entry has its own line. */
const listed = new Set(["nodes", "edges", "steps", "blocks", "references"]);

/** Puts what is short into one line, and nodes, edges, tests and steps below each other. */
export function layOut(document: unknown): void {
  for (const [key, value] of entriesOf(document)) {
    if (key === "tests") for (const [, test] of entriesOf(value)) layOut(test);
    else if (listed.has(key)) for (const [, entry] of entriesOf(value)) compact(entry);
    else compact(value);
  }
}

/** The values of a map with their keys, or the items of a list. */
function entriesOf(node: unknown): [key: string, value: unknown][] {
  if (!isCollection(node)) return [];
  return node.items.map((item) =>
    isPair(item) ? [isScalar(item.key) ? String(item.key.value) : "", item.value] : ["", item],
  );
}

/** In one line if it fits, else its parts in one line each if they fit. */
export function compact(node: unknown): void {
  if (!isCollection(node) || node.items.length === 0) return;
  if (lengthOf(node) <= longestLine) node.flow = true;
  else for (const [, value] of entriesOf(node)) compact(value);
}

/** About as many characters as it has in one line. */
function lengthOf(node: unknown): number {
  if (isCollection(node))
    return entriesOf(node).reduce((sum, [key, value]) => sum + key.length + lengthOf(value) + 4, 0);
  return isScalar(node) ? String(node.value).length : 4;
}

const firstKeys = ["name", "label", "id", "type", "command", "from", "to", "on"];
const rankOf = (key: string) => (firstKeys.includes(key) ? firstKeys.indexOf(key) : firstKeys.length);
export const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Sorts all keys in a value, since a database does not keep their order. */
export function sortedData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedData);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => rankOf(a) - rankOf(b) || order(a, b));
  return Object.fromEntries(sorted.map(([key, item]) => [key, sortedData(item)]));
}

const stepLists = new Set(["steps", "retry_actions", "failure_actions"]);

/** A step or a list of steps: the verb first, then its options. */
export function sortedStep(step: unknown): unknown {
  if (Array.isArray(step)) return step.map(sortedStep);
  if (!isFields(step)) return step;
  const own = (key: string, value: unknown) =>
    stepLists.has(key) || key === "not" ? sortedStep(value) : sortedData(value);
  return Object.fromEntries(Object.entries(step).map(([key, value]) => [key, own(key, value)]));
}

/** A test, its keys in the order in which it was written. */
export function sortedTest(test: Fields): Fields {
  const own = (key: string, value: unknown) => (key === "steps" ? sortedStep(value) : sortedData(value));
  return Object.fromEntries(Object.entries(test).map(([key, value]) => [key, own(key, value)]));
}

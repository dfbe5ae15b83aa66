import { type Fields, isFields } from "../steps/index.ts";

const firstKeys = ["name", "label", "id", "type", "command", "from", "to", "on"];
const rankOf = (key: string) => (firstKeys.includes(key) ? firstKeys.indexOf(key) : firstKeys.length);
const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A value with the keys of all that is in it in a fixed order, since a database keeps none. */
export function sortedData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedData);
  if (!isFields(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.sort(([a], [b]) => rankOf(a) - rankOf(b) || order(a, b));
  return Object.fromEntries(sorted.map(([key, item]) => [key, sortedData(item)]));
}

const stepLists = new Set(["steps", "retry_actions", "failure_actions"]);

/** A step or a list of steps: the verb first, then what stands beside it. */
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

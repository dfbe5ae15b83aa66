import { isCollection, isPair, isScalar } from "yaml";

/** Collections that are no longer than this stand in one line. */
const longestLine = 90;
/** Below these keys each entry has a line of its own. */
const listed = new Set(["nodes", "edges", "steps", "blocks", "references"]);

/** Puts what is short into one line, and lists of nodes, edges, tests and steps below each other. */
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

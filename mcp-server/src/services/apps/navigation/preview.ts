import type { Node } from "../../../domain/index.ts";
import { type AppModel, depthOf, findEntry } from "../userinterfaces/model.ts";

/**
 * An app as lines: each node with where its edges lead, from the entry on, nodes of subtrees indented. A node marked `?`
 * has no checks, so nothing can tell that the device is there.
 */
export function previewLines(model: AppModel): string[] {
  const ways = waysOut(model);
  return inOrder(model, ways).map((node) => {
    const targets = [...(ways.get(node.id) ?? [])].map((id) => model.nodes.get(id)?.label ?? id);
    const type = node.type === "screen" ? "" : ` (${node.type})`;
    const unproved = node.type === "screen" && node.verifications.length === 0 ? "?" : "";
    const arrow = targets.length > 0 ? ` → ${targets.join(", ")}` : "";
    return `${"  ".repeat(depthOf(model, node.tree_id))}${node.label}${unproved}${type}${arrow}`;
  });
}

function waysOut(model: AppModel): Map<string, Set<string>> {
  const ways = new Map<string, Set<string>>();
  const add = (from: string, to: string) => ways.set(from, (ways.get(from) ?? new Set()).add(to));
  for (const { source, target, action_sets } of model.edges.values()) {
    for (const { direction } of action_sets) {
      if (direction === "forward") add(source, target);
      else add(target, source);
    }
  }
  return ways;
}

/** Breadth first from the entry, then from every node that was not met. */
function inOrder(model: AppModel, ways: ReadonlyMap<string, ReadonlySet<string>>): Node[] {
  const entry = findEntry(model);
  const seen = new Set<string>();
  for (const start of [...(entry ? [entry.id] : []), ...model.nodes.keys()]) {
    if (!seen.has(start)) for (const id of reachedFrom(start, ways)) seen.add(id);
  }
  return [...seen].flatMap((id) => model.nodes.get(id) ?? []);
}

function reachedFrom(start: string, ways: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set([start]);
  for (const id of reached) for (const next of ways.get(id) ?? []) reached.add(next);
  return reached;
}

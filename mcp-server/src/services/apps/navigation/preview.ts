import type { Node } from "../../../domain/index.ts";
import { pageOf } from "../../values/pages.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { type AppModel, depthOf, findEntry, getNode, labelOf } from "../userinterfaces/model.ts";
import { nodeLine } from "../userinterfaces/views.ts";

export const createPreview = (userinterfaces: Pick<UserInterfaceService, "load">) => ({
  async nodes(userinterface: string, { offset, max_tokens }: { offset: number; max_tokens: number }) {
    const model = await userinterfaces.load(userinterface);
    const lines = [...model.nodes.values()].map((node) => nodeLine(model, node));
    const { items, more } = pageOf(lines, offset, max_tokens);
    return { nodes: items, more };
  },
  async preview(userinterface: string, maxTokens: number) {
    const model = await userinterfaces.load(userinterface);
    const { items, more } = pageOf(previewLines(model), 0, maxTokens);
    return { map: items.join("\n"), more };
  },
});

/** Each node with where its edges lead, breadth first from the entry, subtrees indented. `?` marks a node without checks. */
function previewLines(model: AppModel): string[] {
  const ways = waysOut(model);
  const entry = findEntry(model);
  const seen = new Set<string>();
  for (const start of [...(entry ? [entry.id] : []), ...model.nodes.keys()])
    if (!seen.has(start)) for (const id of reachedFrom(start, ways)) seen.add(id);
  return [...seen].map((id) => previewLine(model, getNode(model, id), ways.get(id) ?? new Set()));
}

function reachedFrom(start: string, ways: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set([start]);
  for (const id of reached) for (const next of ways.get(id) ?? []) reached.add(next);
  return reached;
}

function previewLine(model: AppModel, node: Node, ways: ReadonlySet<string>): string {
  const targets = [...ways].map((id) => labelOf(model, id));
  const type = node.type === "screen" ? "" : ` (${node.type})`;
  const unproved = node.type === "screen" && node.verifications.length === 0 ? "?" : "";
  const arrow = targets.length > 0 ? ` → ${targets.join(", ")}` : "";
  return `${"  ".repeat(depthOf(model, node.tree_id))}${node.label}${unproved}${type}${arrow}`;
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

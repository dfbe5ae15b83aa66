import { randomUUID } from "node:crypto";
import {
  type ActionSet,
  type Edge,
  type EdgeDraft,
  type EdgeInput,
  edgeSchema,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Change } from "./changes.ts";
import { confirmation, refuse } from "./editNodes.ts";
import { type AppModel, depthOf, edgeLabel, getEdge, getNode } from "./model.ts";
import type { Edit } from "./models.ts";
import { edgeProblems, sharingEdges } from "./problems.ts";

export type EdgePatch = {
  [Key in Exclude<keyof EdgeDraft, "source" | "target">]?: EdgeDraft[Key] | undefined;
};

/** Names the action sets that have no id `forward`, `forward_2`, `reverse` and so on. */
export function namedSets(drafts: EdgeDraft["action_sets"]): ActionSet[] {
  const taken = new Set(drafts.flatMap(({ id }) => id ?? []));
  return drafts.map((draft) => {
    if (draft.id !== undefined) return { ...draft, id: draft.id };
    let id: string = draft.direction;
    for (let n = 2; taken.has(id); n++) id = `${draft.direction}_${n}`;
    taken.add(id);
    return { ...draft, id };
  });
}

/** What a caller gets of an edge that it made or changed: its id, and its ends by label. */
export type EdgeName = { id: string; edge: string };
const nameOf = (model: AppModel, edge: Edge): EdgeName => ({ id: edge.id, edge: edgeLabel(model, edge) });

export function planNewEdge(model: AppModel, draft: EdgeDraft): Edit<EdgeName> {
  const ends = endsOf(model, draft);
  const input: EdgeInput = { ...draft, ...ends, action_sets: namedSets(draft.action_sets) };
  const edge = withSharedActions(model, { id: randomUUID(), tree_id: treeOf(model, ends), ...input });
  refuse(edgeProblems(model, edge), `The edge ${edgeLabel(model, edge)} cannot be added`);
  return { changes: [{ kind: "addEdge", edge }], result: nameOf(model, edge) };
}

/** A change to an action set that conditional edges share changes it in all of them. */
export function planEdgeChange(model: AppModel, idOrLabel: string, patch: EdgePatch): Edit<EdgeName> {
  const known = getEdge(model, idOrLabel);
  const { action_sets: drafts, ...given } = patch;
  const plain = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const { id, tree_id, ...input } = known;
  const action_sets = drafts === undefined ? known.action_sets : namedSets(drafts);
  const edge: Edge = { id, tree_id, ...edgeSchema.parse({ ...input, ...plain, action_sets }) };
  const sharing = known.conditional ? sharingEdges(model, edge).map((other) => sharedFrom(edge, other)) : [];
  const after: AppModel = {
    ...model,
    edges: new Map([...model.edges, ...sharing.map((other) => [other.id, other] as const)]),
  };
  refuse(edgeProblems(after, edge), `The edge ${edgeLabel(model, known)} cannot be changed`);
  const changes = [edge, ...sharing].map((changed): Change => ({ kind: "changeEdge", edge: changed }));
  return { changes, result: nameOf(model, edge) };
}

export function planEdgeRemoval(
  model: AppModel,
  idOrLabel: string,
  confirm: boolean,
): Edit<{ edges: number }> {
  const edge = getEdge(model, idOrLabel);
  const label = edgeLabel(model, edge);
  if (!confirm) throw confirmation(`edge ${label}`, { nodes: 0, edges: 1, trees: 0 }, { edges: [label] });
  return { changes: [{ kind: "remove", trees: [], nodes: [], edges: [edge.id] }], result: { edges: 1 } };
}

/** Both ends by id or label; every end that is not one node is named at once. */
function endsOf(model: AppModel, draft: EdgeDraft): { source: string; target: string } {
  const ends = { source: draft.source, target: draft.target };
  const failures: ToolError[] = [];
  for (const end of ["source", "target"] as const) {
    try {
      ends[end] = getNode(model, draft[end]).id;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      failures.push(error);
    }
  }
  const [first, second] = failures;
  if (first && second) {
    const details = { ...first.details, target: second.details };
    throw new ToolError(
      first.code,
      `${first.message} ${second.message}`,
      `${first.hint} ${second.hint}`,
      details,
    );
  }
  if (first) throw first;
  return ends;
}

/** An edge between a node and its subtree belongs to the subtree, so that it goes and is exported with it. */
function treeOf(model: AppModel, ends: { source: string; target: string }): string {
  const [source = "", target = ""] = [ends.source, ends.target].map((id) => model.nodes.get(id)?.tree_id);
  return depthOf(model, target) > depthOf(model, source) ? target : source;
}

/** A conditional edge may name a shared action set without repeating its actions. */
export function withSharedActions(model: AppModel, edge: Edge): Edge {
  const shared = sharingEdges(model, edge).flatMap(({ action_sets }) => action_sets);
  const action_sets = edge.action_sets.map((set) => {
    const known = set.actions.length === 0 ? shared.find(({ id }) => id === set.id) : undefined;
    return known ?? set;
  });
  return { ...edge, action_sets };
}

function sharedFrom(edge: Edge, other: Edge): Edge {
  const action_sets = other.action_sets.map((set) => edge.action_sets.find(({ id }) => id === set.id) ?? set);
  return { ...other, action_sets };
}

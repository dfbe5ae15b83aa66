import type { Node } from "../../../domain/index.ts";
import type { Database } from "../../../storage/database.ts";
import { type NavigationRun, navigationRows, type RunSummary } from "../../../storage/navigationRows.ts";
import type { Clock } from "../../ports.ts";
import type { Change } from "../userinterfaces/changes.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { buildGraph, type NavigationGraph } from "./graph.ts";

/** A map is made anew after this long, so that runs on other hosts count too. */
const keptMs = 5 * 60_000;

const keyOf = (subject: string, id: string, actionSetId: string | undefined) =>
  `${subject} ${id} ${actionSetId ?? ""}`;

/** The graph of one app on one model of device, weighed by what ran there. */
export type AppMap = {
  graph: NavigationGraph;
  /** Nodes that were visited, most visited first. */
  visited(): string[];
  /** Stores a run and weighs what it is about again. */
  record(run: NavigationRun): Promise<void>;
};

type Kept = { map: AppMap; apply(change: Change): void; model: AppModel; madeAt: number };

/** Keeps maps, and has every edit of an app made in them as well. */
export class Maps {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  async get(model: AppModel, deviceModel: string): Promise<AppMap> {
    const key = `${model.ui.id} ${deviceModel}`;
    const known = this.kept.get(key);
    if (known && known.model === model && this.clock.monotonic() - known.madeAt < keptMs) return known.map;
    const summaries = await navigationRows(this.db).summaries(model.ui.id, deviceModel);
    const made = makeMap(this.db, model, deviceModel, summaries);
    this.kept.set(key, { ...made, model, madeAt: this.clock.monotonic() });
    return made.map;
  }

  changed(userinterfaceId: string, changes: readonly Change[] | undefined): void {
    for (const [key, kept] of this.kept) {
      if (kept.model.ui.id !== userinterfaceId) continue;
      if (changes === undefined) this.kept.delete(key);
      else for (const change of changes) kept.apply(change);
    }
  }
}

function makeMap(db: Database, model: AppModel, deviceModel: string, summaries: readonly RunSummary[]) {
  const stats = new Map(summaries.map((one) => [keyOf(one.subject, one.subject_id, one.action_set_id), one]));
  const graph = buildGraph(
    { trees: model.trees.values(), nodes: model.nodes.values(), edges: model.edges.values() },
    {
      edge: (edgeId, actionSetId) => stats.get(keyOf("edge", edgeId, actionSetId)),
      node: (nodeId) => stats.get(keyOf("node", nodeId, undefined)),
    },
  );
  const map: AppMap = {
    graph,
    visited: () =>
      [...stats.values()]
        .filter(({ subject, successes }) => subject === "node" && successes > 0)
        .sort((a, b) => b.successes - a.successes)
        .map(({ subject_id }) => subject_id),
    async record(run) {
      const rows = navigationRows(db);
      await rows.insert(run);
      const fresh = await rows.summaryOf(run.subject, run.subject_id, deviceModel);
      for (const one of fresh) stats.set(keyOf(one.subject, one.subject_id, one.action_set_id), one);
      if (run.subject === "edge") graph.reweigh(run.subject_id);
      else graph.reweighInto(run.subject_id);
    },
  };
  return { map, apply: (change: Change) => applyToGraph(graph, change) };
}

function applyToGraph(graph: NavigationGraph, change: Change): void {
  switch (change.kind) {
    case "addTree":
      graph.addTree(change.tree);
      return;
    case "addNode":
    case "changeNode":
      graph.putNode(change.node);
      return;
    case "addEdge":
    case "changeEdge":
      graph.putEdge(change.edge);
      return;
    case "remove":
      for (const id of change.edges) graph.removeEdge(id);
      for (const id of change.nodes) graph.removeNode(id);
      for (const id of change.trees) graph.removeTree(id);
  }
}

/** True if a look can tell that the device is there: at least one check says what must be seen. */
export const isRecognisable = (node: Node) => node.verifications.some(({ negate }) => negate !== true);

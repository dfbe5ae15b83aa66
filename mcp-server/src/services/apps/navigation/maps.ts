import type { Node } from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { type NavigationRun, navigationRows, type RunSummary } from "../../../storage/rows/navigationRows.ts";
import type { Clock } from "../../ports.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import { buildGraph, type NavigationGraph } from "./graph.ts";

/** A map is made anew after this long, so that runs on other hosts count too. */
const keptMs = 5 * 60_000;

const keyOf = (subject: string, id: string, actionSetId: string | undefined) =>
  `${subject} ${id} ${actionSetId ?? ""}`;

/** The graph of one app on one model of device, weighed by what ran there. */
export type AppMap = {
  /** As its trees and runs are now; the same object until one of them changes. */
  graph(): NavigationGraph;
  /** Nodes that were visited, most visited first. */
  visited(): string[];
  /** Stores a run, which changes the weights. */
  record(run: NavigationRun): Promise<void>;
};

type Kept = { map: AppMap; forgetGraph(): void; model: AppModel; madeAt: number };

/** Keeps maps. */
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

  /** The app's trees were edited. */
  changed(userinterfaceId: string): void {
    for (const { model, forgetGraph } of this.kept.values())
      if (model.ui.id === userinterfaceId) forgetGraph();
  }
}

function makeMap(db: Database, model: AppModel, deviceModel: string, summaries: readonly RunSummary[]) {
  const stats = new Map(summaries.map((one) => [keyOf(one.subject, one.subject_id, one.action_set_id), one]));
  const source = {
    edge: (edgeId: string, actionSetId: string) => stats.get(keyOf("edge", edgeId, actionSetId)),
    node: (nodeId: string) => stats.get(keyOf("node", nodeId, undefined)),
  };
  let built: NavigationGraph | undefined;
  const forgetGraph = () => {
    built = undefined;
  };
  const map: AppMap = {
    graph() {
      const { trees, nodes, edges } = model;
      built ??= buildGraph({ trees: trees.values(), nodes: nodes.values(), edges: edges.values() }, source);
      return built;
    },
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
      forgetGraph();
    },
  };
  return { map, forgetGraph };
}

/** True if a look can tell that the device is there: at least one check says what must be seen. */
export const isRecognisable = (node: Node) => node.verifications.some(({ negate }) => negate !== true);

import type { Node } from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import { type NavigationRun, navigationRows, type RunSummary } from "../../../storage/rows/navigationRows.ts";
import type { Clock } from "../../ports.ts";
import type { AppModel } from "../userinterfaces/model.ts";
import type { StatsSource } from "./graph.ts";

/** A history is read again after this long, so that runs on other hosts count too. */
const keptMs = 5 * 60_000;

const keyOf = (subject: string, id: string, actionSetId = "") => `${subject} ${id} ${actionSetId}`;

/** How well the edges and nodes of one app worked on one model of device. */
export class History implements StatsSource {
  private readonly stats = new Map<string, RunSummary>();

  constructor(
    private readonly db: Database,
    private readonly deviceModel: string,
    summaries: readonly RunSummary[],
  ) {
    this.put(summaries);
  }

  edge(edgeId: string, actionSetId: string) {
    return this.stats.get(keyOf("edge", edgeId, actionSetId));
  }

  node(nodeId: string) {
    return this.stats.get(keyOf("node", nodeId));
  }

  /** The nodes that have checks, in the order in which to try them: `first`, those most visited, the rest. */
  placesToTry(model: AppModel, first: readonly Node[], limit: number): Node[] {
    const visited = [...this.stats.values()]
      .filter(({ subject, successes }) => subject === "node" && successes > 0)
      .sort((a, b) => b.successes - a.successes)
      .flatMap(({ subject_id }) => model.nodes.get(subject_id) ?? []);
    return [...new Set([...first, ...visited, ...model.nodes.values()])]
      .filter(({ verifications }) => verifications.some(({ negate }) => negate !== true))
      .slice(0, limit);
  }

  async record(run: NavigationRun): Promise<void> {
    const rows = navigationRows(this.db);
    await rows.insert(run);
    this.put(await rows.summaryOf(run.subject, run.subject_id, this.deviceModel));
  }

  private put(summaries: readonly RunSummary[]): void {
    for (const one of summaries) this.stats.set(keyOf(one.subject, one.subject_id, one.action_set_id), one);
  }
}

/** Keeps histories as long as the app's model, which an edit replaces. */
export class Histories {
  private readonly kept = new WeakMap<AppModel, Map<string, { history: History; readAt: number }>>();

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  async get(model: AppModel, deviceModel: string): Promise<History> {
    const ofModel = this.kept.get(model) ?? new Map();
    this.kept.set(model, ofModel);
    const known = ofModel.get(deviceModel);
    if (known && this.clock.monotonic() - known.readAt < keptMs) return known.history;
    const summaries = await navigationRows(this.db).summaries(model.ui.id, deviceModel);
    const history = new History(this.db, deviceModel, summaries);
    ofModel.set(deviceModel, { history, readAt: this.clock.monotonic() });
    return history;
  }
}

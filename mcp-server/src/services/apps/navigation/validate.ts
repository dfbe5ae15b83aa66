import type { EdgeTrial, Failure, Node, ValidationReport } from "../../../domain/index.ts";
import { edgeLabel, findEntry } from "../userinterfaces/model.ts";
import { type Leg, shortestPath } from "./graph.ts";
import { type TravelEnd, travel } from "./travel.ts";
import type { Trip } from "./trip.ts";
import { walkLeg } from "./walkLeg.ts";

type EdgeLeg = Extract<Leg, { edge_id: string }>;

/**
 * Walks every action set of every edge once and tells how each went. The nearest that was not tried yet comes next, so
 * that little is walked twice. `newTrip` makes the trip of one trial within the time that is left.
 */
export async function validateEdges(first: Trip, newTrip: () => Promise<Trip>): Promise<ValidationReport> {
  const { model } = first;
  const left = new Set(allLegs(first));
  const trials: EdgeTrial[] = [];
  let at: Node | undefined;
  try {
    for (let leg = nextLeg(first, left, at); leg; leg = nextLeg(first, left, at)) {
      left.delete(leg);
      first.signal.throwIfAborted();
      const trip = await newTrip();
      const trial = await tryLeg(trip, leg).finally(() => trip.end());
      at = trial.at;
      if (!at) await trip.lose();
      trials.push(trial.trial);
    }
  } catch (error) {
    await first.lose();
    throw error;
  } finally {
    first.end();
  }
  return {
    userinterface: model.ui.name,
    trials,
    passed: trials.filter(({ ok }) => ok).length,
    failed: trials.filter(({ ok }) => !ok).length,
    unverified: trials.filter(({ ok, verified }) => ok && !verified).length,
    duration_ms: first.elapsedMs(),
  };
}

function allLegs({ model }: Trip): EdgeLeg[] {
  return [...model.edges.values()].flatMap(({ id, source, target, action_sets }) =>
    action_sets.map((set): EdgeLeg => {
      const [from, to] = set.direction === "forward" ? [source, target] : [target, source];
      return { kind: "edge", from, to, edge_id: id, action_set_id: set.id };
    }),
  );
}

function nextLeg(trip: Trip, left: ReadonlySet<EdgeLeg>, at: Node | undefined): EdgeLeg | undefined {
  const entry = findEntry(trip.model)?.id;
  let best: { leg: EdgeLeg; cost: number } | undefined;
  const costs = new Map<string, number>();
  for (const leg of left) {
    const cost = costs.get(leg.from) ?? costTo(trip, leg.from, at, entry);
    costs.set(leg.from, cost);
    if (!best || cost < best.cost) best = { leg, cost };
  }
  return best?.leg;
}

/** From the entry it is a start over, which comes only after everything that is nearer. */
function costTo(trip: Trip, from: string, at: Node | undefined, entry: string | undefined): number {
  const path = at && shortestPath(trip.map.graph(), at.id, from);
  if (path) return path.expected_ms;
  const startOver = 1e9;
  const fromEntry = entry === undefined ? undefined : shortestPath(trip.map.graph(), entry, from);
  return startOver + (fromEntry?.expected_ms ?? startOver);
}

async function tryLeg(trip: Trip, leg: EdgeLeg): Promise<{ trial: EdgeTrial; at: Node | undefined }> {
  const edge = trip.model.edges.get(leg.edge_id);
  const trial = (
    rest: Pick<EdgeTrial, "reached_source" | "ok" | "verified">,
    error?: Failure,
  ): EdgeTrial => ({
    edge_id: leg.edge_id,
    action_set_id: leg.action_set_id,
    edge: edge ? edgeLabel(trip.model, edge) : leg.edge_id,
    ...rest,
    duration_ms: trip.elapsedMs(),
    ...(error && { error }),
  });
  const source = await reachSource(trip, leg);
  if (!source.reached) {
    return {
      trial: trial({ reached_source: false, ok: false, verified: false }, source.failure),
      at: undefined,
    };
  }
  const end = await walkLeg(trip, leg);
  if (!end.ok) {
    return { trial: trial({ reached_source: true, ok: false, verified: false }, end.failure), at: undefined };
  }
  const at = end.at.type === "action" ? source.at : end.at;
  return { trial: trial({ reached_source: true, ok: true, verified: end.verified }), at };
}

/** The entry's own edges run from anywhere, so nobody has to go there first. */
async function reachSource(trip: Trip, leg: EdgeLeg): Promise<TravelEnd> {
  const source = trip.model.nodes.get(leg.from);
  if (!source) {
    const failure = { code: "NODE_NOT_FOUND", message: `${leg.from} was removed meanwhile.` };
    return { reached: false, at: undefined, failure };
  }
  const set = trip.model.edges.get(leg.edge_id)?.action_sets.find(({ id }) => id === leg.action_set_id);
  const runsAnywhere =
    source.type === "entry" && source.verifications.length === 0 && set?.actions.length !== 0;
  return runsAnywhere ? { reached: true, at: source, verified: false } : travel(trip, source);
}

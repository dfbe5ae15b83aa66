import type { EdgeTrial, Failure, Node, ValidationReport } from "../../../domain/index.ts";
import { edgeLabel, findEntry, getEdge, getNode } from "../userinterfaces/model.ts";
import { costsFrom, type EdgeLeg } from "./graph.ts";
import { type TravelEnd, travel } from "./travel.ts";
import type { Walk } from "./walk.ts";
import { walkLeg } from "./walkLeg.ts";

/** Walks every action set of every edge once, the nearest untried one next. `newWalk` makes the walk of one trial. */
export async function validateEdges(first: Walk, newWalk: () => Walk): Promise<ValidationReport> {
  const { model } = first;
  const left = new Set(allLegs(first));
  const trials: EdgeTrial[] = [];
  let at: Node | undefined;
  try {
    for (let leg = nextLeg(first, left, at); leg; leg = nextLeg(first, left, at)) {
      left.delete(leg);
      first.signal.throwIfAborted();
      const walk = newWalk();
      const trial = await tryLeg(walk, leg).finally(() => walk.end());
      at = trial.at;
      if (!at) await walk.lose();
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

function allLegs({ model }: Walk): EdgeLeg[] {
  return [...model.edges.values()].flatMap(({ id, source, target, action_sets }) =>
    action_sets.map((set): EdgeLeg => {
      const [from, to] = set.direction === "forward" ? [source, target] : [target, source];
      return { kind: "edge", from, to, edge_id: id, action_set_id: set.id };
    }),
  );
}

/** From the entry means to start over, so it comes only after everything that is nearer. */
function nextLeg({ model, graph }: Walk, left: ReadonlySet<EdgeLeg>, at: Node | undefined) {
  const startOver = 1e9;
  const entry = findEntry(model);
  const near = at && costsFrom(graph, at.id);
  const far = entry && costsFrom(graph, entry.id);
  const costOf = ({ from }: EdgeLeg) => near?.get(from) ?? startOver + (far?.get(from) ?? startOver);
  let best: { leg: EdgeLeg; cost: number } | undefined;
  for (const leg of left) if (!best || costOf(leg) < best.cost) best = { leg, cost: costOf(leg) };
  return best?.leg;
}

async function tryLeg(walk: Walk, leg: EdgeLeg): Promise<{ trial: EdgeTrial; at: Node | undefined }> {
  const trial = (
    rest: Pick<EdgeTrial, "reached_source" | "ok" | "verified">,
    at: Node | undefined,
    error?: Failure,
  ): { trial: EdgeTrial; at: Node | undefined } => ({
    trial: {
      edge_id: leg.edge_id,
      action_set_id: leg.action_set_id,
      edge: edgeLabel(walk.model, getEdge(walk.model, leg.edge_id)),
      ...rest,
      duration_ms: walk.elapsedMs(),
      ...(error && { error }),
    },
    at,
  });
  const source = await reachSource(walk, leg);
  if (!source.reached)
    return trial({ reached_source: false, ok: false, verified: false }, undefined, source.failure);
  const end = await walkLeg(walk, leg);
  if (!end.ok) return trial({ reached_source: true, ok: false, verified: false }, undefined, end.failure);
  const at = end.at.type === "action" ? source.at : end.at;
  return trial({ reached_source: true, ok: true, verified: end.verified }, at);
}

/** The entry's own edges run from anywhere, so nothing has to go there first. */
async function reachSource(walk: Walk, leg: EdgeLeg): Promise<TravelEnd> {
  const source = getNode(walk.model, leg.from);
  const set = getEdge(walk.model, leg.edge_id).action_sets.find(({ id }) => id === leg.action_set_id);
  const runsAnywhere =
    source.type === "entry" && source.verifications.length === 0 && set?.actions.length !== 0;
  return runsAnywhere ? { reached: true, at: source, verified: false } : travel(walk, source);
}

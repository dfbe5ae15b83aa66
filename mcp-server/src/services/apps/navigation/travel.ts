import type { Failure, NavigationReport, Node } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { stopsWalking, verdictOf } from "../../records/verdicts.ts";
import { getEdge, getNode, labelOf } from "../userinterfaces/model.ts";
import { sharingEdges } from "../userinterfaces/problems.ts";
import { arrive } from "./arrive.ts";
import type { Leg, Path } from "./graph.ts";
import { plan } from "./plan.ts";
import { findStart, type Standing } from "./start.ts";
import type { Trip } from "./trip.ts";
import { type LegEnd, walkLeg } from "./walkLeg.ts";

/** Planned again at most this often in one navigation. */
const maxReplans = 2;
/** Looks spent on finding out where the device is after a failure. */
const searchedNodes = 20;

export type TravelEnd =
  | { reached: true; at: Node; verified: boolean }
  | { reached: false; at: Node | undefined; failure: Failure };

/** Goes to `target` from wherever the device is. Throws only errors of the run, not for a way that fails. */
export async function travel(trip: Trip, target: Node): Promise<TravelEnd> {
  let at: Standing | undefined = await findStart(trip, target);
  if (at?.node.id === target.id) return { reached: true, at: target, verified: at.verified };
  for (;;) {
    trip.signal.throwIfAborted();
    const planned = await plan(trip, at?.node, target);
    if (!planned.ok) {
      const failure = await whyStranded(trip, target, whyNoPlan(trip, planned.failure));
      return { reached: false, at: at?.node, failure };
    }
    trip.firstPlan ??= planned.path;
    const end = await walk(trip, planned.path, planned.from, target);
    if ("arrived" in end) return { reached: true, at: end.at, verified: end.arrived };
    const failure = await whyStranded(trip, target, end.failure);
    trip.lastFailure = failure;
    // Replanning only helps if the app deviated from its tree.
    if (isFinal(failure) || trip.replans >= maxReplans) return { reached: false, at: end.at, failure };
    trip.replans += 1;
    at = end.at && { node: end.at, verified: true };
  }
}

/** If there is no way without the edges that failed, their failure is the reason. */
function whyNoPlan({ lastFailure }: Trip, failure: Failure): Failure {
  const isOfTree = failure.code === "NO_PATH" || failure.code === "NO_ENTRY_NODE";
  return (isOfTree && lastFailure) || failure;
}

/** A phone brings an app to the front as it was left. If the tree has no way on from there, the tree is at fault. */
async function whyStranded(trip: Trip, target: Node, failure: Failure): Promise<Failure> {
  const { reopenedAt } = trip;
  if (!reopenedAt || isFinal(failure) || !(await trip.seesNode(reopenedAt))) return failure;
  const { label } = reopenedAt;
  const message = `No way leads from "${label}" to "${target.label}", and the app shows "${label}" also when it is opened again. An edge makes a way (create_edge), such as one by the key BACK; close_app first starts the app anew.`;
  return { code: "NO_PATH", message };
}

const isFinal = ({ code }: Failure): boolean => stopsWalking(code);

type WalkEnd = { arrived: boolean; at: Node } | { at: Node | undefined; failure: Failure };

/** Walks a path until it ends, fails, or leads elsewhere. `arrived` says whether the target was verified. */
async function walk(trip: Trip, path: Path, from: Node, target: Node): Promise<WalkEnd> {
  let at = from;
  let verified = false;
  for (const leg of path.legs) {
    const end: LegEnd = await walkLeg(trip, leg);
    if (!end.ok) return failed(trip, leg, end);
    if (!end.intended) return elsewhere(trip, leg, end.at, target, end.verified);
    if (end.at.type !== "action") at = end.at;
    verified = end.verified;
    if (verified) trip.reopenedAt = undefined;
  }
  if (path.legs.length === 0) {
    const arrival = await arrive(trip, target, []);
    if (!arrival.ok) return { at: undefined, failure: arrival.failure };
    await trip.stand(target, arrival.verified);
    return { arrived: arrival.verified, at: target };
  }
  return { arrived: verified, at };
}

async function failed(trip: Trip, leg: Leg, end: LegEnd & { ok: false }): Promise<WalkEnd> {
  const { failure } = end;
  if (isFinal(failure)) return { at: undefined, failure };
  trip.excluded.push(leg, ...conditionalTwins(trip, leg));
  if (trip.replans >= maxReplans) return { at: undefined, failure };
  const at = await trip.locate(trip.history.placesToTry(trip.model, siblingsOf(trip, leg), searchedNodes));
  if (at) await trip.stand(at, true);
  return { at, failure };
}

/** A conditional edge decided for another place. If that is the target of the whole way, all is well. */
function elsewhere(trip: Trip, leg: Leg, at: Node, target: Node, verified: boolean): WalkEnd {
  if (at.id === target.id) return { arrived: verified, at };
  const message = `The way to "${labelOf(trip.model, leg.to)}" led to "${at.label}", which its conditional edge allows.`;
  return { at, failure: { code: "NAVIGATION_FAILED", message } };
}

/** Edges that share the failed action set would fail too. */
function conditionalTwins({ model }: Trip, leg: Leg): Leg[] {
  if (!("edge_id" in leg)) return [];
  const twins = sharingEdges(model, getEdge(model, leg.edge_id));
  return twins.map(({ id, target }) => ({ ...leg, edge_id: id, to: target }));
}

/** Where a failed step may have ended after all: its target, the other targets from its start, the start itself. */
function siblingsOf({ model }: Trip, leg: Leg): Node[] {
  const others = [...model.edges.values()].filter(({ source }) => source === leg.from);
  return [leg.to, ...others.map(({ target }) => target), leg.from].map((id) => getNode(model, id));
}

/** Runs `work` and reports how it went. A failure leaves the position unknown. Throws when the run itself ends. */
export async function reported(
  trip: Trip,
  target: Node,
  work: () => Promise<TravelEnd>,
): Promise<NavigationReport> {
  try {
    const end = await work();
    if (end.reached) {
      return trip.report(target, { reached: true, verified: end.verified, status: "passed", at: end.at });
    }
    await trip.lose();
    const { failure: error } = end;
    return trip.report(target, { reached: false, verified: false, status: verdictOf(error.code), error });
  } catch (error) {
    await trip.lose();
    if (!trip.isLate()) throw error;
    const late = trip.signal.reason;
    const message = late instanceof ToolError ? late.message : "The navigation took too long.";
    const failure = { code: "EXECUTION_TIMEOUT", message };
    return trip.report(target, { reached: false, verified: false, status: "timeout", error: failure });
  } finally {
    trip.end();
  }
}

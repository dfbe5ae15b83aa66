import type { Failure, NavigationReport, Node } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { stopsWalking, verdictOf } from "../../records/verdicts.ts";
import { getEdge, getNode, labelOf } from "../userinterfaces/model.ts";
import { sharingEdges } from "../userinterfaces/problems.ts";
import { arrive } from "./arrive.ts";
import type { Leg, Path } from "./graph.ts";
import { plan } from "./plan.ts";
import { findStart, type Standing } from "./start.ts";
import type { Walk } from "./walk.ts";
import { type LegEnd, walkLeg } from "./walkLeg.ts";

/** Planned again at most this often in one navigation. */
const maxReplans = 2;
/** Looks spent on finding out where the device is after a failure. */
const searchedNodes = 20;

export type TravelEnd =
  | { reached: true; at: Node; verified: boolean }
  | { reached: false; at: Node | undefined; failure: Failure };

/** Goes to `target` from wherever the device is. Throws only errors of the run, not for a way that fails. */
export async function travel(walk: Walk, target: Node): Promise<TravelEnd> {
  let at: Standing | undefined = await findStart(walk, target);
  if (at?.node.id === target.id) return { reached: true, at: target, verified: at.verified };
  for (;;) {
    walk.signal.throwIfAborted();
    const planned = await plan(walk, at?.node, target);
    if (!planned.ok) {
      const failure = await whyStranded(walk, target, whyNoPlan(walk, planned.failure));
      return { reached: false, at: at?.node, failure };
    }
    walk.firstPlan ??= planned.path;
    const end = await walkPath(walk, planned.path, planned.from, target);
    if ("arrived" in end) return { reached: true, at: end.at, verified: end.arrived };
    const failure = await whyStranded(walk, target, end.failure);
    walk.lastFailure = failure;
    // Replanning only helps if the app deviated from its tree.
    if (isFinal(failure) || walk.replans >= maxReplans) return { reached: false, at: end.at, failure };
    walk.replans += 1;
    at = end.at && { node: end.at, verified: true };
  }
}

/** If there is no way without the edges that failed, their failure is the reason. */
function whyNoPlan({ lastFailure }: Walk, failure: Failure): Failure {
  const isOfTree = failure.code === "NO_PATH" || failure.code === "NO_ENTRY_NODE";
  return (isOfTree && lastFailure) || failure;
}

/** A phone brings an app to the front as it was left. If the tree has no way on from there, the tree is at fault. */
async function whyStranded(walk: Walk, target: Node, failure: Failure): Promise<Failure> {
  const { reopenedAt } = walk;
  if (!reopenedAt || isFinal(failure) || !(await walk.seesNode(reopenedAt))) return failure;
  const { label } = reopenedAt;
  const message = `No way leads from "${label}" to "${target.label}", and the app shows "${label}" also when it is opened again. An edge makes a way (create_edge), such as one by the key BACK; close_app first starts the app anew.`;
  return { code: "NO_PATH", message };
}

const isFinal = ({ code }: Failure): boolean => stopsWalking(code);

type WalkEnd = { arrived: boolean; at: Node } | { at: Node | undefined; failure: Failure };

/** Walks a path until it ends, fails, or leads elsewhere. `arrived` says whether the target was verified. */
async function walkPath(walk: Walk, path: Path, from: Node, target: Node): Promise<WalkEnd> {
  let at = from;
  let verified = false;
  for (const leg of path.legs) {
    const end: LegEnd = await walkLeg(walk, leg);
    if (!end.ok) return failed(walk, leg, end);
    if (!end.intended) return elsewhere(walk, leg, end.at, target, end.verified);
    if (end.at.type !== "action") at = end.at;
    verified = end.verified;
    if (verified) walk.reopenedAt = undefined;
  }
  if (path.legs.length === 0) {
    const arrival = await arrive(walk, target, []);
    if (!arrival.ok) return { at: undefined, failure: arrival.failure };
    await walk.stand(target, arrival.verified);
    return { arrived: arrival.verified, at: target };
  }
  return { arrived: verified, at };
}

async function failed(walk: Walk, leg: Leg, end: LegEnd & { ok: false }): Promise<WalkEnd> {
  const { failure } = end;
  if (isFinal(failure)) return { at: undefined, failure };
  walk.excluded.push(leg, ...conditionalTwins(walk, leg));
  if (walk.replans >= maxReplans) return { at: undefined, failure };
  const at = await walk.locate(walk.history.placesToTry(walk.model, siblingsOf(walk, leg), searchedNodes));
  if (at) await walk.stand(at, true);
  return { at, failure };
}

/** A conditional edge decided for another place. If that is the target of the whole way, all is well. */
function elsewhere(walk: Walk, leg: Leg, at: Node, target: Node, verified: boolean): WalkEnd {
  if (at.id === target.id) return { arrived: verified, at };
  const message = `The way to "${labelOf(walk.model, leg.to)}" led to "${at.label}", which its conditional edge allows.`;
  return { at, failure: { code: "NAVIGATION_FAILED", message } };
}

/** Edges that share the failed action set would fail too. */
function conditionalTwins({ model }: Walk, leg: Leg): Leg[] {
  if (!("edge_id" in leg)) return [];
  const twins = sharingEdges(model, getEdge(model, leg.edge_id));
  return twins.map(({ id, target }) => ({ ...leg, edge_id: id, to: target }));
}

/** Where a failed step may have ended after all: its target, the other targets from its start, the start itself. */
function siblingsOf({ model }: Walk, leg: Leg): Node[] {
  const others = [...model.edges.values()].filter(({ source }) => source === leg.from);
  return [leg.to, ...others.map(({ target }) => target), leg.from].map((id) => getNode(model, id));
}

/** Runs `work` and reports how it went. A failure leaves the position unknown. Throws when the run itself ends. */
export async function reported(
  walk: Walk,
  target: Node,
  work: () => Promise<TravelEnd>,
): Promise<NavigationReport> {
  try {
    const end = await work();
    if (end.reached) {
      return walk.report(target, { reached: true, verified: end.verified, status: "passed", at: end.at });
    }
    await walk.lose();
    const { failure: error } = end;
    return walk.report(target, { reached: false, verified: false, status: verdictOf(error.code), error });
  } catch (error) {
    await walk.lose();
    if (!walk.isLate()) throw error;
    const late = walk.signal.reason;
    const message = late instanceof ToolError ? late.message : "The navigation took too long.";
    const { dispatched } = walk.results.at(-1)?.error ?? {};
    const failure = { code: "EXECUTION_TIMEOUT", message, ...(dispatched && { dispatched }) };
    return walk.report(target, { reached: false, verified: false, status: "timeout", error: failure });
  } finally {
    walk.end();
  }
}

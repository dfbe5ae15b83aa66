import type { Moment } from "@labwright/controllers";
import type { ActionBatch, ActionSet, Edge, Failure, Node, WalkedLeg } from "../../../domain/index.ts";
import type { ActionReport } from "../../ports.ts";
import { stopsWalking } from "../../records/verdicts.ts";
import { labelOf } from "../userinterfaces/model.ts";
import { arrive, possibleTargets } from "./arrive.ts";
import type { Leg } from "./graph.ts";
import { type Attempt, kpiFields, pictureBefore, recordBroken, recordRuns, recordStep } from "./recordLeg.ts";
import { arrivalMs, type Trip } from "./trip.ts";

/** `at` is where the step led, which for a conditional edge may be another place than was wanted. */
export type LegEnd =
  | { ok: true; at: Node; verified: boolean; intended: boolean }
  | { ok: false; failure: Failure };

/** Walks one step: actions, then the checks of where it leads. Records it as a step and in the history. */
export async function walkLeg(trip: Trip, leg: Leg): Promise<LegEnd> {
  const target = trip.model.nodes.get(leg.to);
  if (!target) return { ok: false, failure: goneFailure(leg.to) };
  if (!("edge_id" in leg)) return passGate(trip, leg, target);
  const edge = trip.model.edges.get(leg.edge_id);
  const set = edge?.action_sets.find(({ id }) => id === leg.action_set_id);
  if (!edge || !set) return { ok: false, failure: goneFailure(leg.edge_id) };
  return walkEdge(trip, leg, edge, set, target);
}

async function walkEdge(trip: Trip, leg: Leg, edge: Edge, set: ActionSet, target: Node): Promise<LegEnd> {
  const started = trip.ports.clock.monotonic();
  const before = await pictureBefore(trip);
  // If this process dies on the way, nobody may believe that the device still is where it was.
  trip.ports.positions.doubt(trip.device.id);
  const attempt = await tryEdge(trip, edge, set, target).catch(async (error: unknown) => {
    await recordBroken(trip, leg, edge, started, error);
    throw error;
  });
  const end = endOf(attempt, target);
  if (end.ok || !stopsWalking(end.failure.code)) await recordRuns(trip, edge, set, attempt, target);
  if (end.ok && end.at.type !== "action") await trip.stand(end.at, end.verified);
  const walked: WalkedLeg = {
    kind: leg.kind,
    from: labelOf(trip.model, leg.from),
    to: end.ok ? end.at.label : target.label,
    edge_id: edge.id,
    action_set_id: set.id,
    ok: end.ok,
    verified: end.ok && end.verified,
    duration_ms: Math.round(trip.ports.clock.monotonic() - started),
    ...kpiFields(attempt.kpi),
    ...(!end.ok && { error: end.failure }),
  };
  trip.walked.push(walked);
  const isLast = leg.to === trip.firstPlan?.legs.at(-1)?.to;
  const after = await trip.picture(end.ok && !isLast);
  await recordStep(trip, edge, set, { walked, attempt, before, after });
  return end;
}

/** Enters or leaves a subtree: one place under two names, so there is nothing to do but to look. */
async function passGate(trip: Trip, leg: Leg, target: Node): Promise<LegEnd> {
  const arrival = await arrive(trip, target, []);
  trip.walked.push({
    kind: leg.kind,
    from: labelOf(trip.model, leg.from),
    to: target.label,
    ok: arrival.ok,
    verified: arrival.ok && arrival.verified,
    duration_ms: arrival.duration_ms,
    ...(!arrival.ok && { error: arrival.failure }),
  });
  if (!arrival.ok) return { ok: false, failure: arrival.failure };
  await trip.stand(target, arrival.verified);
  return { ok: true, at: target, verified: arrival.verified, intended: true };
}

/** Runs the actions and looks where they led; if that is not where they should, runs the retry actions once. */
async function tryEdge(trip: Trip, edge: Edge, set: ActionSet, target: Node): Promise<Attempt> {
  const { retry_actions, failure_actions } = set;
  const first = await act(trip, edge, set, target, { actions: set.actions, retry_actions, failure_actions });
  const retried = first.report.results.some(({ phase }) => phase === "retry");
  if (!mayRetry(first) || retried || retry_actions.length === 0) return first;
  const again = { actions: retry_actions, retry_actions: [], failure_actions };
  const second = await act(trip, edge, set, target, again);
  const results = second.report.results.map((result) =>
    result.phase === "action" ? { ...result, phase: "retry" as const } : result,
  );
  return {
    ...second,
    report: { ok: second.report.ok, results: [...first.report.results, ...results] },
    actionsMs: first.actionsMs + second.actionsMs,
  };
}

/** The actions ran, and the target is not there: where nobody could tell that, it may be there. */
const mayRetry = ({ report, arrival }: Attempt): boolean =>
  report.ok && arrival?.ok === false && !stopsWalking(arrival.failure.code);

async function act(
  trip: Trip,
  edge: Edge,
  set: ActionSet,
  target: Node,
  batch: ActionBatch,
): Promise<Attempt> {
  const { clock, actions } = trip.ports;
  const started = clock.monotonic();
  trip.signal.throwIfAborted();
  const report: ActionReport =
    batch.actions.length === 0
      ? { ok: true, results: [] }
      : await actions.run(trip.device, batch, {
          variables: trip.variables,
          signal: trip.signal,
          isChecked: trip.isChecked(target),
        });
  if (batch.actions.length > 0) trip.refused = report.refused;
  const lastStarted = clock.monotonic() - (report.results.at(-1)?.duration_ms ?? 0);
  if (report.ok && edge.final_wait_ms > 0) await clock.sleep(edge.final_wait_ms, trip.signal);
  const actionsMs = Math.round(clock.monotonic() - started);
  if (!report.ok) return { report, arrival: undefined, actionsMs, kpi: undefined };
  const kpi = await measureKpi(trip, set, { sentAt: report.sentAt, lastStarted });
  const others = edge.conditional ? possibleTargets(trip, edge, set.id) : [];
  const arrival = await arrive(trip, target, set.direction === "forward" ? others : []);
  return { report, arrival, actionsMs, kpi };
}

/**
 * From the last input event to the first frame that shows the references, where the device has frames and says when the event
 * left; else from the start of the last action to the first look that saw them. Undefined if none did.
 */
async function measureKpi(
  trip: Trip,
  set: ActionSet,
  { sentAt, lastStarted }: { sentAt: Moment | undefined; lastStarted: number },
): Promise<Attempt["kpi"]> {
  const { clock, verifications } = trip.ports;
  if (set.kpi === undefined || set.kpi.length === 0) return undefined;
  if (sentAt !== undefined) {
    const { device, variables, signal } = trip;
    const options = { from: sentAt, timeoutMs: arrivalMs, variables, signal };
    const seen = await verifications.firstFrame(device, set.kpi, options);
    if (seen.measured)
      return seen.first && { ms: Math.round(seen.first.at - sentAt), errorMs: Math.ceil(seen.first.errorMs) };
  }
  const { pass } = await verifications.check(trip.device, set.kpi, {
    passCondition: "all",
    timeoutMs: arrivalMs,
    variables: trip.variables,
    signal: trip.signal,
    evidence: false,
  });
  return pass ? { ms: Math.round(clock.monotonic() - lastStarted) } : undefined;
}

function endOf({ report, arrival }: Attempt, target: Node): LegEnd {
  if (arrival?.ok) {
    const { node, verified } = arrival;
    return { ok: true, at: node, verified, intended: node.id === target.id };
  }
  if (arrival) return { ok: false, failure: arrival.failure };
  return { ok: false, failure: report.failure ?? { code: "DEVICE_ERROR", message: "the actions failed" } };
}

const goneFailure = (id: string): Failure => ({
  code: "EDGE_NOT_FOUND",
  message: `${id} was removed while the navigation was under way.`,
});

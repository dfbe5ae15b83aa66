import type { ActionSet, Edge, Node, WalkedLeg } from "../../../domain/index.ts";
import type { ActionReport } from "../../ports.ts";
import { verdictOf } from "../../records/verdicts.ts";
import { edgeLabel, labelOf, sharedEdgeTo } from "../userinterfaces/model.ts";
import type { Arrival } from "./arrive.ts";
import type { Leg } from "./graph.ts";
import type { Trip } from "./trip.ts";

/** What running an edge gave. `arrival` is undefined if the actions failed, so that nobody looked. */
export type Attempt = {
  report: ActionReport;
  arrival: Arrival | undefined;
  actionsMs: number;
  /** `errorMs` is how much earlier it may have been, where frames tell. */
  kpi: { ms: number; errorMs?: number } | undefined;
};

export const kpiFields = (kpi: Attempt["kpi"]) =>
  kpi ? { kpi_ms: kpi.ms, ...(kpi.errorMs !== undefined && { kpi_error_ms: kpi.errorMs }) } : {};

/** One run of the edge, one of the place it led to. A conditional edge that led elsewhere counts for the other edge too. */
export async function recordRuns(
  trip: Trip,
  edge: Edge,
  set: ActionSet,
  { arrival, actionsMs, kpi }: Attempt,
  target: Node,
): Promise<void> {
  const { clock } = trip.ports;
  const shared = {
    device_model: trip.device.model,
    execution_id: trip.run.id,
    at: new Date(clock.now()).toISOString(),
  };
  const reached = arrival?.ok ? arrival.node : undefined;
  const ofEdge = {
    subject: "edge" as const,
    action_set_id: set.id,
    duration_ms: actionsMs,
    kpi_ms: kpi?.ms,
    ...shared,
  };
  await trip.map.record({ ...ofEdge, subject_id: edge.id, ok: reached?.id === target.id });
  const other = reached && reached.id !== target.id && sharedEdgeTo(trip.model, edge, set.id, reached.id);
  if (other) await trip.map.record({ ...ofEdge, subject_id: other.id, ok: true });
  const looked = reached ?? target;
  if (!arrival || looked.verifications.length === 0) return;
  const duration_ms = arrival.duration_ms;
  await trip.map.record({ subject: "node", subject_id: looked.id, ok: arrival.ok, duration_ms, ...shared });
}

/** The picture after the step before, or a new one. */
export async function pictureBefore(trip: Trip) {
  if (trip.lastPicture === undefined) trip.lastPicture = await trip.picture(true);
  return trip.lastPicture && { ...trip.lastPicture, kind: "screenshot_before" };
}

export async function recordStep(
  trip: Trip,
  edge: Edge,
  set: ActionSet,
  done: { walked: WalkedLeg; attempt: Attempt; before: Trip["lastPicture"]; after: Trip["lastPicture"] },
): Promise<void> {
  const { walked, before, after } = done;
  const { report, arrival } = done.attempt;
  trip.lastPicture = after;
  const slowness = trip.walked.length === 1 ? trip.slowness() : undefined;
  const { clock } = trip.ports;
  const checked = arrival && (arrival.ok ? arrival.verified : true);
  await trip.run.step({
    path: "",
    kind: "navigation",
    label: `${walked.from} → ${walked.to}`,
    status: walked.error ? verdictOf(walked.error.code) : "passed",
    started_at: new Date(clock.now() - walked.duration_ms).toISOString(),
    duration_ms: walked.duration_ms,
    input: { edge: edgeLabel(trip.model, edge), edge_id: edge.id, action_set: set.id, actions: set.actions },
    output: {
      results: report.results,
      verified: walked.verified,
      ...(checked && { verdicts: trip.verdicts }),
      ...kpiFields(done.attempt.kpi),
      ...(slowness !== undefined && { notes: [slowness] }),
    },
    ...(walked.error && { error: walked.error }),
    artifacts: [before, after].filter((picture) => picture !== undefined),
  });
}

/** A step that an error or a cancellation ended: kept with what it was about, then the error goes on. */
export async function recordBroken(
  trip: Trip,
  leg: Leg,
  edge: Edge,
  started: number,
  error: unknown,
): Promise<void> {
  const { clock } = trip.ports;
  const code = error instanceof Error && "code" in error ? String(error.code) : "INTERNAL";
  const message = error instanceof Error ? error.message : String(error);
  const stopped = trip.isLate() ? "timeout" : "cancelled";
  const durationMs = clock.monotonic() - started;
  await trip.run.step({
    path: "",
    kind: "navigation",
    label: `${labelOf(trip.model, leg.from)} → ${labelOf(trip.model, leg.to)}`,
    status: trip.signal.aborted ? stopped : "error",
    started_at: new Date(clock.now() - durationMs).toISOString(),
    duration_ms: durationMs,
    input: { edge: edgeLabel(trip.model, edge), edge_id: edge.id },
    output: null,
    error: { code, message },
    artifacts: [],
  });
}

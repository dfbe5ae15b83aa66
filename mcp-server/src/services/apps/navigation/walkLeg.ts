import { z } from "zod";
import type { ActionBatch, ActionSet, Edge, Failure, Node, Step, WalkedLeg } from "../../../domain/index.ts";
import type { ActionReport } from "../../ports.ts";
import { stopsWalking, verdictOf } from "../../records/verdicts.ts";
import { edgeLabel, getEdge, getNode, labelOf } from "../userinterfaces/model.ts";
import { type Arrival, arrive, conditionalEdges } from "./arrive.ts";
import type { EdgeLeg, Leg } from "./graph.ts";
import { arrivalMs, type Walk } from "./walk.ts";

/** `at` is where the step led. If it is not `intended`, a conditional edge led to another of its targets. */
export type LegEnd =
  | { ok: true; at: Node; verified: boolean; intended: boolean }
  | { ok: false; failure: Failure };

/** What running an edge gave. `arrival` is undefined if the actions failed, since nothing was looked at then. */
type Attempt = {
  report: ActionReport;
  arrival: Arrival | undefined;
  actionsMs: number;
  /** `errorMs` is how much earlier it may have been, where there are frames. */
  kpi: { ms: number; errorMs?: number } | undefined;
};

type Walking = { leg: EdgeLeg; edge: Edge; set: ActionSet; target: Node };

/** Walks one step: actions, then the checks of where it leads. Records it as a step and in the history. */
export async function walkLeg(walk: Walk, leg: Leg): Promise<LegEnd> {
  const target = getNode(walk.model, leg.to);
  if (!("edge_id" in leg)) return passGate(walk, leg, target);
  const edge = getEdge(walk.model, leg.edge_id);
  const set = edge.action_sets.find(({ id }) => id === leg.action_set_id);
  if (!set) throw new Error(`The edge ${edge.id} has no action set ${leg.action_set_id}`);
  return walkEdge(walk, { leg, edge, set, target });
}

async function walkEdge(walk: Walk, walking: Walking): Promise<LegEnd> {
  const { leg, edge, set, target } = walking;
  const started = walk.ports.clock.monotonic();
  const before = await pictureBefore(walk);
  // If this process dies on the way, the device must not be believed to be where it was.
  walk.ports.positions.doubt(walk.device.id);
  const attempt = await tryEdge(walk, walking).catch(async (error: unknown) => {
    await recordBroken(walk, walking, started, error);
    throw error;
  });
  const end = endOf(attempt, target);
  if (end.ok || !stopsWalking(end.failure.code)) await recordRuns(walk, walking, attempt);
  if (end.ok && end.at.type !== "action") await walk.stand(end.at, end.verified);
  const walked: WalkedLeg = {
    kind: leg.kind,
    from: labelOf(walk.model, leg.from),
    to: end.ok ? end.at.label : target.label,
    edge_id: edge.id,
    action_set_id: set.id,
    ok: end.ok,
    verified: end.ok && end.verified,
    duration_ms: Math.round(walk.ports.clock.monotonic() - started),
    ...kpiFields(attempt.kpi),
    ...(!end.ok && { error: end.failure }),
  };
  walk.walked.push(walked);
  const isLast = leg.to === walk.firstPlan?.legs.at(-1)?.to;
  const after = await walk.picture(end.ok && !isLast);
  walk.lastPicture = after;
  const artifacts = [before, after].filter((picture) => picture !== undefined);
  await recordStep(walk, walking, { walked, attempt, artifacts });
  return end;
}

/** Enters or leaves a subtree: one place under two names, so there is nothing to do but to look. */
async function passGate(walk: Walk, leg: Leg, target: Node): Promise<LegEnd> {
  const arrival = await arrive(walk, target, []);
  walk.walked.push({
    kind: leg.kind,
    from: labelOf(walk.model, leg.from),
    to: target.label,
    ok: arrival.ok,
    verified: arrival.ok && arrival.verified,
    duration_ms: arrival.duration_ms,
    ...(!arrival.ok && { error: arrival.failure }),
  });
  if (!arrival.ok) return { ok: false, failure: arrival.failure };
  await walk.stand(target, arrival.verified);
  return { ok: true, at: target, verified: arrival.verified, intended: true };
}

/** Runs the actions and looks where they led; if that is not where they should, runs the retry actions once. */
async function tryEdge(walk: Walk, walking: Walking): Promise<Attempt> {
  const { actions, retry_actions, failure_actions } = walking.set;
  const first = await act(walk, walking, { actions, retry_actions, failure_actions });
  const retried = first.report.results.some(({ phase }) => phase === "retry");
  if (!mayRetry(first) || retried || retry_actions.length === 0) return first;
  const second = await act(walk, walking, { actions: retry_actions, retry_actions: [], failure_actions });
  const results = second.report.results.map((result) =>
    result.phase === "action" ? { ...result, phase: "retry" as const } : result,
  );
  return {
    ...second,
    report: { ok: second.report.ok, results: [...first.report.results, ...results] },
    actionsMs: first.actionsMs + second.actionsMs,
  };
}

/** The actions ran and the target was looked at and is not there. */
const mayRetry = ({ report, arrival }: Attempt): boolean =>
  report.ok && arrival?.ok === false && !stopsWalking(arrival.failure.code);

async function act(walk: Walk, { edge, set, target }: Walking, batch: ActionBatch): Promise<Attempt> {
  const { clock } = walk.ports;
  const { signal } = walk;
  const started = clock.monotonic();
  walk.results = [];
  signal.throwIfAborted();
  const isChecked = walk.isChecked(target);
  const report: ActionReport =
    batch.actions.length === 0 ? { ok: true, results: [] } : await walk.act(batch, isChecked);
  const lastStarted = clock.monotonic() - (report.results.at(-1)?.duration_ms ?? 0);
  if (report.ok && edge.final_wait_ms > 0) await clock.sleep(edge.final_wait_ms, signal);
  const actionsMs = Math.round(clock.monotonic() - started);
  if (!report.ok) return { report, arrival: undefined, actionsMs, kpi: undefined };
  const kpi = await measureKpi(walk, set, report, lastStarted);
  const others = set.direction === "forward" ? conditionalEdges(walk, edge, set.id) : [];
  const arrival = await arrive(
    walk,
    target,
    others.map((other) => getNode(walk.model, other.target)),
  );
  return { report, arrival, actionsMs, kpi };
}

/** What a command such as measure_zap returns. */
const measuredSchema = z.object({ kpi_ms: z.int(), error_ms: z.int() });

/**
 * From the last input event to the first frame that shows the references; without frames, from the last action to the first snapshot;
 * without references, what the last action measured.
 */
async function measureKpi(
  walk: Walk,
  set: ActionSet,
  { results, sentAt }: ActionReport,
  lastStarted: number,
): Promise<Attempt["kpi"]> {
  const { clock, verifications } = walk.ports;
  if (set.kpi === undefined || set.kpi.length === 0) {
    const { data } = measuredSchema.safeParse(results.at(-1)?.data);
    return data && { ms: data.kpi_ms, errorMs: data.error_ms };
  }
  const options = walk.options(arrivalMs);
  if (sentAt !== undefined) {
    const seen = await verifications.firstFrame(walk.device, set.kpi, { ...options, from: sentAt });
    if (seen.measured)
      return seen.first && { ms: Math.round(seen.first.at - sentAt), errorMs: Math.ceil(seen.first.errorMs) };
  }
  const { pass } = await verifications.check(walk.device, set.kpi, options);
  return pass ? { ms: Math.round(clock.monotonic() - lastStarted) } : undefined;
}

const kpiFields = (kpi: Attempt["kpi"]) =>
  kpi ? { kpi_ms: kpi.ms, ...(kpi.errorMs !== undefined && { kpi_error_ms: kpi.errorMs }) } : {};

function endOf({ report, arrival }: Attempt, target: Node): LegEnd {
  if (arrival?.ok) {
    const { node, verified } = arrival;
    return { ok: true, at: node, verified, intended: node.id === target.id };
  }
  if (arrival) return { ok: false, failure: arrival.failure };
  return { ok: false, failure: report.failure ?? { code: "DEVICE_ERROR", message: "the actions failed" } };
}

/** One run of the edge, one of the place it led to. A conditional edge that led elsewhere counts for the other edge too. */
async function recordRuns(
  walk: Walk,
  { edge, set, target }: Walking,
  { arrival, actionsMs, kpi }: Attempt,
): Promise<void> {
  const shared = {
    device_model: walk.device.model,
    execution_id: walk.run.id,
    at: new Date(walk.ports.clock.now()).toISOString(),
  };
  const reached = arrival?.ok ? arrival.node : undefined;
  const ofEdge = {
    ...{ subject: "edge" as const, action_set_id: set.id, ...shared },
    ...{ duration_ms: actionsMs, kpi_ms: kpi?.ms },
  };
  await walk.history.record({ ...ofEdge, subject_id: edge.id, ok: reached?.id === target.id });
  const other = conditionalEdges(walk, edge, set.id).find((one) => one.target === reached?.id);
  if (other && reached?.id !== target.id)
    await walk.history.record({ ...ofEdge, subject_id: other.id, ok: true });
  const looked = reached ?? target;
  if (!arrival || looked.verifications.length === 0) return;
  const { ok, duration_ms } = arrival;
  await walk.history.record({ subject: "node", subject_id: looked.id, ok, duration_ms, ...shared });
}

async function pictureBefore(walk: Walk) {
  walk.lastPicture ??= await walk.picture(true);
  return walk.lastPicture && { ...walk.lastPicture, kind: "screenshot_before" };
}

function recordStep(
  walk: Walk,
  walking: Walking,
  done: { walked: WalkedLeg; attempt: Attempt; artifacts: Step["artifacts"] },
): Promise<unknown> {
  const { walked, attempt, artifacts } = done;
  const { report, arrival } = attempt;
  const slowness = walk.walked.length === 1 ? walk.slowness() : undefined;
  const checked = arrival && (arrival.ok ? arrival.verified : true);
  return walk.run.step({
    ...walk.stepOf(walked.duration_ms),
    label: `${walked.from} → ${walked.to}`,
    status: walked.error ? verdictOf(walked.error.code) : "passed",
    input: {
      ...inputOf(walk, walking),
      ...{ action_set: walking.set.id, actions: walking.set.actions },
    },
    output: {
      results: report.results,
      verified: walked.verified,
      ...(checked && { verdicts: walk.verdicts }),
      ...kpiFields(attempt.kpi),
      ...(slowness !== undefined && { notes: [slowness] }),
    },
    ...(walked.error && { error: walked.error }),
    artifacts,
  });
}

/** Records a step that an error or a cancellation ended. */
async function recordBroken(walk: Walk, walking: Walking, started: number, error: unknown): Promise<void> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "INTERNAL";
  const message = error instanceof Error ? error.message : String(error);
  const stopped = walk.isLate() ? "timeout" : "cancelled";
  const dispatched = walk.results.at(-1)?.error?.dispatched;
  await walk.run.step({
    ...walk.stepOf(walk.ports.clock.monotonic() - started),
    label: `${labelOf(walk.model, walking.leg.from)} → ${labelOf(walk.model, walking.leg.to)}`,
    status: walk.signal.aborted ? stopped : "error",
    input: inputOf(walk, walking),
    output: { results: walk.results },
    error: { code, message, ...(dispatched && { dispatched }) },
    artifacts: [],
  });
}

const inputOf = (walk: Walk, { edge }: Walking) => ({ edge: edgeLabel(walk.model, edge), edge_id: edge.id });

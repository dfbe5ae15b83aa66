import type { FinalStatus, PlanStep } from "../../../domain/index.ts";
import type { Clock, Run } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import type { Place } from "./places.ts";
import type { PlanReply } from "./views.ts";

/** Steps that one device does in one run, and the parts that must have ended before. */
export type Part = { place: Place; steps: PlanStep[]; after: Set<Part> };

/**
 * A plan by devices. `ordered`: each step after those that it depends on. The parts of one device run in order. A step begins
 * a new part where the last one of its device began before what it depends on, or where another part waits for that one.
 */
export function partsOf(ordered: readonly PlanStep[], placeOf: (step: PlanStep) => Place): Part[] {
  const parts: Part[] = [];
  const partWith = (index: number) => parts.find(({ steps }) => steps.some((one) => one.index === index));
  for (const step of ordered) {
    const place = placeOf(step);
    const last = parts.findLast((part) => part.place.id === place.id);
    const needed = step.depends_on
      .flatMap((on) => partWith(on) ?? [])
      .filter((part) => part.place.id !== place.id);
    const isAwaited = parts.some(({ after }) => last && after.has(last));
    if (last && !isAwaited && needed.every((part) => last.after.has(part))) last.steps.push(step);
    else parts.push({ place, steps: [step], after: new Set(last ? [...needed, last] : needed) });
  }
  return parts;
}

/** How a part ended; `results` is empty where it was not run. */
export type PartReply = Pick<PlanReply, "execution_id" | "status" | "reason" | "results" | "verified_count">;

const skipped: PartReply = { status: "cancelled", results: [] };
const isDone = ({ results }: PartReply) =>
  results.length > 0 && results.every(({ status }) => status === "completed");

/** Runs each part when those before it are done, side by side where it can. A part after one that is not done is skipped. */
export async function runParts(
  run: Run,
  parts: readonly Part[],
  clock: Clock,
  runPart: (part: Part) => Promise<PartReply>,
) {
  const ends = new Map<Part, Promise<PartReply>>();
  const start = async (part: Part, number: number): Promise<PartReply> => {
    const before = await Promise.all([...part.after].flatMap((one) => ends.get(one) ?? []));
    run.signal.throwIfAborted();
    if (!before.every(isDone)) return skipped;
    const started = clock.monotonic();
    const reply = await runPart(part);
    run.verified(reply.verified_count ?? 0);
    await run.step(stepOf(part, number, reply, clock, clock.monotonic() - started));
    return reply;
  };
  for (const [at, part] of parts.entries()) ends.set(part, start(part, at + 1));
  const all = await Promise.all(ends.values());
  run.signal.throwIfAborted();
  return verdictOf(all.filter((reply) => reply !== skipped));
}

function stepOf(
  { place: { id }, steps }: Part,
  number: number,
  reply: PartReply,
  clock: Clock,
  duration_ms: number,
) {
  const { execution_id, reason } = reply;
  const status = finalOf(reply);
  return {
    path: `part${number}`,
    kind: "plan",
    label: `${id}: ${steps.map(({ objective }) => objective).join("; ")}`.slice(0, 400),
    status,
    started_at: new Date(clock.now() - duration_ms).toISOString(),
    duration_ms,
    input: { device_id: id, steps: steps.map(({ index }) => index) },
    output: { execution_id, status },
    ...(reason && status !== "passed" && { error: reason }),
    artifacts: [],
  };
}

const unchecked = "NOTHING_VERIFIED";

/** The checks of a plan need not be on each of its devices. */
function finalOf({ status, reason }: PartReply): FinalStatus {
  if (reason?.code === unchecked) return "passed";
  const finals = ["passed", "failed", "cancelled", "timeout"] as const;
  return finals.find((one) => one === status) ?? "error";
}

/** `failed` where every part that did not pass failed, else `error`. */
function verdictOf(all: readonly PartReply[]) {
  const bad = all.filter((reply) => finalOf(reply) !== "passed");
  const verified_count = all.reduce((sum, reply) => sum + (reply.verified_count ?? 0), 0);
  const status: FinalStatus = bad.every((reply) => finalOf(reply) === "failed") ? "failed" : "error";
  const decided = bad.find((reply) => (finalOf(reply) === "failed") === (status === "failed"));
  if (decided) return { status, reason: decided.reason ?? reasonOf(undefined), verified_count };
  if (verified_count > 0) return { status: "passed" as const, verified_count };
  const message = "The plan came to its end, but no check and no verified navigation was made on the way.";
  return { status: "error" as const, reason: { code: unchecked, message }, verified_count };
}

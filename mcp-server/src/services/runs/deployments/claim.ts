import type { Deployment, DeploymentRun } from "../../../storage/index.ts";
import { dueTimes, nextDue } from "./schedule.ts";

/** A due time that is noticed later than this was missed; sooner, it only starts late. */
const lateMs = 60_000;
/** Missed due times are counted up to here. */
const countedMissed = 100;

export type DueDeployment = Deployment & { next_at: string };

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * What becomes of a deployment's due times up to now: at most one that is queued, and a skipped one for what was missed
 * or came while another run was `open`. Oldest first.
 */
export function claimDue(
  deployment: DueDeployment,
  { open, now, newId }: { open: DeploymentRun | undefined; now: number; newId: () => string },
): DeploymentRun[] {
  const { body } = deployment;
  const { missed, current } = splitDue(deployment, now);
  const run = (
    at: number,
    more: Pick<DeploymentRun, "status" | "reason" | "finished_at">,
  ): DeploymentRun => ({
    id: newId(),
    deployment_id: deployment.id,
    due_at: iso(at),
    ...more,
  });
  const skipped = (at: number, reason: NonNullable<DeploymentRun["reason"]>) =>
    run(at, { status: "skipped", reason, finished_at: iso(now) });

  const runs: DeploymentRun[] = [];
  const lastMissed = missed.at(-1);
  const reason = lastMissed === undefined ? undefined : missedReason(missed, body.missed);
  if (lastMissed !== undefined && reason && body.missed === "skip") runs.push(skipped(lastMissed, reason));
  const start = body.missed === "once" ? (current ?? lastMissed) : current;
  if (start !== undefined && open) runs.push(skipped(start, overlapReason(open)));
  else if (start !== undefined)
    runs.push(run(start, { status: "queued", ...(reason && body.missed === "once" && { reason }) }));
  return runs;
}

/** How a deployment stands that has started so many runs: its next due time, or that none will come. */
export function standing(
  body: Deployment["body"],
  started: number,
  now: number,
): { status: "active"; next_at: string } | { status: "completed" } {
  const next = started < (body.max_executions ?? Number.POSITIVE_INFINITY) ? nextDue(body, now) : undefined;
  return next === undefined ? { status: "completed" } : { status: "active", next_at: iso(next) };
}

/** The newest due time, if it is not too late for it, and those before it. */
function splitDue({ body, next_at }: DueDeployment, now: number): { missed: number[]; current?: number } {
  const first = Date.parse(next_at);
  const recent = nextDue(body, Math.max(first, now - lateMs) - 1);
  const current = recent === undefined ? undefined : dueTimes(body, recent, now, countedMissed).at(-1);
  const missed = dueTimes(body, first, current === undefined ? now : current - 1, countedMissed);
  return { missed, ...(current !== undefined && { current }) };
}

function missedReason(
  missed: readonly number[],
  policy: "skip" | "once",
): NonNullable<DeploymentRun["reason"]> {
  const count = missed.length === countedMissed ? `${countedMissed} or more` : `${missed.length}`;
  const instead = policy === "once" ? "; this run is for all of them" : "";
  const what = `No daemon of this host started what was due ${count} times from ${iso(missed[0] ?? 0)} on`;
  return { code: "MISSED", message: `${what}${instead}.` };
}

const overlapReason = ({ due_at, status }: DeploymentRun): NonNullable<DeploymentRun["reason"]> => ({
  code: "OVERLAP",
  message: `The run that was due at ${due_at} was still ${status}.`,
});

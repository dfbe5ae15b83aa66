import { nearest } from "@labwright/controllers";
import { Cron } from "croner";
import type { DeploymentInput } from "../../../domain/index.ts";
import type { Deployment, DeploymentRun } from "../../../storage/index.ts";

export type Schedule = Pick<DeploymentInput, "cron" | "dates" | "timezone" | "starts_at" | "ends_at">;

/**
 * The first due time after an instant, in milliseconds; undefined when none will come. A due time that a change of the
 * clocks leaves out comes right behind the gap; one that comes twice counts once, an interval such as every 30 minutes
 * goes on evenly.
 */
export function nextDue(schedule: Schedule, after: number): number | undefined {
  const { cron, dates, timezone, starts_at: startsAt, ends_at: endsAt } = schedule;
  const from = startsAt === undefined ? after : Math.max(after, Date.parse(startsAt) - 1);
  const byCron = cron === undefined ? null : cronOf(cron, timezone).nextRun(new Date(from));
  const times = dates.map((date) => Date.parse(date)).filter((time) => time > from);
  const next = Math.min(...times, ...(byCron ? [byCron.getTime()] : []));
  const last = endsAt === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(endsAt);
  return next <= last ? next : undefined;
}

/** Due times from `first` on, which is one, up to `until`; at most `limit`. */
export function dueTimes(schedule: Schedule, first: number, until: number, limit: number): number[] {
  const times: number[] = [];
  for (let due: number | undefined = first; due !== undefined && due <= until; due = nextDue(schedule, due)) {
    if (times.length === limit) break;
    times.push(due);
  }
  return times;
}

/** What is wrong with a cron expression of five fields, in croner's words. */
export function cronProblem(cron: string): string | undefined {
  try {
    cronOf(cron, "UTC");
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace("exactly five, six, or seven", "exactly five").replace(/^CronPattern: /, "");
  }
}

/** What is wrong with the name of a time zone. */
export function timezoneProblem(timezone: string): string | undefined {
  try {
    Intl.DateTimeFormat("en", { timeZone: timezone });
    return undefined;
  } catch {
    const near = nearest(timezone, ["UTC", ...Intl.supportedValuesOf("timeZone")], 3);
    const hint = near.length > 0 ? `; did you mean ${near.join(", ")}?` : ", such as Europe/Paris";
    return `"${timezone}" is not an IANA time zone${hint}`;
  }
}

/** An instant as a clock in the zone shows it, such as 2026-03-29T03:30:00+02:00. */
export function localTime(at: string, timezone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: timezone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const offset = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset" })
    .formatToParts(new Date(at))
    .find(({ type }) => type === "timeZoneName");
  return `${format.format(new Date(at)).replace(" ", "T")}${offset?.value.slice("GMT".length) || "+00:00"}`;
}

/** Without a function to call it only reckons. */
const cronOf = (cron: string, timezone: string) => new Cron(cron, { timezone, mode: "5-part" });

/** A due time that is noticed later than this was missed; sooner, it only starts late. */
const lateMs = 60_000;
/** Missed due times are counted up to here. */
const countedMissed = 100;

export type DueDeployment = Deployment & { next_at: string };

const iso = (ms: number) => new Date(ms).toISOString();

/** The due times up to now: at most one queued run, and a skipped one for what was missed or overlapped. Oldest first. */
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

/** The deployment's next due time; `completed` when none will come. */
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

import { nearest } from "@labwright/controllers";
import { Cron } from "croner";
import type { DeploymentInput } from "../../../domain/index.ts";

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

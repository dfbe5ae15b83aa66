import type { DeploymentInput } from "../../../domain/index.ts";
import { invalid, type Problem } from "./problems.ts";
import { cronProblem, nextDue, timezoneProblem } from "./schedule.ts";

/** What is wrong with when it is due. `before` is the schedule that this one replaces: what it had may be over. */
export function scheduleProblems(
  body: DeploymentInput,
  { now, before }: { now: number; before: DeploymentInput | undefined },
): Problem[] {
  const { cron, dates, timezone, starts_at: startsAt, ends_at: endsAt } = body;
  const inCron = cron === undefined ? undefined : cronProblem(cron);
  const inTimezone = timezoneProblem(timezone);
  const past = dates.filter((date) => Date.parse(date) <= now && !before?.dates.includes(date));
  const over = endsAt !== undefined && Date.parse(endsAt) <= now;
  const problems = [
    ...(cron === undefined && dates.length === 0 ? ["cron: give cron, dates or both"] : []),
    ...(inCron === undefined ? [] : [`cron: ${inCron}`]),
    ...(inTimezone === undefined ? [] : [`timezone: ${inTimezone}`]),
    ...past.map((date) => `dates: ${date} is past`),
    ...(over ? [`ends_at: ${endsAt} is past`] : []),
    ...(startsAt !== undefined && endsAt !== undefined && endsAt < startsAt
      ? [`ends_at: ${endsAt} is before starts_at ${startsAt}`]
      : []),
  ];
  const isNever = problems.length === 0 && nextDue(body, now) === undefined;
  return (isNever ? ["cron: it is never due between starts_at and ends_at"] : problems).map(invalid);
}

import { expect, it } from "vitest";
import { deploymentSchema } from "#mcp-server/domain/index.ts";
import {
  claimDue,
  cronProblem,
  dueTimes,
  localTime,
  nextDue,
  timezoneProblem,
} from "#mcp-server/services/runs/deployments/schedule.ts";
import type { DeploymentRun } from "#mcp-server/storage/index.ts";

const schedule = (given: Record<string, unknown>) =>
  deploymentSchema.parse({ name: "nightly", testcase: "t", device_id: "lab/box", ...given });
const at = (text: string) => Date.parse(text);

/** The next `count` due times behind an instant. */
function dues(given: Record<string, unknown>, after: string, count: number): string[] {
  const body = schedule(given);
  const first = nextDue(body, at(after));
  if (first === undefined) return [];
  return dueTimes(body, first, Number.MAX_SAFE_INTEGER, count).map((time) => new Date(time).toISOString());
}

it("reads the cron expression in the time zone, through both changes of the clocks", () => {
  const paris = { cron: "30 2 * * *", timezone: "Europe/Paris" };
  // 02:30 does not exist on 29 March: it comes at 03:00, the end of the gap.
  expect(dues(paris, "2026-03-28T00:00:00Z", 3)).toEqual([
    "2026-03-28T01:30:00.000Z",
    "2026-03-29T01:00:00.000Z",
    "2026-03-30T00:30:00.000Z",
  ]);
  // It exists twice on 25 October and counts once.
  expect(dues(paris, "2026-10-24T00:00:00Z", 3)).toEqual([
    "2026-10-24T00:30:00.000Z",
    "2026-10-25T00:30:00.000Z",
    "2026-10-26T01:30:00.000Z",
  ]);
});

it("goes on evenly through the hour that comes twice when it is an interval", () => {
  const half = { cron: "*/30 * * * *", timezone: "Europe/Paris" };
  expect(dues(half, "2026-10-24T23:45:00Z", 5)).toEqual([
    "2026-10-25T00:00:00.000Z",
    "2026-10-25T00:30:00.000Z",
    "2026-10-25T01:00:00.000Z",
    "2026-10-25T01:30:00.000Z",
    "2026-10-25T02:00:00.000Z",
  ]);
});

it("joins dates and cron in order, each once, within starts_at and ends_at, which belong to it", () => {
  const given = {
    cron: "0 12 * * *",
    dates: ["2026-01-03T08:00:00Z", "2026-01-02T12:00:00Z", "2026-01-01T08:00:00Z"],
    starts_at: "2026-01-02T12:00:00Z",
    ends_at: "2026-01-04T12:00:00Z",
  };
  expect(dues(given, "2025-12-01T00:00:00Z", 10)).toEqual([
    "2026-01-02T12:00:00.000Z",
    "2026-01-03T08:00:00.000Z",
    "2026-01-03T12:00:00.000Z",
    "2026-01-04T12:00:00.000Z",
  ]);
});

it("is never due at the instant behind which it was asked for", () => {
  const minutely = schedule({ cron: "* * * * *" });
  expect(nextDue(minutely, at("2026-01-01T00:00:00.000Z"))).toBe(at("2026-01-01T00:01:00Z"));
  expect(nextDue(minutely, at("2026-01-01T00:00:00.500Z"))).toBe(at("2026-01-01T00:01:00Z"));
  expect(nextDue(minutely, at("2025-12-31T23:59:59.999Z"))).toBe(at("2026-01-01T00:00:00Z"));
});

it("is over when there are no more dates, and never due on a day that does not exist", () => {
  expect(dues({ dates: ["2026-01-01T00:00:00Z"] }, "2026-01-01T00:00:00Z", 1)).toEqual([]);
  expect(dues({ cron: "0 0 30 2 *" }, "2026-01-01T00:00:00Z", 1)).toEqual([]);
});

it.each([
  ["* * * *", "exactly five"],
  ["* * * * * *", "6 parts"],
  ["61 * * * *", "minute: 61"],
  ["every day", "exactly five"],
])("says what is wrong with the cron expression %s", (cron, part) => {
  expect(cronProblem(cron)).toContain(part);
});

it("takes time zones by their IANA name and reports the nearest to a wrong one", () => {
  expect(timezoneProblem("Europe/Paris")).toBeUndefined();
  expect(timezoneProblem("UTC")).toBeUndefined();
  expect(timezoneProblem("Europe/Pari")).toContain("Europe/Paris");
});

it("shows an instant as a clock in the zone does", () => {
  expect(localTime("2026-03-29T01:00:00.000Z", "Europe/Paris")).toBe("2026-03-29T03:00:00+02:00");
  expect(localTime("2026-01-31T22:15:00.000Z", "Asia/Kolkata")).toBe("2026-02-01T03:45:00+05:30");
  expect(localTime("2026-01-31T22:15:00.000Z", "UTC")).toBe("2026-01-31T22:15:00+00:00");
});

it("reads times as people type them, and refuses what is none", () => {
  const body = schedule({ dates: ["2026-06-01", "2026-06-01T10:00:00+02:00"] });
  expect(body.dates).toEqual(["2026-06-01T00:00:00.000Z", "2026-06-01T08:00:00.000Z"]);
  expect(() => schedule({ dates: ["tomorrow"] })).toThrow("is not a time");
});

const minute = (n: number, seconds = 0) => new Date(Date.UTC(2026, 0, 1, 0, n, seconds)).toISOString();

const running: DeploymentRun = { id: "r0", deployment_id: "d", due_at: minute(0), status: "running" };

/** What a deployment of every minute, next due at minute 1, makes of `now`. */
function claim(now: string, given: { missed?: "skip" | "once"; open?: DeploymentRun } = {}) {
  const body = deploymentSchema.parse({
    name: "minutely",
    testcase: "t",
    device_id: "lab/box",
    cron: "* * * * *",
    missed: given.missed,
  });
  let ids = 0;
  const runs = claimDue(
    {
      id: "d",
      name: "minutely",
      host_name: "lab",
      body,
      status: "active",
      started: 0,
      next_at: minute(1),
      created_by: "anna",
      created_at: minute(0),
      updated_at: minute(0),
    },
    {
      open: given.open,
      now: Date.parse(now),
      newId: () => {
        ids += 1;
        return `r${ids}`;
      },
    },
  );
  return runs.map(({ due_at, status, reason }) => [due_at, status, reason?.code, reason?.message]);
}

it("queues one run for a due time, also one that is noticed up to a minute late", () => {
  expect(claim(minute(1))).toEqual([[minute(1), "queued", undefined, undefined]]);
  expect(claim(minute(1, 59))).toEqual([[minute(1), "queued", undefined, undefined]]);
});

it("skips what was missed in one run that counts it, and starts what is due now", () => {
  expect(claim(minute(5, 10))).toEqual([
    [minute(4), "skipped", "MISSED", expect.stringContaining(`4 times from ${minute(1)}`)],
    [minute(5), "queued", undefined, undefined],
  ]);
});

it("starts one run for all that was missed with the policy once", () => {
  expect(claim(minute(5, 10), { missed: "once" })).toEqual([
    [minute(5), "queued", "MISSED", expect.stringContaining("for all of them")],
  ]);
});

it("skips a due time while a former run is not over, and says which", () => {
  expect(claim(minute(1), { open: running })).toEqual([
    [minute(1), "skipped", "OVERLAP", expect.stringContaining(`${minute(0)} was still running`)],
  ]);
  expect(claim(minute(3), { open: running, missed: "once" })).toEqual([
    [minute(3), "skipped", "OVERLAP", expect.anything()],
  ]);
});

it("counts no further than a hundred, however long the daemon was away", () => {
  const [skipped, ...rest] = claim(minute(100_000));
  expect(skipped?.[3]).toContain("100 or more times");
  expect(rest).toEqual([[minute(100_000), "queued", undefined, undefined]]);
});

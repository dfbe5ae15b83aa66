import { expect, it } from "vitest";
import { deploymentSchema } from "../../../../mcp-server/src/domain/index.ts";
import { claimDue } from "../../../../mcp-server/src/services/runs/deployments/claim.ts";
import type { DeploymentRun } from "../../../../mcp-server/src/storage/index.ts";

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

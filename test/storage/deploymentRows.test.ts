import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { deploymentSchema } from "#mcp-server/domain/index.ts";
import {
  type Database,
  type Deployment,
  type DeploymentRows,
  type DeploymentRun,
  type DeploymentRunRows,
  deploymentRows,
  deploymentRunRows,
} from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute } from "../fixtures/executionRecords.ts";

const deployment = (id: string, more: Partial<Deployment> = {}): Deployment => ({
  id,
  name: `name of ${id}`,
  host_name: "lab",
  body: deploymentSchema.parse({
    name: `name of ${id}`,
    testcase: "t",
    device_id: "lab/a",
    cron: "* * * * *",
  }),
  status: "active",
  started: 0,
  next_at: minute(5),
  created_by: "anna",
  created_at: minute(0),
  updated_at: minute(0),
  ...more,
});
const paused = ({ next_at: _, ...rest }: Deployment): Deployment => ({ ...rest, status: "paused" });
const run = (id: string, due: number, more: Partial<DeploymentRun> = {}): DeploymentRun => ({
  id,
  deployment_id: "d",
  due_at: minute(due),
  status: "queued",
  ...more,
});

describeEachDatabase("deployments and their runs", (open) => {
  let db: Database;
  let rows: DeploymentRows;
  let runs: DeploymentRunRows;
  beforeAll(async () => {
    db = (await open()).db;
    rows = deploymentRows(db);
    runs = deploymentRunRows(db);
  });
  beforeEach(async () => {
    await db.execute(sql`truncate deployments cascade`);
  });

  it("are stored whole under a name that is taken once, and an update leaves nothing of what was", async () => {
    expect(await rows.insert(deployment("d"))).toBe(true);
    expect(await rows.insert(deployment("other", { name: "name of d" }))).toBe(false);
    expect(await rows.find("name of d")).toEqual(deployment("d"));
    const changed = paused(deployment("d", { started: 3, updated_at: minute(9) }));
    await rows.update(changed);
    expect(await rows.find("d")).toEqual(changed);
    expect(await db.transaction((tx) => deploymentRows(tx).claim("d"))).toEqual(changed);
    expect(await rows.find("nobody")).toBeUndefined();
  });

  it("are due on their own host while they are active, the longest due first", async () => {
    await rows.insert(deployment("late", { next_at: minute(2) }));
    await rows.insert(deployment("later", { next_at: minute(1) }));
    await rows.insert(deployment("future", { next_at: minute(9) }));
    await rows.insert(paused(deployment("paused")));
    await rows.insert(deployment("elsewhere", { host_name: "other", next_at: minute(0) }));
    expect(await rows.due("lab", minute(5))).toEqual(["later", "late"]);
    expect(await rows.earliest("lab")).toBe(minute(1));
    expect(await rows.earliest("nowhere")).toBeUndefined();
    expect(await rows.countActive("lab")).toBe(3);
  });

  it("are listed by name with how their newest run stands", async () => {
    await rows.insert(deployment("d"));
    await rows.insert(paused(deployment("a")));
    await runs.insert(run("r1", 1, { status: "passed" }));
    await runs.insert(run("r2", 2, { status: "skipped" }));
    const { found, total } = await rows.list(undefined, 10);
    expect(found.map(({ id, last }) => [id, last])).toEqual([
      ["a", undefined],
      ["d", "skipped"],
    ]);
    expect(total).toBe(2);
    expect((await rows.list("paused", 10)).found.map(({ id }) => id)).toEqual(["a"]);
    expect(await rows.list(undefined, 1)).toMatchObject({ found: [{ id: "a" }], total: 2 });
  });

  it("claim a due time once, however often it is claimed at the same time", async () => {
    await rows.insert(deployment("d"));
    const claims = await Promise.all(["r1", "r2", "r3"].map((id) => runs.insert(run(id, 1))));
    expect(claims.filter((claimed) => claimed)).toHaveLength(1);
    expect(await runs.countOf("d")).toBe(1);
  });

  it("start a queued run once and end an open one once, with the reason it had if the end has none", async () => {
    await rows.insert(deployment("d"));
    const reason = { code: "MISSED", message: "4 times" };
    await runs.insert(run("r1", 1, { reason }));
    expect(await runs.start("r1", minute(1))).toBe(true);
    expect(await runs.start("r1", minute(2))).toBe(false);
    await runs.setExecution("r1", "exec");
    expect(await runs.end("r1", { status: "passed", finished_at: minute(3) })).toBe(true);
    expect(await runs.end("r1", { status: "error", finished_at: minute(4) })).toBe(false);
    const whole = {
      ...run("r1", 1, { status: "passed", reason, execution_id: "exec" }),
      started_at: minute(1),
      finished_at: minute(3),
    };
    expect((await runs.find("r1"))?.run).toEqual(whole);
    expect((await runs.find("r1"))?.deployment).toEqual(deployment("d"));
  });

  it("say what is open of a deployment and of a host, the newest of its history, and go with it", async () => {
    await rows.insert(deployment("d"));
    await rows.insert(deployment("elsewhere", { host_name: "other" }));
    await runs.insert(run("r2", 2, { status: "running" }));
    await runs.insert(run("r3", 3));
    await runs.insert(run("r1", 1, { status: "failed" }));
    await runs.insert(run("far", 1, { deployment_id: "elsewhere" }));
    const ids = (found: readonly DeploymentRun[]) => found.map(({ id }) => id);
    expect(ids(await runs.openOf("d"))).toEqual(["r2", "r3"]);
    expect(ids((await runs.openOn("lab")).map((open) => open.run))).toEqual(["r2", "r3"]);
    const { found, total } = await runs.history("d", undefined, 2);
    expect([ids(found), total]).toEqual([["r3", "r2"], 3]);
    expect(ids((await runs.history("d", "failed", 9)).found)).toEqual(["r1"]);
    await rows.remove("d");
    expect(await runs.countOf("d")).toBe(0);
    expect(await runs.countOf("elsewhere")).toBe(1);
  });
});

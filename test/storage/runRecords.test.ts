import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { analysisRows, type Database, type RunRecord, runRecords } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute, runOf, storeOpenRun, storeRuns } from "../fixtures/executionRecords.ts";

describeEachDatabase("records of runs", (open) => {
  let db: Database;
  beforeAll(async () => {
    db = (await open()).db;
  });
  beforeEach(async () => {
    await db.execute(sql`truncate executions cascade`);
  });
  const asked: RunRecord = {
    ...{ id: "asked", kind: "testcase", name: "login", status: "failed", started_at: minute(20) },
    ...{ device: "lab/box", userinterface: "shop", verified_count: 1, unpassed: [] },
  };
  const failed = { end: { status: "failed" } } as const;
  const idsOf = (runs: readonly RunRecord[]) => runs.map(({ id }) => id);

  it("of one test are the finished others, newest first, with what did not pass and what it was judged", async () => {
    const attempts = [{ id: "late.1", status: "failed" as const, duration_ms: 1 }];
    await storeRuns(db, {
      asked: failed,
      late: { started_at: minute(5), build: "7", end: { status: "error", result: { attempts } } },
      other: { name: "logout" },
      script: { kind: "script" },
    });
    await storeOpenRun(db, "open");
    const step = { index: 0, kind: "check", started_at: minute(1), duration_ms: 1, artifacts: [] };
    const sort = { ...step, input: {}, output: { large: "x" } };
    const error = { code: "VERIFICATION_FAILED", message: "expected Paid" };
    await executionRows(db).insertFinished({
      ...runOf("early", { started_at: minute(1), ...failed }),
      steps: [
        { ...sort, path: "", label: "open", status: "passed" },
        { ...sort, index: 1, path: "a/pay", label: "pay", status: "failed", error },
        { ...sort, index: 2, path: "", label: "leave", status: "skipped" },
      ],
    });
    const analysis = { classification: "BUG", confidence: 1, summary: "s", evidence: [] } as const;
    await analysisRows(db).put({
      ...analysis,
      evidence: [],
      execution_id: "early",
      analyzed_by: "anna",
      at: minute(2),
    });
    const common = { kind: "testcase", name: "login", device: "lab/box", verified_count: 1 };
    expect(await runRecords(db).ofTest(asked)).toEqual([
      { ...common, id: "late", status: "error", started_at: minute(5), build: "7", attempts, unpassed: [] },
      {
        ...{ ...common, id: "early", status: "failed", started_at: minute(1), classification: "BUG" },
        unpassed: [
          { path: "a/pay", label: "pay", status: "failed", error },
          { path: "", label: "leave", status: "skipped" },
        ],
      },
    ]);
  });

  it("keep the last fifty steps that did not pass", async () => {
    const steps = Array.from({ length: 60 }, (_, index) => ({
      ...{ index, path: "", label: `step ${index}`, kind: "check", status: "failed" as const },
      ...{ started_at: minute(1), duration_ms: 1, input: {}, output: {}, artifacts: [] },
    }));
    await executionRows(db).insertFinished({ ...runOf("long", failed), steps });
    const [run] = await runRecords(db).ofTest(asked);
    expect(run?.unpassed.map(({ label }) => label)).toEqual(steps.slice(10).map(({ label }) => label));
  });

  it("before each run are the marks of its test on such a device, newest first, fifteen at most", async () => {
    const web = { device_model: "web", device_version: "chromium 140.0" };
    const marks = Array.from({ length: 17 }, (_, at) => [`m${at}`, { ...web, started_at: minute(at) }]);
    await storeRuns(db, {
      ...Object.fromEntries(marks),
      m15: { ...web, started_at: minute(15), end: { result: { flaky: true }, duration_ms: 7 } },
      m16: { device_model: "web", started_at: minute(16), ...failed },
      now: { ...web, device_version: "chromium 141.0", started_at: minute(20) },
      later: { ...web, started_at: minute(21) },
      box: { started_at: minute(20) },
      ...{ firefox: { ...web, device_version: "firefox 150.0" }, script: { ...web, kind: "script" } },
      ...{ other: { ...web, name: "logout" }, foreign: { ...web, project: "/shop" } },
    });
    await storeOpenRun(db, "open", { ...web, started_at: minute(19) });
    const found = await runRecords(db).marksBefore(["now", "box", "m1", "gone"]);
    expect([...found.keys()].toSorted()).toEqual(["m1", "now"]);
    expect(found.get("m1")?.map(({ execution_id }) => execution_id)).toEqual(["m0"]);
    const [last, before, ...rest] = found.get("now") ?? [];
    expect(last).toEqual({
      ...{ execution_id: "m16", status: "failed", started_at: minute(16), duration_ms: 10 },
    });
    expect(before).toMatchObject({ execution_id: "m15", status: "passed", flaky: true, duration_ms: 7 });
    expect(rest.map(({ execution_id }) => execution_id)).toEqual(
      Array.from({ length: 13 }, (_, at) => `m${14 - at}`),
    );
    expect(await runRecords(db).marksBefore([])).toEqual(new Map());
  });

  it("near a run are tests of its device or app that started within the window", async () => {
    const near = { name: "other", started_at: minute(30) };
    await storeRuns(db, {
      asked: failed,
      device: near,
      app: { ...near, device: "lab/tv", userinterface: "shop", started_at: minute(10) },
      elsewhere: { ...near, device: "lab/tv", userinterface: "radio" },
      before: { ...near, started_at: minute(9) },
      after: { ...near, started_at: minute(31) },
      walk: { ...near, kind: "navigation" },
    });
    const records = runRecords(db);
    expect(idsOf(await records.near(asked, 10 * 60_000))).toEqual(["device", "app"]);
    const { device: _, userinterface: __, ...placeless } = asked;
    expect(await records.near(placeless, 10 * 60_000)).toEqual([]);
  });
});

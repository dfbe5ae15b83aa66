import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import {
  type AnalysisRows,
  analysisRows,
  type Database,
  type ExecutionFilter,
  type ExecutionPlace,
  type ExecutionSearch,
  executionSearch,
} from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute, storeOpenRun, storeRuns } from "../fixtures/executionRecords.ts";
import { saveTestcase } from "../services/lab/requirements/facts.ts";

describeEachDatabase("the search for executions", (open) => {
  let db: Database;
  let search: ExecutionSearch;
  let analyses: AnalysisRows;
  beforeAll(async () => {
    db = (await open()).db;
    search = executionSearch(db);
    analyses = analysisRows(db);
  });
  beforeEach(async () => {
    await db.execute(sql`truncate executions cascade`);
  });
  const idsOf = async (filter: ExecutionFilter) =>
    (await search.page(filter, { limit: 100 })).found.map(({ execution_id }) => execution_id);
  const judge = (execution_id: string) =>
    analyses.put({
      execution_id,
      classification: "BUG",
      confidence: 0.9,
      summary: "s",
      evidence: [],
      analyzed_by: "p",
      at: minute(50),
    });

  it("gives what a row is to say of a run, also of one that still runs", async () => {
    const reason = { code: "VERIFICATION_FAILED", message: "no" };
    await storeRuns(db, { bad: { end: { status: "failed", reason, duration_ms: 7 } } });
    await judge("bad");
    await storeOpenRun(db, "now", { started_at: minute(1) });
    const { found, left } = await search.page({}, { limit: 10 });
    const common = { kind: "testcase", name: "login", device: "lab/box" };
    expect(found).toEqual([
      { ...common, execution_id: "now", status: "running", started_at: minute(1) },
      {
        ...common,
        execution_id: "bad",
        status: "failed",
        reason,
        started_at: minute(0),
        duration_ms: 7,
        classification: "BUG",
      },
    ]);
    expect(left).toBe(2);
    expect(await search.countByStatus({})).toEqual({ failed: 1, running: 1 });
  });

  it("pages give each run once while new ones arrive, also runs that started in one millisecond", async () => {
    const names = Array.from({ length: 9 }, (_, i) => `r${i}`);
    await storeRuns(
      db,
      Object.fromEntries(names.map((id, i) => [id, { started_at: minute(Math.floor(i / 3)) }])),
    );
    const seen: string[] = [];
    const left: number[] = [];
    let after: ExecutionPlace | undefined;
    do {
      const page = await search.page({}, { after, limit: 2 });
      seen.push(...page.found.map(({ execution_id }) => execution_id));
      left.push(page.left);
      after = page.found.at(-1);
      await storeRuns(db, { [`new${left.length}`]: { started_at: minute(40) } });
    } while (after);
    expect(seen).toEqual(["r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0"]);
    expect(left).toEqual([9, 7, 5, 3, 1, 0]);
  });

  it("every filter holds, alone and together, for the page and the counts", async () => {
    const other = {
      kind: "navigation",
      name: "go",
      device: "lab/tv",
      userinterface: "shop",
      environment: "staging",
      release: "1.2",
      build: "7",
      correlation_id: "other",
      started_at: minute(5),
      end: { status: "error" },
    } as const;
    await storeRuns(db, { plain: {}, other });
    await judge("other");
    const filters: ExecutionFilter[] = [
      { kind: "navigation" },
      { name: "go" },
      { status: "error" },
      { device: "lab/tv" },
      { device: "tv" },
      { userinterface: "shop" },
      { environment: "staging" },
      { release: "1.2" },
      { build: "7" },
      { correlation_id: "other" },
      { classification: "BUG" },
      { since: minute(5) },
      { name: "go", build: "7", classification: "BUG", until: minute(6) },
    ];
    for (const filter of filters) {
      expect(await idsOf(filter), JSON.stringify(filter)).toEqual(["other"]);
      expect(await search.countByStatus(filter), JSON.stringify(filter)).toEqual({ error: 1 });
    }
    expect(await idsOf({ classification: "none" })).toEqual(["plain"]);
    expect(await idsOf({ until: minute(5) })).toEqual(["plain"]);
    for (const filter of [{ device: "lab" }, { device: "t" }, { name: "GO" }, { name: "'; --" }])
      expect(await idsOf(filter), JSON.stringify(filter)).toEqual([]);
    expect(await search.countByStatus({ name: "nobody" })).toEqual({});
  });

  it("a tag finds the runs of saved tests that have it now, also runs for a row", async () => {
    await db.execute(sql`truncate testcases cascade`);
    await saveTestcase(db, "login", { tags: ["smoke", "fast"] });
    await saveTestcase(db, "logout", { tags: ["smoke too"] });
    await storeRuns(db, {
      run: { started_at: minute(1) },
      row: { name: "login [anna]", input: { testcase: "login" } },
      other: { name: "logout" },
      script: { kind: "script" },
      foreign: { project: "/elsewhere" },
    });
    expect(await idsOf({ tag: "smoke" })).toEqual(["run", "row"]);
    expect(await search.countByStatus({ tag: "smoke" })).toEqual({ passed: 2 });
    expect(await idsOf({ tag: "smoke", name: "login" })).toEqual(["run"]);
    await saveTestcase(db, "login", { tags: ["slow"] });
    expect(await idsOf({ tag: "smoke" })).toEqual([]);
  });
});

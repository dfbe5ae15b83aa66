import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { ExecutionStatus } from "#mcp-server/domain/index.ts";
import { type Analysis, type AnalysisRows, analysisRows, type Database } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { minute, storeOpenRun, storeRuns } from "../fixtures/executionRecords.ts";

const analysis = (execution_id: string, more: Partial<Analysis> = {}): Analysis => ({
  execution_id,
  classification: "BUG",
  confidence: 0.85,
  summary: "The total is wrong",
  evidence: ["artifact://1", "step 3"],
  analyzed_by: "anna",
  at: minute(50),
  ...more,
});

describeEachDatabase("analyses", (open) => {
  let db: Database;
  let rows: AnalysisRows;
  beforeAll(async () => {
    db = (await open()).db;
    rows = analysisRows(db);
  });
  beforeEach(async () => {
    await db.execute(sql`truncate executions cascade`);
  });
  const ended = (status: Exclude<ExecutionStatus, "queued" | "running">, n: number) => ({
    started_at: minute(n),
    end: { status, finished_at: minute(n) },
  });

  it("replace each other, and one that says the same changes nothing", async () => {
    await storeRuns(db, { r: {} });
    expect(await rows.find("r")).toBeUndefined();
    expect(await rows.put(analysis("r"))).toBe(true);
    expect(await rows.put(analysis("r", { at: minute(51) }))).toBe(false);
    expect(await rows.find("r")).toEqual(analysis("r"));
    const changes: Partial<Analysis>[] = [
      { confidence: 0.5 },
      { summary: "another" },
      { evidence: [] },
      { analyzed_by: "ben" },
      { classification: "SCRIPT_ISSUE" },
    ];
    for (const change of changes) {
      await rows.put(analysis("r"));
      expect(await rows.put(analysis("r", { ...change, at: minute(52) })), JSON.stringify(change)).toBe(true);
      expect(await rows.find("r")).toEqual(analysis("r", { ...change, at: minute(52) }));
    }
    await expect(rows.put(analysis("nobody"))).rejects.toThrow();
  });

  it("are awaited by finished tests and scripts, what did not pass first, then by age", async () => {
    await storeRuns(db, {
      pass: ended("passed", 1),
      stopped: ended("cancelled", 2),
      late: ended("timeout", 9),
      wrong: ended("error", 8),
      bad: ended("failed", 7),
      judged: ended("failed", 0),
      walk: { ...ended("failed", 0), kind: "navigation" },
      taps: { ...ended("failed", 0), kind: "actions" },
    });
    await storeOpenRun(db, "running");
    await db.execute(sql`update executions set kind = 'script' where id = 'wrong'`);
    await rows.put(analysis("judged"));
    expect(await rows.nextAwaiting(10)).toEqual(["bad", "wrong", "late", "pass", "stopped"]);
    expect(await rows.nextAwaiting(2)).toEqual(["bad", "wrong"]);
    expect(await rows.nextAwaiting(10, minute(8))).toEqual(["wrong", "late"]);
    expect(await rows.oldestAwaiting()).toEqual({
      execution_id: "pass",
      name: "login",
      status: "passed",
      finished_at: minute(1),
    });
    expect((await rows.oldestAwaiting(minute(8)))?.execution_id).toBe("wrong");
    expect(await rows.oldestAwaiting(minute(30))).toBeUndefined();
    expect(await rows.countByClass()).toEqual({ awaiting: 5, classified: { BUG: 1 } });
    expect(await rows.countByClass(minute(1))).toEqual({ awaiting: 5, classified: {} });
  });
});

import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { EventInput } from "#mcp-server/services/index.ts";
import { createEvents } from "#mcp-server/services/records/events.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { createJudgements } from "#mcp-server/services/runs/judgement/index.ts";
import {
  type AnalysisRequest,
  createResults,
  type ResultDependencies,
  type ResultService,
} from "#mcp-server/services/runs/results/index.ts";
import { analysisRows, eventRows, runRecords, type Storage } from "#mcp-server/storage/index.ts";
import { executionRows } from "#mcp-server/storage/rows/executionRows.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { minute, storeOpenRun, storeRuns } from "../../../fixtures/executionRecords.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";

const failed = { end: { status: "failed", finished_at: minute(1) } } as const;
const judged = (execution_id: string, more: Partial<AnalysisRequest> = {}): AnalysisRequest => ({
  execution_id,
  classification: "BUG",
  confidence: 0.9,
  summary: "The total is wrong",
  evidence: ["step 3"],
  ...more,
});

describeEachDatabase("results", (open) => {
  let storage: Storage;
  let results: ResultService;
  let events: EventInput[];
  let eventFault: Error | undefined;
  const clock = fakeClock();
  beforeAll(async () => {
    storage = await open();
    results = createResults(dependencies());
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate executions cascade`);
    events = [];
    eventFault = undefined;
  });

  function dependencies(): ResultDependencies {
    const { db, listen } = storage;
    const outbox = createEvents({ rows: eventRows(db), clock, secrets: testSecrets(), listen });
    const append = outbox.append.bind(outbox);
    const secrets = testSecrets({ PIN: "4711-secret" });
    const executions = createExecutions({
      notices: createNotices(),
      rows: executionRows(db),
      devices: simulatedDevices(),
      events: outbox,
      secrets,
      clock,
      host: "lab",
    });
    return {
      db,
      executions,
      judgements: createJudgements({
        ...{ executions, analyses: analysisRows(db), records: runRecords(db) },
        memory: { recall: async () => [] },
      }),
      secrets,
      clock,
      events: {
        append: async (tx, event) => {
          if (eventFault) throw eventFault;
          events.push(event);
          return append(tx, event);
        },
      },
    };
  }
  const stored = (id: string) => analysisRows(storage.db).find(id);
  const analyze = (request: AnalysisRequest, principal = "anna") =>
    results.analyze(request, callContext({ principal }));

  it("an analysis is stored with who and when, its event in the same transaction", async () => {
    await storeRuns(storage.db, { r: failed });
    const reply = await analyze(judged("r"));
    expect(reply).toEqual({ execution_id: "r", name: "login", status: "failed", classification: "BUG" });
    expect(await stored("r")).toMatchObject({
      confidence: 0.9,
      evidence: ["step 3"],
      analyzed_by: "anna",
      at: new Date(clock.now()).toISOString(),
    });
    expect(events).toMatchObject([
      {
        type: "execution.analyzed",
        execution_id: "r",
        device_id: "lab/box",
        payload: { name: "login", status: "failed", classification: "BUG", analyzed_by: "anna" },
      },
    ]);
    eventFault = new Error("no events");
    await expect(analyze(judged("r", { classification: "SCRIPT_ISSUE" }))).rejects.toThrow("no events");
    expect((await stored("r"))?.classification).toBe("BUG");
  });

  it("the last analysis stands and says what it replaced; the same again publishes no event", async () => {
    await storeRuns(storage.db, { r: failed });
    await analyze(judged("r"));
    await analyze(judged("r"));
    expect(events).toHaveLength(1);
    const reply = await analyze(judged("r", { classification: "VALID_FAIL" }), "ben");
    expect(reply).toMatchObject({ classification: "VALID_FAIL", before: "BUG" });
    expect(await stored("r")).toMatchObject({ classification: "VALID_FAIL", analyzed_by: "ben" });
    expect(events.at(-1)?.payload).toMatchObject({ classification: "VALID_FAIL", before: "BUG" });
  });

  it("of ten that judge at once each event names the one before it, the last what is stored", async () => {
    await storeRuns(storage.db, { r: failed });
    const classes = ["BUG", "VALID_FAIL", "SCRIPT_ISSUE", "SYSTEM_ISSUE"] as const;
    const all = Array.from({ length: 10 }, (_, i) => classes[i % 4] ?? "BUG");
    await Promise.all(all.map((classification, i) => analyze(judged("r", { classification }), `p${i}`)));
    const said = events.map(({ payload }) => payload);
    expect(said).toHaveLength(10);
    expect(said.slice(1).map(({ before }) => before)).toEqual(
      said.slice(0, -1).map(({ classification }) => classification),
    );
    expect((await stored("r"))?.classification).toBe(said.at(-1)?.classification);
  });

  it("an analysis is refused for a run that goes on, that is not there, or whose verdict says otherwise", async () => {
    await storeRuns(storage.db, { good: {}, bad: failed });
    await storeOpenRun(storage.db, "open");
    await storeOpenRun(storage.db, "waiting", { status: "queued" });
    for (const id of ["open", "waiting"]) {
      await expect(analyze(judged(id))).rejects.toMatchObject({
        code: "INVALID_INPUT",
        hint: expect.stringContaining("get_execution_status"),
      });
    }
    for (const id of ["nobody", "\u0000"])
      await expect(analyze(judged(id))).rejects.toMatchObject({ code: "EXECUTION_NOT_FOUND" });
    await expect(analyze(judged("good"))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("VALID_PASS"),
    });
    await expect(analyze(judged("bad", { classification: "VALID_PASS" }))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("VALID_FAIL"),
    });
    expect(events).toEqual([]);
    await analyze(judged("good", { classification: "SCRIPT_ISSUE" }));
    expect((await stored("good"))?.classification).toBe("SCRIPT_ISSUE");
  });

  it("secrets are masked before they are stored or reported, and no text breaks the database", async () => {
    await storeRuns(storage.db, { r: failed });
    await analyze(
      judged("r", { summary: "typed 4711-secret \u0000\ud800", evidence: ["PIN 4711-secret", "\u0000"] }),
    );
    expect(await stored("r")).toMatchObject({
      summary: "typed [secret PIN] \ufffd\ufffd",
      evidence: ["PIN [secret PIN]", "\ufffd"],
    });
    expect(JSON.stringify(events)).not.toContain("4711-secret");
  });

  it("a search pages to the end within its tokens, and says honestly how many are left", async () => {
    const ids = Array.from({ length: 30 }, (_, i) => `run${String(i).padStart(2, "0")}`);
    await storeRuns(
      storage.db,
      Object.fromEntries(ids.map((id, i) => [id, { ...(i % 2 ? failed : {}), started_at: minute(i) }])),
    );
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await results.search({ before, maxTokens: 500 });
      expect(page.counts).toEqual({ passed: 15, failed: 15 });
      seen.push(...page.executions.map(({ execution_id }) => execution_id));
      expect(page.more).toBe(30 - seen.length);
      expect(page.executions.length).toBeGreaterThan(1);
      before = page.next;
    } while (before);
    expect(seen).toEqual(ids.toReversed());
    expect((await results.search({ maxTokens: 50_000 })).more).toBe(0);
  });

  it("a search reads times and names as they are typed, and refuses what is not a time and no cursor", async () => {
    await storeRuns(storage.db, { r: { name: "a\ufffdb" } });
    const found = await results.search({
      name: "a\u0000b",
      since: "2029-12-31T23:00:00-01:00",
      until: "2030-01-02",
      maxTokens: 500,
    });
    expect(found.executions).toMatchObject([{ execution_id: "r" }]);
    for (const wrong of [{ since: "yesterday" }, { until: "2030" }, { before: "r" }]) {
      await expect(results.search({ ...wrong, maxTokens: 500 })).rejects.toMatchObject({
        code: "INVALID_INPUT",
        message: expect.stringContaining(Object.keys(wrong)[0] ?? ""),
      });
    }
  });

  it("the queue gets shorter with each analysis", async () => {
    const runs = Array.from({ length: 12 }, (_, i) => [`r${i}`, { ...failed, started_at: minute(i) }]);
    await storeRuns(storage.db, Object.fromEntries(runs));
    const full = await results.queue({ maxTokens: 500 });
    expect(full).toMatchObject({ awaiting: 12, classified: {} });
    expect(full.next).toHaveLength(10);
    const [first, ...rest] = full.judgements;
    expect(first).toMatchObject({ execution_id: full.next[0], decided: false });
    expect(rest.length).toBeLessThan(9);
    expect((await results.queue({ maxTokens: 50_000 })).judgements).toHaveLength(10);
    await analyze(judged(full.next[0] ?? ""));
    const less = await results.queue({ since: "2030-01-01", maxTokens: 500 });
    expect(less).toMatchObject({ awaiting: 11, classified: { BUG: 1 } });
    expect(less.next).not.toContain(full.next[0]);
    const none = await results.queue({ since: "2031-01-01", maxTokens: 500 });
    expect(none).toEqual({ awaiting: 0, next: [], classified: {}, judgements: [] });
    await expect(results.queue({ since: "soon", maxTokens: 500 })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  });
});

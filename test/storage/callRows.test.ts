import { desc } from "drizzle-orm";
import { beforeAll, expect, it } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import { type CallRows, callRows } from "#mcp-server/storage/index.ts";
import {
  type ExecutionRows,
  executionRows,
  type FinishedRun,
} from "#mcp-server/storage/rows/executionRows.ts";
import { audit as auditTable } from "#mcp-server/storage/schema/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const day = (n: number) => new Date(Date.UTC(2030, 0, n)).toISOString();
const call = { tool: "save_testcase", input_hash: "abc", at: day(1) };
const audit = {
  principal: "p",
  client: "c",
  tool: "save_testcase",
  outcome: "ok",
  duration_ms: 1.6,
  trace_id: "t",
  at: day(2),
};
const step = (index: number): Step => ({
  index,
  path: "0",
  kind: "actions",
  label: `it's step ${index}`,
  status: "failed",
  started_at: day(1),
  duration_ms: 1,
  input: { text: 'a \\ " ☃' },
  output: null,
  artifacts: [],
});
const run = (id: string, execution: Partial<FinishedRun["execution"]> = {}): FinishedRun => ({
  execution: {
    id,
    kind: "actions",
    name: "input_text",
    status: "running",
    input: { actions: [] },
    started_at: day(1),
    host_name: "lab",
    device: "lab/box",
    device_model: "web",
    environment: "staging",
    triggered_by: "p",
    correlation_id: "c",
    verified_count: 0,
    outputs: {},
    ...execution,
  },
  steps: [step(0), step(1)],
  end: {
    status: "failed",
    reason: { code: "ELEMENT_NOT_FOUND", message: "gone" },
    finished_at: day(2),
    duration_ms: 7,
    verified_count: 2,
    outputs: { a: [1, null] },
    result: { ok: false },
  },
});

describeEachDatabase("calls", (open) => {
  let rows: CallRows;
  let executions: ExecutionRows;
  let audited: () => Promise<(typeof auditTable.$inferSelect)[]>;
  beforeAll(async () => {
    const { db } = await open();
    audited = () => db.select().from(auditTable).orderBy(desc(auditTable.id));
    rows = callRows(db);
    executions = executionRows(db);
  });
  const begin = async (name: string) => {
    const key = { principal: "p", key: name };
    expect(await rows.begin(key, call)).toBeUndefined();
    return key;
  };

  it("are begun once for their key, however many ask", async () => {
    const key = { principal: "p", key: "race" };
    const begun = await Promise.all(Array.from({ length: 20 }, () => rows.begin(key, call)));
    expect(begun.filter((before) => before === undefined)).toHaveLength(1);
    expect(begun.find((before) => before !== undefined)).toEqual({
      tool: call.tool,
      input_hash: "abc",
      result: null,
    });
    expect(await rows.begin({ principal: "other", key: "race" }, call)).toBeUndefined();
  });

  it("keep their first end, until old keys are forgotten", async () => {
    const key = await begin("ended");
    await rows.end({ audit, begun: { key, result: { outcome: { ok: true } } }, runs: [] });
    await rows.end({ audit, begun: { key, result: { outcome: { ok: false } } }, runs: [] });
    expect((await rows.find(key))?.result).toEqual({ outcome: { ok: true } });
    await rows.purgeKeys(day(2));
    expect(await rows.find(key)).toBeUndefined();
  });

  it("say who did what to which device, newest first, until that is forgotten", async () => {
    await rows.end({ audit: { ...audit, tool: "rename", at: day(1) }, runs: [] });
    const onDevice = { ...audit, tool: "execute_device_action", device_id: "h/d", fence: 7, at: day(3) };
    await rows.end({ audit: onDevice, runs: [] });
    const recent = (await audited()).slice(0, 2);
    expect(recent).toEqual([
      { ...onDevice, duration_ms: 2, id: expect.any(Number) },
      {
        ...audit,
        tool: "rename",
        at: day(1),
        duration_ms: 2,
        id: expect.any(Number),
        device_id: null,
        fence: null,
      },
    ]);
    expect(await rows.recent({ limit: 1 })).toEqual([{ ...onDevice, duration_ms: 2 }]);
    const toolsOf = async (filter: object) =>
      (await rows.recent({ limit: 10, ...filter })).map(({ tool }) => tool);
    expect(await toolsOf({ tool: "rename" })).toEqual(["rename"]);
    expect(await toolsOf({ since: day(3) })).toEqual(["execute_device_action"]);
    expect(await toolsOf({ client: audit.client.slice(0, 2), tool: "rename" })).toEqual(["rename"]);
    expect(await toolsOf({ client: "%" })).toEqual([]);
    await rows.purgeAudit(day(2));
    expect((await audited()).map(({ tool }) => tool)).not.toContain("rename");
  });

  it("leave runs that read as those which were stored row by row", async () => {
    const { execution, steps, end } = run("by-row");
    await executions.insert(execution);
    for (const one of steps) await executions.appendStep(execution.id, one);
    await executions.finish(execution.id, end, undefined);
    await rows.end({ audit, runs: [run("left-1"), run("left-2")] });
    await executions.insertFinished(run("alone"));
    const expected = await executions.find("by-row");
    for (const id of ["left-1", "left-2", "alone"]) {
      expect(await executions.find(id)).toEqual({ ...expected, execution: { ...expected?.execution, id } });
      expect(await executions.steps(id)).toEqual(await executions.steps("by-row"));
    }
    expect(await executions.steps("alone")).toEqual(steps);
  });

  it("leave a run that is stored already as it is: the word of an end may have been lost, not the end", async () => {
    const again = { ...run("again"), end: { ...run("again").end, status: "passed" as const } };
    await executions.insertFinished(run("again"));
    await executions.insertFinished(again);
    await rows.end({ audit, runs: [again] });
    expect((await executions.find("again"))?.execution.status).toBe("failed");
    expect(await executions.steps("again")).toHaveLength(2);
  });

  it("end a run whose row and step are there though their word was lost, and store each once", async () => {
    for (const id of ["lost-1", "lost-2", "lost-3"]) {
      await executions.insert(run(id).execution);
      await executions.insert(run(id).execution);
    }
    await executions.insertFinished(run("lost-1"));
    await rows.end({ audit, runs: [run("lost-2")] });
    for (const one of run("lost-3").steps) {
      await executions.appendStep("lost-3", one);
      await executions.appendStep("lost-3", one);
    }
    await executions.finish("lost-3", run("lost-3").end, undefined);
    await executions.insertFinished(run("whole"));
    const expected = await executions.find("whole");
    for (const id of ["lost-1", "lost-2", "lost-3"]) {
      expect(await executions.find(id)).toEqual({ ...expected, execution: { ...expected?.execution, id } });
      expect(await executions.steps(id)).toEqual(run(id).steps);
    }
  });

  it("are stored with all that they leave or with nothing of it", async () => {
    const key = await begin("torn");
    const before = await audited();
    const broken = { ...run("broken"), steps: [step(0), step(0)] };
    const end = { audit, begun: { key, result: { outcome: {} } } };
    await expect(rows.end({ ...end, runs: [run("sound"), broken] })).rejects.toThrow();
    expect(await rows.find(key)).toMatchObject({ result: null });
    expect(await executions.find("sound")).toBeUndefined();
    expect(await audited()).toEqual(before);
    await rows.end({ ...end, runs: [run("sound")] });
    expect(await executions.find("sound")).toBeDefined();
  });
});

import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it, vi } from "vitest";
import {
  type CoverageRows,
  coverageRows,
  type RequirementRows,
  requirementRows,
  type Storage,
} from "#mcp-server/storage/index.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { describeEachDatabase } from "../fixtures/database.ts";
import { draft, minute, saveTestcase, storeRun } from "../services/lab/requirements/facts.ts";

describeEachDatabase("requirements", (open) => {
  let storage: Storage;
  let rows: RequirementRows;
  let coverage: CoverageRows;
  beforeAll(async () => {
    storage = await open();
    rows = requirementRows(storage.db);
    coverage = coverageRows(storage.db);
  });
  beforeEach(() =>
    storage.pool.query("truncate requirements, requirement_links, testcases, executions cascade"),
  );

  /** Stores a requirement and gives its id. */
  async function stored(code: string, more: Parameters<typeof draft>[0] = {}) {
    const requirement = await rows.insert(draft({ code, ...more }), minute(0));
    if (!requirement) throw new Error(`${code} is taken`);
    return requirement.id;
  }

  it("gives back what was stored, by code or id, a code before an id", async () => {
    const given = draft({
      code: "LOGIN-1",
      description: "Ünïcode & <b>",
      category: "login",
      acceptance_criteria: ["one", "two"],
      priority: "P1",
      status: "draft",
    });
    const requirement = await rows.insert(given, minute(1));
    expect(requirement).toEqual({ ...given, created_at: minute(1), updated_at: minute(1) });
    expect(await rows.find("LOGIN-1")).toEqual(requirement);
    expect(await rows.find(given.id)).toEqual(requirement);
    const other = await stored(given.id);
    expect((await rows.find(given.id))?.id).toBe(other);
    expect(await rows.find("LOGIN-2")).toBeUndefined();
  });

  it("refuses a code that is taken, also when it is asked for many times at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => rows.insert(draft({ code: "ONCE" }), minute(0))),
    );
    expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await rows.codes()).toEqual(["ONCE"]);
  });

  it("numbers after the highest, and no two that are made at once have the same number", async () => {
    const next = async () => (await rows.insert(draft(), minute(0)))?.code;
    expect(await next()).toBe("REQ-001");
    for (const code of ["REQ-7", "REQ-008-b", "req-900", "REQ-x"]) await stored(code);
    expect(await next()).toBe("REQ-008");
    const codes = await Promise.all(Array.from({ length: 30 }, next));
    const expected = Array.from({ length: 30 }, (_, n) => `REQ-${String(n + 9).padStart(3, "0")}`);
    expect(codes.sort()).toEqual(expected);
    await stored("REQ-99999999999999999999");
    expect(await next()).toBe("REQ-100000000000000000000");
  });

  it("numbers next to codes that are given at the same time", async () => {
    const given = ["REQ-001", "REQ-002", "REQ-003", "REQ-010"];
    const made = await Promise.all([
      ...given.map((code) => rows.insert(draft({ code }), minute(0))),
      ...given.map(() => rows.insert(draft(), minute(0))),
    ]);
    const codes = made.flatMap((one) => (one ? [one.code] : []));
    expect(new Set(codes).size).toBe(codes.length);
    // One without a code always gets one.
    expect(made.slice(given.length).every((one) => one !== undefined)).toBe(true);
  });

  it("changes what is given, clears a category, and leaves the rest", async () => {
    const id = await stored("A", { category: "login", description: "old", priority: "P1" });
    await stored("B");
    expect(await rows.update(id, { description: "new", status: undefined }, minute(2))).toMatchObject({
      code: "A",
      description: "new",
      category: "login",
      priority: "P1",
      status: "active",
      created_at: minute(0),
      updated_at: minute(2),
    });
    expect(await rows.update(id, { category: null }, minute(3))).not.toHaveProperty("category");
    expect(await rows.update(id, { code: "B", name: "no" }, minute(4))).toBeUndefined();
    expect(await rows.find("A")).toMatchObject({ name: "Login works", updated_at: minute(3) });
    expect(await rows.update(id, { code: "A", name: "same code" }, minute(5))).toMatchObject({ code: "A" });
    expect(await rows.update(id, { code: "C" }, minute(6))).toMatchObject({ code: "C", name: "same code" });
  });

  it("lets one of two have a code that both change to at once", async () => {
    const ids = [await stored("A"), await stored("B")];
    const changed = await Promise.all(ids.map((id) => rows.update(id, { code: "C" }, minute(1))));
    expect(changed.filter((one) => one !== undefined)).toHaveLength(1);
  });

  it("lists by code, filters, and finds words in every text as they are", async () => {
    await stored("b", { priority: "P1", category: "login", description: "100% of A_B" });
    await stored("B", { status: "draft", name: "Player seeks Über" });
    await stored("a", { category: "login", acceptance_criteria: ['says "Wrong password"'] });
    const codes = async (filter: Parameters<RequirementRows["list"]>[0]) =>
      (await rows.list(filter)).map(({ code }) => code);
    expect(await codes({})).toEqual(["B", "a", "b"]);
    expect(await codes({ category: "login" })).toEqual(["a", "b"]);
    expect(await codes({ category: "login", priority: "P1" })).toEqual(["b"]);
    expect(await codes({ status: "draft" })).toEqual(["B"]);
    expect(await codes({ words: ["PLAYER", "üBER"] })).toEqual(["B"]);
    expect(await codes({ words: ['"wrong', "login"] })).toEqual(["a"]);
    expect(await codes({ words: ["0%", "a_b"] })).toEqual(["b"]);
    expect(await codes({ words: ["%"] })).toEqual(["b"]);
    expect(await codes({ words: ["x_b"] })).toEqual([]);
    expect(await codes({ words: ["\\"] })).toEqual([]);
  });

  it("links once when asked many times at once", async () => {
    const id = await stored("A");
    const testcase = await saveTestcase(storage.db, "t");
    const results = await Promise.all(
      Array.from({ length: 20 }, () => rows.link(id, testcase, "full", minute(1))),
    );
    expect(results.filter((result) => result === "linked")).toHaveLength(1);
    expect(results.filter((result) => result === "unchanged")).toHaveLength(19);
  });

  it("gives what test cases check, and forgets the links of one that is deleted", async () => {
    const [a, b] = [await stored("A", { priority: "P1" }), await stored("B")];
    const [first, second] = [
      await saveTestcase(storage.db, "first"),
      await saveTestcase(storage.db, "second"),
    ];
    await rows.link(b, first, "partial", minute(1));
    await rows.link(a, first, "full", minute(1));
    await rows.link(a, second, "full", minute(1));
    const line = { name: "Login works", status: "active", project: "" };
    expect(await rows.requirementsOf([{ name: "first" }, { name: "unknown" }])).toEqual([
      { ...line, code: "A", priority: "P1", testcase: "first", coverage: "full" },
      { ...line, code: "B", priority: "P2", testcase: "first", coverage: "partial" },
    ]);
    expect(await rows.requirementsOf([{ name: "second" }, { name: "first" }])).toHaveLength(3);
    expect(await rows.requirementsOf([])).toEqual([]);
    await testcaseRows(storage.db).remove(first);
    expect(await rows.requirementsOf([{ name: "second" }, { name: "first" }])).toMatchObject([
      { code: "A", testcase: "second" },
    ]);
    expect(await rows.linked(b)).toEqual({ full: 0, partial: 0 });
  });

  it("counts a test case that names it in covers, unless its link says how much, and until it is archived", async () => {
    const a = await stored("A");
    const id = await saveTestcase(storage.db, "first", { covers: ["A", "A", "LATER"] });
    expect(await rows.linked(a)).toEqual({ full: 1, partial: 0 });
    const later = await stored("LATER");
    expect(await coverage.uncovered({})).toEqual([]);
    await storeRun(storage.db, { name: "first", status: "failed", at: 1, project: "/another/project" });
    expect(await coverage.of(later, {})).toMatchObject([{ testcases: [{ testcase: "first" }] }]);
    expect((await coverage.of(later, {}))[0]?.testcases[0]).not.toHaveProperty("run");
    await storeRun(storage.db, { name: "first", status: "passed", at: 2 });
    expect(await coverage.of(later, {})).toMatchObject([{ testcases: [{ run: { status: "passed" } }] }]);
    await rows.link(a, id, "partial", minute(1));
    expect(await rows.linked(a)).toEqual({ full: 0, partial: 1 });
    await testcaseRows(storage.db).archive(id, minute(3));
    expect(await rows.linked(a)).toEqual({ full: 0, partial: 0 });
    expect(await coverage.uncovered({})).toHaveLength(2);
  });

  it("gives the last run that judged each test case", async () => {
    const { db } = storage;
    const id = await stored("A");
    for (const name of ["never", "twice", "stopped"])
      await rows.link(id, await saveTestcase(db, name), "full", minute(0));
    await storeRun(db, { name: "twice", status: "failed", at: 1 });
    const last = await storeRun(db, { name: "twice", status: "passed", at: 3 });
    await storeRun(db, { name: "twice", status: "error", at: 2 });
    await storeRun(db, { name: "twice", status: "failed", at: 9, kind: "navigation" });
    const judged = await storeRun(db, { name: "stopped", status: "timeout", at: 1 });
    await storeRun(db, { name: "stopped", status: "cancelled", at: 2 });
    await storeRun(db, { name: "stopped", status: "running", at: 3 });
    await storeRun(db, { name: "stopped", status: "queued", at: 4 });
    expect(await coverage.of(id, {})).toEqual([
      {
        code: "A",
        name: "Login works",
        priority: "P2",
        testcases: [
          { testcase: "never", coverage: "full" },
          {
            testcase: "stopped",
            coverage: "full",
            run: { status: "timeout", execution_id: judged, at: minute(1) },
          },
          {
            testcase: "twice",
            coverage: "full",
            run: { status: "passed", execution_id: last, at: minute(3) },
          },
        ],
      },
    ]);
  });

  it("looks only at the runs that a filter lets through", async () => {
    const { db } = storage;
    const id = await stored("A");
    await rows.link(id, await saveTestcase(db, "t"), "full", minute(0));
    const where = { environment: "staging", release: "1.4", build: "7", userinterface: "shop" };
    const other = { environment: "prod", release: "1.5", build: "8", userinterface: "box" };
    await storeRun(db, { name: "t", status: "passed", at: 1, ...where });
    await storeRun(db, { name: "t", status: "failed", at: 2, ...other });
    const statusIn = async (filter: Parameters<CoverageRows["of"]>[1]) =>
      (await coverage.of(id, filter))[0]?.testcases[0]?.run?.status;
    expect(await statusIn({})).toBe("failed");
    expect(await statusIn(where)).toBe("passed");
    for (const key of ["environment", "release", "build", "userinterface"] as const) {
      expect(await statusIn({ [key]: where[key] })).toBe("passed");
      expect(await statusIn({ [key]: other[key] })).toBe("failed");
      expect(await statusIn({ [key]: "elsewhere" })).toBeUndefined();
    }
    expect(await statusIn({ ...where, build: other.build })).toBeUndefined();
  });

  it("reports two thousand requirements with ten thousand links in one statement", async () => {
    await storage.db.execute(sql`insert into requirements
      select 'id' || n, 'REQ-' || lpad(n::text, 4, '0'), 'name', '', 'P' || (n % 3 + 1), null, '[]',
        case when n > 2000 then 'deprecated' else 'active' end, now(), now() from generate_series(1, 2001) n`);
    await storage.db.execute(sql`insert into testcases
      select 'id' || n, 'case ' || n, null, '{}', now(), now() from generate_series(1, 500) n`);
    await storage.db.execute(sql`insert into requirement_links
      select 'id' || r, 'id' || ((r * 5 + t) % 500 + 1), case t when 0 then 'full' else 'partial' end, now()
      from generate_series(1, 2000) r, generate_series(0, 4) t`);
    for (const at of [1, 2]) await storeRun(storage.db, { name: "case 6", status: "passed", at });
    const query = vi.spyOn(storage.pool, "query");
    const all = await coverage.of(undefined, {});
    expect(query).toHaveBeenCalledTimes(1);
    query.mockRestore();
    expect(all).toHaveLength(2_000);
    expect(all[0]).toMatchObject({ code: "REQ-0001", priority: "P2" });
    expect(all.every(({ testcases }) => testcases.length === 5)).toBe(true);
    const runs = all.flatMap(({ testcases }) => testcases).filter(({ run }) => run !== undefined);
    expect(runs.length).toBe(20);
    expect(runs.every(({ run }) => run?.at === minute(2))).toBe(true);
    expect(await coverage.uncovered({})).toEqual([]);
  });

  it("gives what no link covers in full, the most important first", async () => {
    const testcase = await saveTestcase(storage.db, "t");
    const more = await saveTestcase(storage.db, "u");
    const part = await stored("a part", { priority: "P1", category: "login" });
    await stored("none P3", { priority: "P3" });
    await stored("z none P1", { priority: "P1" });
    const whole = await stored("whole", { priority: "P1" });
    await stored("gone", { status: "deprecated" });
    await rows.link(part, testcase, "partial", minute(0));
    await rows.link(part, more, "partial", minute(0));
    await rows.link(whole, testcase, "partial", minute(0));
    await rows.link(whole, more, "full", minute(0));
    expect(await coverage.uncovered({})).toEqual([
      { code: "z none P1", name: "Login works", priority: "P1", partial: 0 },
      { code: "a part", name: "Login works", priority: "P1", category: "login", partial: 2 },
      { code: "none P3", name: "Login works", priority: "P3", partial: 0 },
    ]);
    expect(await coverage.uncovered({ priority: "P3" })).toMatchObject([{ code: "none P3" }]);
    expect(await coverage.uncovered({ category: "login" })).toMatchObject([{ code: "a part" }]);
    const all = await coverage.of(undefined, {});
    expect(all.map(({ code }) => code)).toEqual(["a part", "none P3", "whole", "z none P1"]);
    const gone = await rows.find("gone");
    expect(await coverage.of(gone?.id ?? randomUUID(), {})).toMatchObject([{ code: "gone", testcases: [] }]);
  });
});

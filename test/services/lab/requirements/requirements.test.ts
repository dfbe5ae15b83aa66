import { ToolError } from "@labwright/mcp-server";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createRequirements, type RequirementService } from "#mcp-server/services/lab/requirements/index.ts";
import { coverageRows, requirementRows, type Storage } from "#mcp-server/storage/index.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { fakeClock } from "../../../fixtures/fakeClock.ts";
import { draft, saveTestcase, storeRun } from "./facts.ts";

const { id: _, ...blank } = draft();
const tokens = 2_000;

/** The service over a real database; of apps it knows `shop`, whose id is `shop-id`. */
function serviceOf({ db }: Storage, clock = fakeClock()): RequirementService {
  const rows = testcaseRows(db);
  return createRequirements({
    rows: requirementRows(db),
    coverage: coverageRows(db),
    testcases: {
      async load(ref) {
        const [found] = await rows.named(ref);
        if (found) return found;
        throw new ToolError(
          "TESTCASE_NOT_FOUND",
          `There is no test case "${ref}".`,
          "list_testcases shows all.",
        );
      },
    },
    apps: {
      async get(ref) {
        if (ref === "shop" || ref === "shop-id") return { name: "shop" };
        throw new ToolError("USERINTERFACE_NOT_FOUND", `There is no userinterface "${ref}".`, "shop?");
      },
    },
    clock,
  });
}

describeEachDatabase("the requirement service", (open) => {
  let storage: Storage;
  let service: RequirementService;
  beforeAll(async () => {
    storage = await open();
    service = serviceOf(storage);
  });
  beforeEach(() =>
    storage.pool.query("truncate requirements, requirement_links, testcases, executions cascade"),
  );

  describe("keeps", () => {
    it("what it is given, with a code of its own or the next number", async () => {
      const own = await service.create({ ...blank, code: "LOGIN-1", category: "login" });
      expect(own).toMatchObject({ code: "LOGIN-1", created_at: "2026-01-01T00:00:00.000Z" });
      expect(await service.create(blank)).toMatchObject({ code: "REQ-001" });
      await expect(service.create({ ...blank, code: "LOGIN-1" })).rejects.toMatchObject({
        code: "ALREADY_EXISTS",
        message: expect.stringContaining("LOGIN-1"),
      });
      expect(await service.get(own.id)).toEqual({ ...own, linked: { full: 0, partial: 0 } });
    });

    it("texts that the database would refuse, as far as it can hold them", async () => {
      const bad = "a\u0000b\ud800";
      const { code } = await service.create({ ...blank, description: bad, acceptance_criteria: [bad] });
      expect(await service.get(code)).toMatchObject({
        description: "a\ufffdb\ufffd",
        acceptance_criteria: ["a\ufffdb\ufffd"],
      });
      expect(await service.update(code, { category: bad })).toMatchObject({ category: "a\ufffdb\ufffd" });
      expect(await service.list({ text: bad, category: bad }, tokens)).toMatchObject({
        requirements: [{ code }],
      });
      const unknown = { code: "REQUIREMENT_NOT_FOUND" };
      await expect(service.get(bad)).rejects.toMatchObject(unknown);
      await expect(service.link(bad, bad, "full")).rejects.toMatchObject(unknown);
      await expect(service.coverage(bad, {}, tokens)).rejects.toMatchObject(unknown);
      expect(await service.summary({ environment: bad }, tokens)).toMatchObject({ n: 1 });
      expect(await service.uncovered({ category: bad }, tokens)).toMatchObject({ no_link: 1 });
    });

    it("changes of what is given only, and says when that is nothing", async () => {
      const clock = fakeClock();
      const later = serviceOf(storage, clock);
      const made = await later.create({ ...blank, category: "login", description: "old" });
      await clock.advance(60_000);
      const changed = await later.update(made.code, { priority: "P1", code: undefined });
      expect(changed).toEqual({ ...made, priority: "P1", updated_at: "2026-01-01T00:01:00.000Z" });
      expect(await later.update(made.id, { category: "" })).not.toHaveProperty("category");
      for (const nothing of [{}, { name: undefined }])
        await expect(later.update(made.code, nothing)).rejects.toMatchObject({ code: "INVALID_INPUT" });
      await later.create({ ...blank, code: "other" });
      await expect(later.update(made.code, { code: "other" })).rejects.toMatchObject({
        code: "ALREADY_EXISTS",
      });
    });
  });

  describe("links", () => {
    it("by code or id and by name or id, and says what it did", async () => {
      const { id, code } = await service.create(blank);
      const testcase = await saveTestcase(storage.db, "t");
      const names = { requirement: code, testcase: "t" };
      expect(await service.link(code, "t", "partial")).toEqual({ ...names, result: "linked" });
      expect(await service.link(id, testcase, "full")).toEqual({ ...names, result: "changed" });
      expect(await service.link(id, "t", "full")).toEqual({ ...names, result: "unchanged" });
      expect(await service.get(code)).toMatchObject({ linked: { full: 1, partial: 0 } });
      expect(await service.list({}, tokens)).toMatchObject({
        requirements: [{ code, testcases: 1 }],
        more: 0,
      });
      expect(await service.ofTestcase(testcase, tokens)).toEqual({
        testcase: "t",
        requirements: [{ code, name: "Login works", priority: "P2", status: "active", coverage: "full" }],
        more: 0,
      });
      expect(await service.unlink(code, testcase)).toEqual({ ...names, was_linked: true });
      expect(await service.unlink(code, "t")).toEqual({ ...names, was_linked: false });
      expect(await service.get(code)).toMatchObject({ linked: { full: 0, partial: 0 } });
    });

    it("nothing that is not there", async () => {
      const { code } = await service.create(blank);
      const unknown = { code: "TESTCASE_NOT_FOUND" };
      await expect(service.link(code, "no", "full")).rejects.toMatchObject(unknown);
      await expect(service.unlink(code, "no")).rejects.toMatchObject(unknown);
      await expect(service.ofTestcase("no", tokens)).rejects.toMatchObject(unknown);
      await saveTestcase(storage.db, "t");
      await expect(service.link("no", "t", "full")).rejects.toMatchObject({ code: "REQUIREMENT_NOT_FOUND" });
      expect(await service.requirementsOf([{ name: "no" }])).toEqual([]);
    });
  });

  describe("judges", () => {
    it("one requirement by the last runs, of one app by its name or id", async () => {
      const { code } = await service.create(blank);
      await saveTestcase(storage.db, "t");
      expect(await service.coverage(code, {}, tokens)).toMatchObject({ verdict: "uncovered", testcases: [] });
      await service.link(code, "t", "full");
      expect(await service.coverage(code, {}, tokens)).toMatchObject({ verdict: "not_run" });
      const execution_id = await storeRun(storage.db, {
        name: "t",
        status: "passed",
        at: 1,
        userinterface: "shop",
        environment: "staging",
      });
      expect(await service.coverage(code, { userinterface: "shop-id" }, tokens)).toMatchObject({
        code,
        verdict: "passed",
        parts: { full: 1, partial: 0, passed: 1, failed: 0, not_run: 0 },
        testcases: [{ testcase: "t", coverage: "full", status: "passed", execution_id }],
      });
      expect(await service.coverage(code, { environment: "prod" }, tokens)).toMatchObject({
        verdict: "not_run",
      });
      await expect(service.coverage(code, { userinterface: "shpo" }, tokens)).rejects.toMatchObject({
        code: "USERINTERFACE_NOT_FOUND",
      });
    });

    it("all of them, without those that are deprecated", async () => {
      for (const [code, category] of [["A", "login"], ["B"], ["C"]] as const)
        await service.create({ ...blank, code, category });
      await service.create({ ...blank, code: "gone", status: "deprecated" });
      for (const name of ["t", "u"]) await saveTestcase(storage.db, name);
      await service.link("A", "t", "full");
      await service.link("B", "u", "partial");
      await service.link("gone", "t", "full");
      await storeRun(storage.db, { name: "t", status: "passed", at: 1 });
      await storeRun(storage.db, { name: "u", status: "failed", at: 1, environment: "prod" });
      expect(await service.summary({}, tokens)).toMatchObject({
        n: 3,
        passed: 1,
        failed: 1,
        uncovered: 1,
        covered_percent: 66.6,
        passed_percent: 33.3,
        by_priority: [{ priority: "P2", n: 3 }],
        by_category: [{ category: "login", n: 1, passed: 1 }],
        no_category: { n: 2, failed: 1, uncovered: 1 },
      });
      expect(await service.summary({ environment: "prod" }, tokens)).toMatchObject({
        passed: 0,
        not_run: 1,
        failed: 1,
      });
      expect(await service.uncovered({}, tokens)).toMatchObject({
        no_link: 1,
        only_partial: 1,
        requirements: [
          { code: "C", covered: "no" },
          { code: "B", covered: "only partial" },
        ],
        more: 0,
      });
      expect(await service.coverage("gone", {}, tokens)).toMatchObject({
        status: "deprecated",
        verdict: "passed",
      });
    });
  });
});

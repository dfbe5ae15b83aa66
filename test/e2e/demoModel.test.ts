import { describe, expect, it } from "vitest";
import { readModel } from "#mcp-server/cli/demo/model.ts";
import { implementations, serveTodomvc } from "#mcp-server/cli/demo/todomvc.ts";
import { countLines, judge, type Verdict, verdictTable } from "#mcp-server/cli/demo/verdicts.ts";
import { readText } from "../fixtures/readText.ts";
import { builtInVerbs } from "../fixtures/verbs.ts";

const where = { userinterface: "todomvc-react", url: "http://127.0.0.1:1/x.html", withTestcases: true };
const sound = { name: "sound", path: "/", breaks: {} };
const broken = { name: "broken", path: "/", breaks: { edit: "it never listens for Escape" } };
const verdict = (status: string): Verdict => ({
  implementation: "broken",
  testcase: "edit",
  executionId: "1",
  status,
  durationMs: 1_250,
  found: "nothing is visible",
});

describe("the demo's model", () => {
  it("is a valid userinterface under the name and address of an implementation", async () => {
    const model = await readModel();
    const { model: app, tests } = readText(model.yamlFor(where), { verbs: builtInVerbs() });
    expect(app?.ui).toMatchObject({ name: "todomvc-react", app: { url: where.url } });
    expect([...(app?.nodes.values() ?? [])].map(({ label }) => label)).toContain("Active");
    expect(tests.map(({ value }) => Object(value).name)).toEqual(
      expect.arrayContaining([...model.testcases]),
    );
  });

  it("comes without its test cases where they are there already", async () => {
    const model = await readModel();
    const yaml = model.yamlFor({ ...where, withTestcases: false });
    expect(readText(yaml, { verbs: builtInVerbs() }).tests).toEqual([]);
  });

  it("has a test case for every fault that an implementation is known for", async () => {
    const { testcases } = await readModel();
    const faults = implementations.flatMap(({ breaks }) => Object.keys(breaks));
    expect(faults).not.toEqual([]);
    expect(testcases).toEqual(expect.arrayContaining(faults));
  });

  it("serves every implementation, and nothing outside the package", async () => {
    const app = await serveTodomvc();
    try {
      expect(implementations.length).toBeGreaterThanOrEqual(3);
      for (const { path } of implementations) {
        const page = await fetch(app.url(path));
        expect(page.headers.get("content-type")).toContain("text/html");
        expect(await page.text()).toContain("<html");
      }
      for (const path of ["/..%2f..%2fpackage.json", "/%2e%2e/react/package.json", "/examples", "/none"])
        expect((await fetch(app.url(path))).status).toBe(404);
    } finally {
      await app.close();
    }
  });
});

describe("the demo's verdicts", () => {
  it("are right when a known fault fails and everything else passes", () => {
    expect(judge(verdict("failed"), broken)).toMatchObject({ isExpected: true });
    expect(judge(verdict("failed"), broken).remark).toContain("breaks the spec: it never listens for Escape");
    expect(judge(verdict("passed"), sound)).toMatchObject({ isExpected: true, remark: "" });
  });

  it("are wrong when a known fault passes, a sound one fails, or nothing could be judged", () => {
    expect(judge(verdict("passed"), broken).isExpected).toBe(false);
    expect(judge(verdict("failed"), sound)).toMatchObject({
      isExpected: false,
      remark: "unexpected: nothing is visible",
    });
    expect(judge(verdict("error"), broken).isExpected).toBe(false);
  });

  it("are counted for each implementation", () => {
    const judgements = [judge(verdict("passed"), sound), judge(verdict("failed"), sound)];
    expect(countLines(judgements)).toEqual(["broken: 1 of 2 passed, 1 not as expected"]);
  });

  it("stand in columns under their heads", () => {
    const table = verdictTable(["broken"], ["edit"]);
    const [head = ""] = table.head().split("\n");
    const row = table.row(judge(verdict("failed"), broken));
    expect(row.indexOf("failed")).toBe(head.indexOf("verdict"));
    expect(row).toContain("1.3 s");
  });
});

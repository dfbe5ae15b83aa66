import { ToolError } from "@labwright/mcp-server";
import { beforeAll, describe, expect, it } from "vitest";
import type { Storage } from "#mcp-server/storage/index.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { openBox } from "../../../fixtures/simulated.ts";
import { type Bench, chain, click, openBench, sees, testcase } from "./testcaseBench.ts";

/** The problems of an error, as `path: message`, with its code. */
async function problemsOf(saving: Promise<unknown>): Promise<{ code: string; lines: string[] }> {
  const error = await saving.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolError)) throw error ?? new Error("It was saved.");
  const { problems } = error.details;
  const lines = Array.isArray(problems)
    ? problems.map((one) => `${one.path}: ${one.message}`)
    : [error.message];
  return { code: error.code, lines };
}

describeEachDatabase("test cases", (open) => {
  let storage: Storage;
  let bench: Bench;
  beforeAll(async () => {
    storage = await open();
    bench = openBench(storage);
  });
  const refused = (given: Record<string, unknown>) => problemsOf(bench.testcases.save(given, {}));

  describe("are refused with every problem at once", () => {
    it("in their shape", async () => {
      const { code, lines } = await refused({
        name: "shape",
        blocks: [
          { id: "start", type: "strat" },
          { id: "1x", type: "sleep", duration_ms: "long" },
          { id: "l", type: "loop", body: { blocks: [{ id: "n", type: "navigation" }], edges: [] } },
        ],
        edges: [],
        colour: "red",
      });
      expect(code).toBe("TESTCASE_INVALID");
      expect(lines).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^blocks\[0\]: unknown block type "strat"; did you mean "start"\?/),
          expect.stringMatching(/^blocks\[1\]\.id: a block id is/),
          expect.stringMatching(/^blocks\[1\]\.duration_ms: /),
          expect.stringMatching(/^blocks\[2\]\.body\.blocks\[0\]\.target: /),
          expect.stringMatching(/^: unknown key "colour"/),
        ]),
      );
    });

    it("in the graph", async () => {
      const { lines } = await refused({
        name: "graph",
        blocks: [
          { id: "start", type: "start" },
          sees("a", "x"),
          sees("b", "x"),
          sees("island", "x"),
          sees("stuck", "x"),
          { id: "done", type: "success" },
        ],
        edges: [
          { from: "start", to: "a" },
          { from: "a", to: "b" },
          { from: "b", to: "a" },
          { from: "b", to: "stuck", on: "failure" },
          { from: "a", to: "done", on: "failure" },
        ],
      });
      expect(lines).toEqual([
        "island: cannot be reached from start",
        "stuck: has no path to a success or failure block",
        ": a -> b -> a is a cycle; use a loop block to repeat",
      ]);
    });

    it("in starts, ids, edges and loops", async () => {
      const loop = {
        id: "loop1",
        type: "loop",
        iterations: 2,
        while: "true",
        body: { blocks: [sees("a", "x")], edges: [] },
      };
      const { lines } = await refused({
        name: "ids",
        blocks: [
          { id: "s1", type: "start" },
          { id: "s2", type: "start" },
          sees("a", "x"),
          loop,
          { id: "done", type: "success" },
        ],
        edges: [
          { from: "s1", to: "a" },
          { from: "s1", to: "loop1" },
          { from: "s1", to: "a", on: "failure" },
          { from: "ghost", to: "a" },
          { from: "a", to: "gone" },
          { from: "done", to: "a" },
        ],
      });
      expect(lines).toEqual(
        expect.arrayContaining([
          ": exactly one start block is needed, not 2",
          "s1: two edges leave it on success",
          "s1: start never fails",
          'ghost: an edge leaves the unknown block "ghost"',
          'a: an edge leads to the unknown block "gone"',
          "done: an edge leaves an end",
          "loop1: a loop has either iterations or while",
          "loop1: exactly one start block is needed, not 0",
          'loop1/a: the block id "a" is used twice',
        ]),
      );
    });

    it("in names, placeholders and expressions", async () => {
      const graph = chain([
        sees("look", "{{titel}} {{later.output.x}} {{look}}"),
        { id: "gate", type: "condition", expression: "cuont == 1 && loop.index == 0" },
        { id: "bad", type: "condition", expression: "count ==" },
        { id: "keep", type: "set", values: { look: 1, x: "{{loop.index}}" } },
        { id: "ask", type: "api_request", url: "http://x.test/{{secret.NO}}" },
      ]);
      const { code, lines } = await refused(
        testcase(graph, {
          inputs: [{ name: "count" }, { name: "loop" }],
          variables: { title: "{{look.output.actual}}", count: 1 },
          outputs: { a: "titel", b: "{{look.output.actual}}" },
        }),
      );
      expect(code).toBe("TESTCASE_INVALID");
      expect(lines).toEqual(
        expect.arrayContaining([
          ': "count" is declared twice',
          ': "loop" has a meaning of its own; choose another name',
          'look: "look" is a variable and a block id',
          expect.stringContaining("variables: nothing is known as {{look.output.actual}}"),
          "look: nothing is known as {{titel}}; did you mean title?",
          expect.stringContaining("look: nothing is known as {{later.output.x}}"),
          "look: {{look}} is a block; its data is {{look.output}}",
          "gate: nothing is known as {{cuont}}; did you mean count?",
          "gate: nothing is known as {{loop}} outside a loop",
          expect.stringMatching(/^bad: The expression "count ==" cannot be read at 1:/),
          "keep: nothing is known as {{loop.index}} outside a loop",
          "ask: a secret belongs into headers or body, not into a URL",
          "outputs.a: nothing is known as {{titel}}; did you mean title?",
          expect.stringMatching(/^: There is no secret "NO"/),
        ]),
      );
    });

    it("with a code of its own when only names are unknown, or nothing is checked", async () => {
      const unknown = await refused(testcase(chain([sees("look", "{{a}} {{b}}")])));
      expect(unknown).toMatchObject({
        code: "UNKNOWN_VARIABLE",
        lines: [expect.any(String), expect.any(String)],
      });
      const ask = { id: "ask", type: "api_request", url: "http://x.test/" };
      const empty = await refused(testcase(chain([click("go", "Movies"), ask])));
      expect(empty.code).toBe("EMPTY_TEST");
    });

    it("when they hold what the database cannot", async () => {
      expect(await refused(testcase(chain([sees("look", "a\u0000b")])))).toMatchObject({
        code: "TESTCASE_INVALID",
      });
      await bench.testcases.save(testcase(chain([sees("look", "a\\u0000b")])), {});
    });

    it("against the device that is named: commands, parameters, checks, also of retries", async () => {
      const device = await openBox();
      const graph = chain([
        click("a", "{{where}}", { retry_actions: [{ command: "press_kee", params: {} }] }),
        { id: "b", type: "action", command: "press_key", params: { kee: "OK" } },
        { id: "c", type: "verification", command: "text_visibel", params: {} },
        { id: "d", type: "verification", command: "text_visible", params: { text: "{{where}}" } },
      ]);
      const given = testcase(graph, { variables: { where: "Movies" } });
      const { lines } = await problemsOf(bench.testcases.save(given, { device }));
      expect(lines).toEqual([
        expect.stringMatching(/^a: lab\/box has no command "press_kee".*press_key/),
        expect.stringMatching(/^b: .*key/),
        expect.stringMatching(/^c: lab\/box has no check "text_visibel".*text_visible/),
      ]);
      expect(lines[1]).toContain("kee");
    });

    it("against the app that they name: nodes by id or label, variables", async () => {
      const go = (id: string, target: string) => ({ id, type: "navigation", target });
      const graph = chain([
        go("a", "Moovies"),
        go("b", "Movies"),
        go("c", "id-Home"),
        go("d", "{{greeting}}"),
      ]);
      expect(await refused(testcase(graph, { userinterface_name: "box" }))).toEqual({
        code: "TESTCASE_INVALID",
        lines: ['a: box has no node "Moovies"; did you mean "Movies"?'],
      });
      expect(await refused(testcase(graph, { userinterface_name: "bax" }))).toMatchObject({
        lines: [expect.stringContaining("Did you mean box?")],
      });
    });

    it("before they run: wrong inputs, and a navigation without an app", async () => {
      const given = testcase(chain([{ id: "go", type: "navigation", target: "Home" }]), {
        inputs: [{ name: "user", required: true }],
      });
      await bench.testcases.save(given, {});
      const run = (inputs: Record<string, unknown>) =>
        problemsOf(
          bench.testcases.execute(
            { testcase: String(given.name), inputs, wait_ms: 0, timeout_ms: 10_000 },
            callContext(),
          ),
        );
      expect(await run({ usr: 1 })).toMatchObject({ code: "INVALID_INPUT" });
      expect(await run({ user: 1 })).toEqual({
        code: "TESTCASE_INVALID",
        lines: ["go: a navigation needs an app; give userinterface_name"],
      });
      expect(bench.executions.running()).toBe(0);
    });
  });

  describe("are kept", () => {
    it("by name: saved twice is one, found by name and id", async () => {
      const given = testcase(chain([sees("look", "Welcome")]), { name: "kept", tags: ["smoke"] });
      const first = await bench.testcases.save(given, {});
      const second = await bench.testcases.save({ ...given, description: "again" }, { replace: () => true });
      expect([first.created, second.created, second.id]).toEqual([true, false, first.id]);
      expect(await bench.testcases.load(first.id)).toMatchObject({ name: "kept", description: "again" });
      expect((await bench.testcases.load("kept")).blocks).toHaveLength(3);
      await expect(bench.testcases.load("kepd")).rejects.toMatchObject({
        code: "TESTCASE_NOT_FOUND",
        hint: 'Did you mean "kept"?',
      });
    });

    it("and listed by name, tag and app, as many as fit", async () => {
      for (const name of ["list b", "list a", "List C"]) {
        const more = { name, tags: ["listed"], userinterface_name: "other" };
        await bench.testcases.save(testcase(chain([sees("look", "Welcome")]), more), { replace: () => true });
      }
      const all = await bench.testcases.list({ tag: "listed", userinterface: "other", maxTokens: 2_000 });
      expect(all).toMatchObject({
        testcases: [{ name: "List C" }, { name: "list a" }, { name: "list b" }],
        more: 0,
      });
      const few = await bench.testcases.list({ tag: "listed", maxTokens: 40 });
      expect([few.testcases.length, few.more]).toEqual([1, 2]);
      expect(await bench.testcases.list({ tag: "none", maxTokens: 2_000 })).toEqual({
        testcases: [],
        more: 0,
      });
    });

    it("and renamed, with those that call them, loops included", async () => {
      await bench.testcases.save(testcase(chain([sees("look", "Welcome")]), { name: "part" }), {});
      const call = { id: "call", type: "call_testcase", testcase: "part" };
      const loop = { id: "twice", type: "loop", iterations: 2, body: chain([call]) };
      await bench.testcases.save(testcase(chain([loop]), { name: "whole" }), {});
      await expect(bench.testcases.rename("part", "whole")).rejects.toMatchObject({ code: "ALREADY_EXISTS" });
      expect(await bench.testcases.rename("part", "piece")).toMatchObject({
        name: "piece",
        callers: ["whole"],
      });
      expect(JSON.stringify((await bench.testcases.load("whole")).blocks)).toContain('"piece"');
      await expect(bench.testcases.load("part")).rejects.toMatchObject({ code: "TESTCASE_NOT_FOUND" });
    });

    it("until they are deleted, which asks and names who calls them", async () => {
      await expect(bench.testcases.remove("piece", false)).rejects.toMatchObject({
        code: "CONFIRMATION_REQUIRED",
        details: { would_delete: ["piece"], callers: ["whole"] },
      });
      await bench.testcases.remove("piece", true);
      await expect(bench.testcases.load("piece")).rejects.toMatchObject({ code: "TESTCASE_NOT_FOUND" });
      const reply = bench.testcases.execute(
        { testcase: "whole", inputs: {}, wait_ms: 0, timeout_ms: 9_000 },
        callContext(),
      );
      expect(await problemsOf(reply)).toMatchObject({
        lines: [expect.stringContaining('no test case "piece"')],
      });
    });

    it("and imported all or none, calls among them in any order, within the caller's transaction", async () => {
      const part = testcase(chain([sees("look", "Welcome")]), { name: "imported part" });
      const call = chain([{ id: "call", type: "call_testcase", testcase: "imported part" }]);
      const whole = testcase(call, { name: "imported whole", userinterface_name: "imported app" });
      const app = { id: "imported", name: "imported app", project: "", variables: {}, nodes: [], start: {} };
      const refuse = () => {
        throw new Error("one is wrong");
      };
      const rolledBack = storage.db.transaction(async (tx) => {
        await bench.testcases.importAll([whole, part], { tx, apps: [app], refuse });
        throw new Error("the import failed later");
      });
      await expect(rolledBack).rejects.toThrow("failed later");
      await expect(bench.testcases.load("imported part")).rejects.toMatchObject({
        code: "TESTCASE_NOT_FOUND",
      });
      const wrong = [part, { ...whole, blocks: [] }];
      await expect(bench.testcases.importAll(wrong, { apps: [app], refuse })).rejects.toThrow("one is wrong");
      await expect(bench.testcases.load("imported part")).rejects.toMatchObject({
        code: "TESTCASE_NOT_FOUND",
      });
      expect(await bench.testcases.importAll([whole, part], { apps: [app], refuse })).toEqual({
        names: ["imported whole", "imported part"],
      });
      const exported = await bench.testcases.exportFor(app);
      expect(exported).toEqual([expect.objectContaining({ name: "imported whole" })]);
      expect(exported[0]).not.toHaveProperty("id");
    });
  });
});

describe("a large graph", () => {
  it("is judged without recursion over its length", async () => {
    const { parseTestcase } = await import("#mcp-server/services/apps/testcases/parse.ts");
    const { graphProblems } = await import("#mcp-server/services/apps/testcases/graph.ts");
    const blocks = Array.from({ length: 490 }, (_, index) => sees(`b${index}`, "x"));
    expect(graphProblems(parseTestcase(testcase(chain(blocks))))).toEqual([]);
  });
});

import { nextActions, nextState, startTree } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { cause, evaluate, handoffOf, problemsOf, resultOf, run, step, treeOf, treeText } from "./fixture.ts";

describe("actions", () => {
  const withAction = (action: string, mappings?: string) =>
    treeOf(
      treeText("one", step("one", [cause("it", "result.a.count == 1", "It")], [`action: ${action}`])),
      {},
      mappings,
    );
  const filled = (action: string, context: object, mappings?: string) =>
    nextActions(
      startTree(withAction(action, mappings), { ...context }, { evaluate, at: 1_800_000_123_456 }),
    )[0]?.action;

  test("of a tool and of HTTP get values with their types, in paths percent-encoded, and leave secrets", () => {
    const context = { id: "a/b c", n: 3, list: [1] };
    expect(
      filled(
        '{ type: tool, tool: get_execution_status, arguments: { a: "{n}", b: ["x{n}", "{list}"], c: "{{secret.X}}" } }',
        context,
      ),
    ).toEqual({
      ...{ type: "tool", tool: "get_execution_status" },
      arguments: { a: 3, b: ["x3", [1]], c: "{{secret.X}}" },
    });
    expect(
      filled(
        '{ type: http, source: shop, path: "/x/{id}", query: { n: "{n}" }, method: POST, reads: true, body: { n: "{n}" } }',
        context,
      ),
    ).toEqual({
      ...{ type: "http", source: "shop", method: "POST", path: "/x/a%2Fb%20c", query: { n: "3" } },
      ...{ headers: {}, body: { n: 3 }, reply: {} },
    });
  });

  test.each([
    "{ path: /x, method: POST }",
    "{ path: /x, method: DELETE }",
  ])("of HTTP only read: %s", (request) => {
    const action = request.replace("{", "{ type: http, source: shop,");
    const text = treeText("one", step("one", [cause("it", "true", "It")], [`action: ${action}`]));
    const problem = expect.stringMatching(/method: (POST needs reads: true|must be GET, HEAD or POST)/);
    expect(problemsOf(text)).toEqual([problem]);
    expect(problemsOf(text, `mappings: {}\nrequests: { r: ${request} }\n`)).toEqual([problem, problem]);
  });

  test.each(["..", ".", ""])("of HTTP refuse a value that leads a path elsewhere: '%s'", (id) => {
    const tree = withAction('{ type: http, source: shop, path: "/loads/{id}" }');
    const state = startTree(tree, { id }, { evaluate, at: 0 });
    expect(nextActions(state)).toEqual([]);
    expect(handoffOf(state)?.trigger).toBe("undetermined");
  });

  test("that run at once give their results by name, and one that failed is undetermined", () => {
    const tree = withAction(
      "{ type: parallel, actions: { a: { type: query, source: shop, query_template: select 1 }, b: { type: tool, tool: get_execution_status } } }",
    );
    const started = startTree(tree, {}, { evaluate, at: 0 });
    const finish = (a: { value: unknown } | { error: { code: string; message: string } }) => {
      const result = { parts: { a, b: { value: { status: "passed" } } } };
      return nextState(tree, started, { type: "result", lane: "main", step: "one", result, at: 1 }, evaluate);
    };
    expect(resultOf(finish({ value: [{}] }))?.root_cause).toBe("It");
    const failed = finish({ error: { code: "TIMEOUT", message: "too slow" } });
    expect(handoffOf(failed)?.question).toMatch(/result\.a\.count is missing.*a failed: too slow/);
  });

  const mappings = `
mappings:
  logs: { api: shop, query_builder: build, params: { required: [id], service: web, time_range: last_2_days }, response_parser: lines, cache_ttl: 3600,
    response_schema: { type: object, fields: [{ name: n, type: integer, nullable: true }] } }
builders: { build: [ "select n from logs where s = '{service}' and t > '{time_range.from}'", { if: word, sql: "and body like '%{word}%'" } ] }
parsers: { lines: result }
`;
  const mapped = '{ type: query, mapping: logs, params: { id: "{id}", word: "{word}" } }';

  test("of a mapping get its parameters, time range, cache, parser and schema", () => {
    expect(filled(mapped, { id: 1, word: "no'pe" }, mappings)).toEqual({
      ...{ type: "query", source: "shop" },
      sql: "select n from logs where s = $1 and t > $2\nand body like $3",
      params: ["web", "2027-01-13T08:00:00.000Z", "%no'pe%"],
      pieces: ["select n from logs where s = ", " and t > ", "\nand body like ", ""],
      reply: {
        ...{ cache_ttl: 3600, parser: "result" },
        schema: {
          type: "array",
          items: { type: "object", properties: { n: { type: ["integer", "null"] } }, required: ["n"] },
        },
      },
    });
    const short = '{ type: query, mapping: logs, params: { id: "{id}" } }';
    expect(filled(short, { id: 1 }, mappings)).toMatchObject({ sql: expect.not.stringContaining("like") });
    const without = startTree(
      withAction("{ type: query, mapping: logs }", mappings),
      {},
      { evaluate, at: 0 },
    );
    expect(handoffOf(without)?.question).toContain("the parameter id is missing");
  });

  test("a column with a name of the result's own is not guessed at", () => {
    const tree = treeOf(
      treeText(
        "one",
        step("one", [
          cause("none", "result.count == 0", "None"),
          cause("some", "result.rows[0].count == 7", "Some"),
        ]),
      ),
    );
    expect(resultOf(run(tree, {}, { one: [{ count: 7 }] }))?.root_cause).toBe("Some");
    const other = treeOf(treeText("one", step("one", [cause("none", "result.count == 0", "None")])));
    expect(handoffOf(run(other, {}, { one: [{ count: 0 }] }))?.question).toContain(
      "count is also a column: write result.rows[0].count",
    );
  });
});

test("a tree with wrong keys has all its problems reported at once, with lines", () => {
  const text = `entry_point: one
steps:
  one:
    name: One
    action: { type: query, source: shop, query_template: "select 1; drop table t" }
    decisions:
      stop: { condition: "a == 1", confidence: 0.5, conclusion: { root_cause: X } }
      b: { condition: "(a", confidence: 2, conclusion: {} }
  two:
    name: Two
    action: { type: tool, tool: get_execution_state }
    decisions: {}
`;
  const lines = problemsOf(text);
  expect(lines.map((line) => line.split(":")[1])).toEqual(["5", "7", "8", "8", "8", "12"]);
  expect(lines[0]).toContain("has more than one statement");
  expect(lines.join("\n")).toContain("the bracket ( is not closed");
  expect(lines.join("\n")).toContain("needs either root_cause or partial_finding");
  expect(problemsOf("entry_point: [")[0]).toMatch(/^tree\.yaml:1: /);
});

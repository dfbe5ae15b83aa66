import { nextActions, nextState, reportOf, restoreState, startTree, type TreeState } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import { answer, evaluate, goOn, problemsOf, run, treeOf } from "./fixture.ts";

type Lines = readonly string[];
/** A step that asks `shop` for rows; each decision is one line of YAML. */
const step = (name: string, decisions: Lines, more: Lines = []): string =>
  [
    `  ${name}:`,
    `    name: The ${name}`,
    ...more.map((line) => `    ${line}`),
    ...(more.some((line) => line.startsWith("action:"))
      ? []
      : ["    action: { type: query, source: shop, query_template: select 1 }"]),
    "    decisions:",
    ...decisions.map((line) => `      ${line}`),
    "",
  ].join("\n");
const treeText = (entry: string, ...steps: string[]) => `entry_point: ${entry}\nsteps:\n${steps.join("")}`;
const decide = (name: string, condition: string, conclusion: string, more = "") =>
  `${name}: { condition: "${condition}", confidence: 0.9, conclusion: { ${conclusion} }${more} }`;
const cause = (name: string, condition: string, text: string, confidence = 0.9) =>
  `${name}: { condition: "${condition}", confidence: ${confidence}, conclusion: { root_cause: ${text} } }`;
const next = (name: string, condition: string, to: string, confidence = 0.9) =>
  `${name}: { condition: "${condition}", confidence: ${confidence}, conclusion: { partial_finding: ${name} }, next_step: ${to} }`;

const handoffOf = (state: TreeState) => reportOf(state).handoff;
const resultOf = (state: TreeState) => reportOf(state).result;

describe("a path through the steps", () => {
  const tree = treeOf(
    treeText(
      "one",
      step("one", [
        next("fine", "result.count > 0", "two", 0.8),
        cause("gone", "result.count == 0", "Gone", 0.95),
      ]),
      step("two", [
        decide(
          "bad",
          "result.state == 'bad'",
          "root_cause: Bad, explanation: It is bad., impact: high, recommended_action: mend",
        ),
      ]),
    ),
  );

  test("ends with the cause, the lowest confidence on it, and what was found before", () => {
    const state = run(tree, {}, { one: [{}, {}], two: [{ state: "bad" }] });
    expect(resultOf(state)).toMatchObject({
      ...{ root_cause: "Bad", confidence_score: 0.8, explanation: "It is bad.", impact: "high" },
      recommended_action: { action: "mend", human_approval_required: false, approved: null },
      ...{ partial_findings: ["fine"], steps_completed: ["one", "two"], time_to_investigate: 2 },
      evidence: [
        { step: "one", name: "The one", decision: "fine", data: { count: 2 } },
        { step: "two", decision: "bad", confidence: 0.9, data: { count: 1, rows: [{ state: "bad" }] } },
      ],
    });
    expect(resultOf(run(tree, {}, { one: [] }))).toMatchObject({
      root_cause: "Gone",
      confidence_score: 0.95,
    });
  });

  test("is the same when its state is stored and read again after each step", () => {
    let state = startTree(tree, {}, { evaluate, at: 0 });
    for (const value of [[{}, {}], [{ state: "bad" }]]) {
      state = restoreState(tree, JSON.parse(JSON.stringify(state)));
      const [action] = nextActions(state);
      if (action === undefined) throw new Error("nothing to run");
      const before = structuredClone(state);
      const after = nextState(tree, state, { type: "result", ...action, result: { value }, at: 1 }, evaluate);
      expect(state).toStrictEqual(before);
      expect(restoreState(tree, JSON.parse(JSON.stringify(after)))).toStrictEqual(after);
      state = after;
    }
    expect(resultOf(state)?.root_cause).toBe("Bad");
  });

  test("takes only the result that it waits for, and no state of another tree", () => {
    const state = startTree(tree, {}, { evaluate, at: 0 });
    const result = { value: [] };
    for (const [lane, name] of [
      ["main", "two"],
      ["other", "one"],
    ] as const)
      expect(() =>
        nextState(tree, state, { type: "result", lane, step: name, result, at: 1 }, evaluate),
      ).toThrow(expect.objectContaining({ code: "NOT_EXPECTED" }));
    const other = treeOf(treeText("three", step("three", [cause("gone", "true", "Gone")])));
    expect(() => restoreState(other, state)).toThrow(expect.objectContaining({ code: "BAD_STATE" }));
    expect(() => restoreState(tree, { ...state, format: 2 })).toThrow(
      expect.objectContaining({ code: "BAD_STATE" }),
    );
  });
});

describe("a step that cannot be determined", () => {
  const tree = treeOf(
    treeText(
      "one",
      step(
        "one",
        [cause("off", "result.is_active == false", "Off"), next("on", "result.is_active == true", "two")],
        [
          'pre_conditions: ["load.id is not null"]',
          "action: { type: query, source: shop, query_template: \"select * from t where id = '{load.id}'\" }",
        ],
      ),
      step("two", [cause("none", "result.count == 0", "Nothing there")]),
    ),
  );

  test.each([
    ["a missing field", { load: { id: 1 } }, [{ active: true }], /off: result\.is_active is missing/],
    [
      "a field of two rows",
      { load: { id: 1 } },
      [{ is_active: true }, { is_active: true }],
      /result\.is_active is missing/,
    ],
    ["no decision that holds", { load: { id: 1 } }, [{ is_active: 1 }], /no decision holds/],
    [
      "a failed action",
      { load: { id: 1 } },
      new Error("the database is gone"),
      /FAILED: the database is gone/,
    ],
    ["a pre-condition that does not hold", { load: { id: null } }, [], /load\.id != null does not hold/],
    ["a pre-condition on a missing field", { load: {} }, [], /load\.id is missing/],
    ["a context that lacks all of it", {}, [], /cannot be determined/],
  ])("by %s asks a person and is never false", (_, context, rows, reason) => {
    const state = run(tree, context, { one: rows });
    expect(resultOf(state)).toBeUndefined();
    expect(handoffOf(state)).toMatchObject({
      trigger: "undetermined",
      step: "one",
      question: expect.stringMatching(reason),
    });
    expect(state.evidence.map(({ kind }) => kind)).toEqual(["undetermined"]);
  });

  test("goes on with a value that the person gives, a decision or a step that the person takes, or ends", () => {
    const asked = run(tree, { load: { name: "x" } }, {});
    expect(handoffOf(asked)?.options.map(({ name }) => name)).toEqual(["retry", "off", "on", "two", "stop"]);
    const given = answer(tree, asked, "retry", { one: [{ is_active: false }] }, { load: { id: "U1" } });
    expect(resultOf(given)).toMatchObject({ root_cause: "Off" });
    expect(given.context).toEqual({ load: { name: "x", id: "U1" } });
    expect(resultOf(answer(tree, asked, "off", {}))).toMatchObject({
      root_cause: "Off",
      evidence: [{}, { by: "person" }],
    });
    expect(resultOf(answer(tree, asked, "4", { two: [] }))).toMatchObject({ root_cause: "Nothing there" });
    expect(resultOf(answer(tree, asked, "End without a cause", {}))).toMatchObject({
      root_cause: null,
      confidence_score: 0,
    });
    expect(resultOf(answer(tree, asked, "The carrier is on strike.", {}))).toMatchObject({
      root_cause: "The carrier is on strike.",
    });
  });

  test("does not count the time in which it waits for the person", () => {
    expect(resultOf(answer(tree, run(tree, {}, {}), "two", { two: [] }))?.time_to_investigate).toBe(1);
  });
});

describe("a person", () => {
  const tree = treeOf(
    treeText(
      "one",
      step("one", [
        cause("gone", "result.count == 0", "Gone", 0.6),
        cause("there", "result.count > 0", "There"),
      ]),
    ),
  );
  const asked = run(tree, {}, { one: [] });

  test("is asked below the threshold, and the confidence stays as low as it was", () => {
    expect(handoffOf(asked)).toMatchObject({
      trigger: "low_confidence",
      question: expect.stringContaining("only 0.6"),
    });
    expect(resultOf(answer(tree, asked, "accept", {}))).toMatchObject({
      root_cause: "Gone",
      confidence_score: 0.6,
    });
    expect(resultOf(answer(tree, asked, "there", {}))).toMatchObject({
      root_cause: "There",
      evidence: [{ by: "person" }],
    });
    const lax = treeOf(treeText("one", step("one", [cause("gone", "result.count == 0", "Gone", 0.6)])), {
      low_confidence: { threshold: 0.5 },
    });
    expect(resultOf(run(lax, {}, { one: [] }))?.root_cause).toBe("Gone");
  });

  test("answers a question once: a second answer, one to no question and a misspelt option are refused", () => {
    const input = { type: "answer" as const, handoff: "h1", answer: "accept", at: 9 };
    const done = nextState(tree, asked, input, evaluate);
    expect(() => nextState(tree, done, { ...input, answer: "stop" }, evaluate)).toThrow(
      expect.objectContaining({ code: "ALREADY_ANSWERED", message: expect.stringContaining("accept") }),
    );
    expect(resultOf(done)?.root_cause).toBe("Gone");
    expect(() => nextState(tree, asked, { ...input, handoff: "h2" }, evaluate)).toThrow(
      expect.objectContaining({ code: "NO_HANDOFF" }),
    );
    expect(() => nextState(tree, asked, { ...input, answer: "acept" }, evaluate)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_OPTION",
        message: expect.stringContaining("the nearest is accept"),
      }),
    );
  });
});

describe("a critical action", () => {
  const action = "recommended_action: { action: erase, priority: now, human_approval_required: true }";
  const tree = treeOf(
    treeText(
      "one",
      step("one", [
        decide("old", "result.count == 0", `root_cause: Old, ${action}`),
        decide("odd", "result.count == 1", `partial_finding: Odd, ${action}`, ", next_step: two"),
      ]),
      step("two", [decide("end", "true", "root_cause: End, recommended_action: page_me")]),
    ),
    { critical_decision: { actions: ["page_me"], action: "Ask the owner" } },
  );

  test.each([
    ["approve", true],
    ["Do not", false],
    ["yes, of course, do it", false],
  ])("is approved only by the option: %s", (text, approved) => {
    const state = run(tree, {}, { one: [] });
    expect(handoffOf(state)).toMatchObject({
      ...{
        trigger: "critical_decision",
        question: "Found: Old. Recommended: erase. Ask the owner. Approve it or not.",
      },
      conclusion: { root_cause: "Old", confidence_score: 0.9 },
    });
    expect(resultOf(answer(tree, state, text, {}))).toMatchObject({
      ...{ root_cause: "Old", priority: "now" },
      recommended_action: { action: "erase", approved },
    });
  });

  test("in the middle of a path is asked for before the next step, one by its name too", () => {
    const state = run(tree, {}, { one: [{}] });
    expect(handoffOf(state)).toMatchObject({ trigger: "critical_decision", step: "one" });
    const second = answer(tree, state, "approve", { two: [] });
    expect(handoffOf(second)).toMatchObject({
      trigger: "critical_decision",
      question: expect.stringContaining("page_me"),
    });
    expect(resultOf(answer(tree, second, "reject", {}))).toMatchObject({
      recommended_action: { action: "page_me", approved: false },
    });
  });
});

describe("a tree that never ends", () => {
  test("by a loop asks a person and names the loop", () => {
    const tree = treeOf(
      treeText(
        "one",
        step("one", [next("on", "true", "two")]),
        step("two", [next("back", "true", "one")]),
        step("other", [cause("it", "true", "It")]),
      ),
    );
    const state = run(tree, {}, {});
    expect(handoffOf(state)).toMatchObject({
      trigger: "loop",
      question: expect.stringContaining("one → two → one"),
    });
    expect(handoffOf(state)?.options.map(({ name }) => name)).toEqual(["other", "stop"]);
    expect(state.history).toHaveLength(4);
    const itself = treeOf(treeText("one", step("one", [next("on", "true", "one")])));
    expect(handoffOf(run(itself, {}, {}))?.question).toContain("one → one");
    const three = treeOf(
      treeText(
        "a",
        step("a", [next("n", "true", "b")]),
        step("b", [next("n", "true", "c")]),
        step("c", [next("n", "true", "a")]),
      ),
    );
    expect(handoffOf(run(three, {}, {}))).toMatchObject({
      trigger: "loop",
      question: expect.stringContaining("loops: c → a → b → c."),
    });
  });

  const names = ["a", "b", "c", "d", "e", "f", "g"];
  const long = treeText(
    "a",
    ...names.map((name, at) =>
      step(name, [at < 6 ? next("n", "true", names[at + 1] ?? "") : cause("it", "true", "It")]),
    ),
  );

  test("by its length asks after five steps, or as many as it says, and goes on when told to", () => {
    const tree = treeOf(long);
    const state = run(tree, {}, {});
    expect(handoffOf(state)).toMatchObject({
      trigger: "stuck_after_steps",
      question: expect.stringContaining("5 steps found no cause"),
    });
    expect(resultOf(answer(tree, state, "continue", {}))).toMatchObject({
      root_cause: "It",
      steps_completed: names,
    });
    expect(run(treeOf(long, { stuck_after_steps: { max_steps: 2 } }), {}, {}).history).toHaveLength(2);
    expect(resultOf(run(treeOf(long, { stuck_after_steps: { max_steps: 9 } }), {}, {}))?.root_cause).toBe(
      "It",
    );
  });

  test("with a finding but no cause asks for one", () => {
    const tree = treeOf(treeText("one", step("one", [decide("odd", "true", "partial_finding: Odd")])));
    const state = run(tree, {}, {});
    expect(handoffOf(state)).toMatchObject({
      trigger: "stuck_after_steps",
      step: null,
      findings: ["The one: Odd (confidence 0.9)"],
    });
    expect(resultOf(answer(tree, state, "It was the cat.", {}))).toMatchObject({
      root_cause: "It was the cat.",
      confidence_score: 0.9,
      partial_findings: ["Odd"],
    });
    expect(() => answer(tree, answer(tree, state, "stop", {}), "stop", {})).toThrow(
      expect.objectContaining({ code: "ALREADY_ANSWERED" }),
    );
  });
});

describe("data that contradict", () => {
  test("within a step ask a person; two decisions of one meaning do not", () => {
    const text = (second: string) =>
      treeText(
        "one",
        step("one", [
          cause("a", "result.count >= 0", "Cold", 0.9),
          cause("b", "result.count == 0", second, 0.8),
        ]),
      );
    const tree = treeOf(text("Warm"));
    const state = run(tree, {}, { one: [] });
    expect(handoffOf(state)).toMatchObject({
      trigger: "contradictory_data",
      question: expect.stringContaining("a (Cold) and b (Warm)"),
    });
    expect(resultOf(answer(tree, state, "b", {}))).toMatchObject({
      root_cause: "Warm",
      confidence_score: 0.8,
    });
    expect(resultOf(run(treeOf(text("Cold")), {}, { one: [] }))).toMatchObject({
      root_cause: "Cold",
      confidence_score: 0.8,
    });
  });

  const checks = (main: string, check: string, confidence = 0.9) =>
    treeOf(
      `${treeText("one", step("one", [main]), step("logs", [cause("full", "result.count > 0", "Disk full", confidence), decide("clean", "result.count == 0", "partial_finding: clean")]), step("more", [check]))}parallel_checks: [logs, more]\n`,
    );

  test("between parallel paths ask a person, who takes one of them", () => {
    const tree = checks(cause("down", "true", "Down"), cause("none", "result.x == 1", "Never"));
    const state = run(tree, {}, { one: [], logs: [{}], more: [] });
    expect(handoffOf(state)).toMatchObject({
      ...{ trigger: "contradictory_data", step: null },
      question: expect.stringContaining('main found "Down", logs found "Disk full"'),
      options: [{ name: "main" }, { name: "logs" }, { name: "stop" }],
    });
    expect(resultOf(answer(tree, state, "logs", {}))).toMatchObject({ root_cause: "Disk full" });
    expect(resultOf(answer(tree, state, "main", {}))).toMatchObject({ root_cause: "Down" });
  });

  test("do not where paths agree, or a parallel check finds nothing or fails", () => {
    const tree = checks(cause("down", "true", "Down"), cause("down", "true", "down"));
    expect(nextActions(startTree(tree, {}, { evaluate, at: 0 })).map(({ lane }) => lane)).toEqual([
      "main",
      "logs",
      "more",
    ]);
    const state = run(tree, {}, { one: [], logs: new Error("no answer"), more: [] });
    expect(resultOf(state)).toMatchObject({ root_cause: "Down" });
    expect(state.evidence.map(({ lane, kind }) => [lane, kind])).toEqual([
      ["main", "root_cause"],
      ["logs", "undetermined"],
      ["more", "root_cause"],
    ]);
  });

  test("a cause that only a parallel check found is the result, and is asked about when it is unsure", () => {
    const without = decide("odd", "true", "partial_finding: Odd");
    const sure = checks(without, cause("none", "result.x == 1", "Never"));
    expect(resultOf(run(sure, {}, { one: [], logs: [{}], more: [] }))).toMatchObject({
      root_cause: "Disk full",
    });
    const unsure = checks(without, cause("none", "result.x == 1", "Never"), 0.4);
    const state = run(unsure, {}, { one: [], logs: [{}], more: [] });
    expect(handoffOf(state)).toMatchObject({
      trigger: "low_confidence",
      question: expect.stringContaining("Only logs found a cause"),
    });
    expect(resultOf(answer(unsure, state, "accept", {}))).toMatchObject({
      root_cause: "Disk full",
      confidence_score: 0.4,
    });
  });

  test("a person may answer while the parallel checks still run", () => {
    const tree = checks(cause("down", "result.x == 1", "Down"), cause("none", "result.x == 1", "Never"));
    const started = startTree(tree, {}, { evaluate, at: 0 });
    const asked = nextState(
      tree,
      started,
      { type: "result", lane: "main", step: "one", result: { value: [] }, at: 1 },
      evaluate,
    );
    expect(reportOf(asked)).toMatchObject({ status: "running", handoff: { id: "h1" } });
    const answered = nextState(
      tree,
      asked,
      { type: "answer", handoff: "h1", answer: "down", at: 2 },
      evaluate,
    );
    expect(reportOf(answered)).toMatchObject({ status: "running", can_resume: true });
    expect(resultOf(goOn(tree, answered, { logs: [], more: [] }))).toMatchObject({ root_cause: "Down" });
  });
});

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
        '{ type: http, source: shop, path: "/x/{id}", query: { n: "{n}" }, method: POST, body: { n: "{n}" } }',
        context,
      ),
    ).toEqual({
      ...{ type: "http", source: "shop", method: "POST", path: "/x/a%2Fb%20c", query: { n: "3" } },
      ...{ headers: {}, body: { n: 3 }, reply: {} },
    });
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

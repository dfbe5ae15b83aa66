import { nextActions, nextState, restoreState, startTree } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import {
  answer,
  cause,
  decide,
  evaluate,
  handoffOf,
  next,
  resultOf,
  run,
  step,
  treeOf,
  treeText,
} from "./fixture.ts";

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
      decided_by: "tree",
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
      ...{ root_cause: "The carrier is on strike.", decided_by: "person" },
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

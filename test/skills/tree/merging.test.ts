import { nextActions, nextState, reportOf, startTree } from "@labwright/skills";
import { describe, expect, test } from "vitest";
import {
  answer,
  cause,
  decide,
  evaluate,
  goOn,
  handoffOf,
  next,
  resultOf,
  run,
  step,
  treeOf,
  treeText,
} from "./fixture.ts";

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

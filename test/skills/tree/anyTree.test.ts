import {
  type DecisionTree,
  nextActions,
  nextState,
  reportOf,
  restoreState,
  startTree,
  TreeError,
  type TreeInput,
  type TreeState,
} from "@labwright/skills";
import { expect, test } from "vitest";
import { treeOf } from "./fixture.ts";

/** The same numbers in every run. */
function numbers(from: number) {
  let seed = from;
  const below = (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * limit);
  };
  return { below, pick: <Item>(items: readonly Item[]) => items[below(items.length)] as Item };
}
type Numbers = ReturnType<typeof numbers>;

const list = <Item>(length: number, make: (index: number) => Item) =>
  Array.from({ length }, (_, index) => make(index));

/** Up to six steps that lead anywhere, loops and dead ends among them. */
function anyTree({ below, pick }: Numbers): DecisionTree {
  const names = list(1 + below(6), (index) => `s${index}`);
  const decision = () => ({
    ...{ condition: "x", confidence: pick([0.3, 0.8, 1]) },
    conclusion: {
      ...(below(2) ? { root_cause: pick(["A", "B", "C"]) } : { partial_finding: "P" }),
      ...(below(3) ? {} : { recommended_action: { action: "act", human_approval_required: below(2) === 0 } }),
    },
    next_step: below(2) ? pick(names) : null,
  });
  const step = (name: string) => ({
    ...{ name, pre_conditions: below(4) ? [] : ["x"] },
    action: { type: "tool", tool: "get_execution_status", arguments: below(6) ? {} : { x: "{gone}" } },
    decisions: Object.fromEntries(list(1 + below(3), (index) => [`d${index}`, decision()])),
  });
  const steps = Object.fromEntries(names.map((name) => [name, step(name)]));
  const parallel_checks = names.slice(1).filter(() => below(3) === 0);
  return treeOf(JSON.stringify({ entry_point: "s0", steps, parallel_checks }));
}

/** What comes next: a result, or an answer, which must come where nothing runs. */
function anyInput({ below, pick }: Numbers, state: TreeState, at: number): TreeInput {
  const { handoff } = reportOf(state);
  const actions = nextActions(state);
  if (handoff !== undefined && (actions.length === 0 || below(5) === 0)) {
    const names = handoff.options.map(({ name }) => name);
    const answer = at > 60 && names.includes("stop") ? "stop" : pick([...names, "it was the cat"]);
    return { type: "answer", handoff: handoff.id, answer, at };
  }
  const { lane, step } = pick(actions);
  const result = below(6)
    ? { value: pick([[], [{ a: 1 }], { b: 2 }, 5, null]) }
    : { error: { code: "X", message: "y" } };
  return { type: "result", lane, step, result, at };
}

function expectSound(tree: DecisionTree, state: TreeState): void {
  const { status, handoff, result } = reportOf(state);
  expect(restoreState(tree, JSON.parse(JSON.stringify(state)))).toStrictEqual(state);
  expect(nextActions(state).length > 0).toBe(status === "running");
  if (status === "waiting") expect(handoff).toBeDefined();
  if (status !== "done") return;
  const asked = state.handoffs.filter(({ trigger }) => trigger === "critical_decision");
  const action = result?.recommended_action;
  expect(result?.root_cause === null || (result?.confidence_score ?? 0) > 0).toBe(true);
  if (action?.human_approval_required) expect(action.approved).not.toBeNull();
  if (action?.approved) expect(asked.map(({ answer }) => answer?.option)).toContain("approve");
}

test("any tree with any results and answers ends or waits, approves nothing by itself and is the same when stored", () => {
  const dice = numbers(7);
  const evaluate = () => dice.pick([true, true, false, false, { undetermined: "?" }]);
  const triggers = new Set<string>();
  for (let count = 0; count < 200; count++) {
    const tree = anyTree(dice);
    let state = startTree(tree, {}, { evaluate, at: 0 });
    let at = 0;
    for (; state.ended_at === null && at < 500; at++) {
      expectSound(tree, state);
      const input = anyInput(dice, state, at);
      state = nextState(tree, state, input, evaluate);
      if (input.type === "answer") expect(() => nextState(tree, state, input, evaluate)).toThrow(TreeError);
    }
    expect(at).toBeLessThan(500);
    expectSound(tree, state);
    for (const { trigger } of state.handoffs) triggers.add(trigger);
  }
  expect([...triggers].sort()).toEqual([
    "contradictory_data",
    "critical_decision",
    "loop",
    "low_confidence",
    "stuck_after_steps",
    "undetermined",
  ]);
});

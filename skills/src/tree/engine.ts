import { applyAnswer } from "./answer.ts";
import { merge } from "./merge.ts";
import { enter, takeResult } from "./path.ts";
import { mainLane, type Run } from "./run.ts";
import type { DecisionTree } from "./schema.ts";
import {
  type Evaluate,
  type Lane,
  type PlannedAction,
  type Scope,
  TreeError,
  type TreeInput,
  type TreeState,
  treeStateSchema,
} from "./types.ts";

/**
 * The state before the first result: the entry point and all parallel checks are given out at once. `context` is JSON; its names
 * `steps` and `result` are the tree's own. `at` is in milliseconds since 1970.
 */
export function startTree(
  tree: DecisionTree,
  context: Scope,
  { evaluate, at }: { evaluate: Evaluate; at: number },
): TreeState {
  const lane = (id: string): Lane => ({
    ...{ id, step: null, action: null, visits: {}, steps_since: 0, confidence: null, conclusion: null },
  });
  const lanes = [mainLane, ...tree.parallel_checks].map(lane);
  const state: TreeState = {
    ...{ format: 1, context: { ...context }, lanes, results: {}, history: [], evidence: [], handoffs: [] },
    ...{ settled: {}, started_at: at, waited_ms: 0, ended_at: null },
  };
  return transition({ tree, state, evaluate, at }, (run) => {
    for (const one of run.state.lanes) enter(run, one, one.id === mainLane ? tree.entry_point : one.id);
  });
}

/** The actions to run now, which may run at once. None: a person must answer, or the investigation ended. */
export const nextActions = ({ lanes }: TreeState): PlannedAction[] =>
  lanes.flatMap(({ id, step, action }) =>
    step !== null && action !== null ? [{ lane: id, step, action }] : [],
  );

/**
 * The state after a result or an answer; the given one stays as it was. Throws {@link TreeError}: NOT_EXPECTED for a result that no
 * lane waits for, NO_HANDOFF, ALREADY_ANSWERED, UNKNOWN_OPTION.
 */
export function nextState(
  tree: DecisionTree,
  state: TreeState,
  input: TreeInput,
  evaluate: Evaluate,
): TreeState {
  return transition({ tree, state, evaluate, at: input.at }, (run) => {
    if (input.type === "answer") return applyAnswer(run, input);
    const lane = run.state.lanes.find(({ id }) => id === input.lane);
    if (!lane?.action || lane.step !== input.step)
      throw new TreeError(
        "NOT_EXPECTED",
        `No result of ${input.step} on ${input.lane} is expected.`,
        "Run only the actions that nextActions gives.",
      );
    takeResult(run, lane, plain(input.result));
  });
}

function transition(given: Run, change: (run: Run) => void): TreeState {
  const run = { ...given, state: structuredClone(given.state) };
  change(run);
  merge(run);
  return plain(run.state);
}

/** As JSON holds it, so that a state that was stored and read again is the same. */
const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

/** Reads a stored state. Throws {@link TreeError} BAD_STATE when it is not a state of this tree, which may have changed meanwhile. */
export function restoreState(tree: DecisionTree, stored: unknown): TreeState {
  const parsed = treeStateSchema.safeParse(stored);
  if (!parsed.success) throw badState(parsed.error.issues[0]?.message ?? "it does not read");
  const { lanes, handoffs } = parsed.data;
  const gone = [...lanes, ...handoffs].find(({ step }) => step !== null && !Object.hasOwn(tree.steps, step));
  if (gone !== undefined) throw badState(`the tree has no step ${gone.step}`);
  return parsed.data;
}

const badState = (why: string): TreeError =>
  new TreeError(
    "BAD_STATE",
    `The stored investigation cannot go on: ${why}.`,
    "The tree changed meanwhile; start a new one.",
  );

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { parseFile } from "../nearest.ts";
import type { SkillProblem } from "../source.ts";
import { nextActions, nextState, startTree } from "./engine.ts";
import { reportOf } from "./report.ts";
import type { DecisionTree } from "./schema.ts";
import { type ActionResult, type Evaluate, handoffTriggers, TreeError, type TreeState } from "./types.ts";

const values = z.record(z.string(), z.unknown());
const answer = z.preprocess(
  (given) => (typeof given === "string" ? { answer: given } : given),
  z.strictObject({ answer: z.string().min(1), context: values.optional() }),
);

/** The keys of a file in `test_cases/`. Strict. */
export const caseSchema = z.strictObject({
  description: z.string().optional(),
  context: values,
  /** What each step's action gives: rows, an object, or `{error: text}`. Without it the real sources are asked. */
  results: values.optional(),
  /** To the questions, in order. */
  answers: z.array(answer).default([]),
  expected: z.strictObject({
    /** Null: no cause is found. */
    root_cause: z.string().nullable(),
    min_confidence: z.number().min(0).max(1).optional(),
    /** Null: none is recommended. */
    recommended_action: z.string().nullable().optional(),
    /** Why a person is asked, in order. */
    handoffs: z.array(z.enum(handoffTriggers)).optional(),
    steps_completed: z.array(z.string()).optional(),
  }),
});
export type TreeCase = z.output<typeof caseSchema>;

/** How a test case ended. */
export type CaseOutcome = {
  root_cause: string | null;
  confidence: number;
  recommended_action: string | null;
  steps_completed: readonly string[];
  /** Why a person was asked, in order. */
  handoffs: readonly string[];
  /** The question that waits for an answer, if nothing was concluded. */
  question?: string | undefined;
  /** What kept the case from its end. */
  problems: readonly string[];
};

/** `problems`: what differs from what the case expects; none when it passed. */
export type CaseTrial = {
  problems: string[];
  root_cause: string | null;
  confidence: number;
  handoffs: number;
};

/** Parses one test case of a tree; `problems` have their lines. */
export function parseCase(
  text: string,
  file: string,
  tree: DecisionTree,
): { case?: TreeCase; problems: SkillProblem[] } {
  const { source, data, problems } = parseFile({ file, text }, "a test case", caseSchema);
  for (const name of Object.keys(data?.results ?? {}))
    if (source && !Object.hasOwn(tree.steps, name))
      problems.push(source.problemAt(["results", name], `results.${name}: the tree has no such step`));
  return data && problems.length === 0 ? { case: data, problems } : { problems };
}

/** Runs a test case with the results that it gives to the steps. */
export function runCase(
  tree: DecisionTree,
  { context, results = {}, answers }: TreeCase,
  evaluate: Evaluate,
): CaseOutcome {
  const problems: string[] = [];
  let at = 0;
  let state = startTree(tree, context, { evaluate, at });
  const goOn = () => {
    for (let [next] = nextActions(state); next !== undefined; [next] = nextActions(state)) {
      const { lane, step } = next;
      if (!Object.hasOwn(results, step)) {
        problems.push(`results.${step} is missing, and the step ran`);
        return;
      }
      at += 1;
      const result = resultOf(results[step]);
      state = nextState(tree, state, { type: "result", lane, step, result, at }, evaluate);
    }
  };
  try {
    goOn();
    for (const { answer, context } of answers) {
      const handoff = reportOf(state).handoff?.id;
      if (handoff === undefined) return outcomeOf(state, [...problems, unasked(answer)]);
      state = nextState(tree, state, { type: "answer", handoff, answer, context, at }, evaluate);
      goOn();
    }
  } catch (error) {
    if (!(error instanceof TreeError)) throw error;
    problems.push(error.message);
  }
  return outcomeOf(state, problems);
}

function resultOf(value: unknown): ActionResult {
  const failed = z.strictObject({ error: z.string() }).safeParse(value);
  return failed.success ? { error: { code: "FAILED", message: failed.data.error } } : { value };
}

export const unasked = (answer: string): string => `nothing is asked that "${answer}" could answer`;

function outcomeOf(state: TreeState, problems: readonly string[]): CaseOutcome {
  const { result, handoff, history } = reportOf(state);
  const found = result ?? handoff?.conclusion;
  return {
    root_cause: found?.root_cause ?? null,
    confidence: found?.confidence_score ?? 0,
    recommended_action: found?.recommended_action?.action ?? null,
    steps_completed: history.flatMap(({ from_state, decision }) => (decision === null ? [] : [from_state])),
    handoffs: state.handoffs.map(({ trigger }) => trigger),
    question: found === undefined ? handoff?.question : undefined,
    problems,
  };
}

/** Compares what a test case expects with how it ended. */
export function judgeCase({ expected }: TreeCase, outcome: CaseOutcome): CaseTrial {
  const { root_cause, confidence, question } = outcome;
  const least = expected.min_confidence ?? 0;
  const differ = (name: "root_cause" | "recommended_action" | "handoffs" | "steps_completed") =>
    expected[name] === undefined || isDeepStrictEqual(expected[name], outcome[name])
      ? []
      : [`${name}: expected ${JSON.stringify(expected[name])}, found ${JSON.stringify(outcome[name])}`];
  const problems = [
    ...outcome.problems,
    ...differ("root_cause"),
    ...(confidence < least ? [`confidence: expected at least ${least}, found ${confidence}`] : []),
    ...differ("recommended_action"),
    ...differ("handoffs"),
    ...differ("steps_completed"),
  ];
  // The open question of a case is why the rest differs.
  if (problems.length > 0 && question !== undefined)
    problems.push(`asked, without an answer in the case: ${question}`);
  return { problems, root_cause, confidence, handoffs: outcome.handoffs.length };
}

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { describeIssue } from "../nearest.ts";
import { readSource, type SkillProblem } from "../source.ts";
import { nextActions, nextState, startTree } from "./engine.ts";
import { reportOf } from "./report.ts";
import type { DecisionTree } from "./schema.ts";
import {
  type ActionResult,
  type Evaluate,
  handoffTriggers,
  type PlannedAction,
  TreeError,
  type TreeReport,
  type TreeState,
} from "./types.ts";

const values = z.record(z.string(), z.unknown());
const answer = z.preprocess(
  (given) => (typeof given === "string" ? { answer: given } : given),
  z.strictObject({ answer: z.string().min(1), context: values.optional() }),
);

/** The keys of a file in `test_cases/`. Strict. */
export const caseSchema = z.strictObject({
  description: z.string().optional(),
  context: values,
  /** What each step's action gives: rows, an object, or `{error: text}`. A step that is missing asks its real source. */
  results: values.default({}),
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
  const source = readSource(text, file);
  if (Array.isArray(source)) return { problems: source };
  const parsed = caseSchema.safeParse(source.value);
  if (!parsed.success)
    return {
      problems: parsed.error.issues.flatMap((issue) =>
        describeIssue(issue, source, "a test case", caseSchema),
      ),
    };
  const problems = Object.keys(parsed.data.results)
    .filter((name) => !Object.hasOwn(tree.steps, name))
    .map((name) => source.problemAt(["results", name], `results.${name}: the tree has no such step`));
  return problems.length > 0 ? { problems } : { case: parsed.data, problems };
}

/** More than any tree with two visits of each step needs between two answers. */
const mostActions = 500;

/** Runs one test case. `runAction` asks the real source of a step without a result in the case; without it that is a problem. */
export async function tryCase(
  tree: DecisionTree,
  given: TreeCase,
  {
    evaluate,
    runAction,
  }: { evaluate: Evaluate; runAction?: (action: PlannedAction) => Promise<ActionResult> },
): Promise<CaseTrial> {
  let at = 0;
  const problems: string[] = [];
  const goOn = async (from: TreeState): Promise<TreeState> => {
    let state = from;
    for (let count = 0; count < mostActions; count++) {
      const [next] = nextActions(state);
      if (next === undefined) return state;
      const result = mockedResult(given, next.step) ?? (await runAction?.(next));
      if (result === undefined) {
        problems.push(`results.${next.step} is missing, and the step ran`);
        return state;
      }
      at += 1;
      state = nextState(
        tree,
        state,
        { type: "result", lane: next.lane, step: next.step, result, at },
        evaluate,
      );
    }
    return state;
  };
  let state = await goOn(startTree(tree, given.context, { evaluate, at }));
  for (const one of given.answers) {
    const handoff = reportOf(state).handoff;
    if (handoff === undefined) {
      problems.push(`nothing is asked that "${one.answer}" could answer`);
      break;
    }
    const answered = answerTo(tree, state, { ...one, handoff: handoff.id, at }, evaluate);
    if (typeof answered === "string") {
      problems.push(answered);
      break;
    }
    state = await goOn(answered);
  }
  return judge(given, state, problems);
}

function mockedResult({ results }: TreeCase, step: string): ActionResult | undefined {
  if (!Object.hasOwn(results, step)) return undefined;
  const value = results[step];
  const failed = z.strictObject({ error: z.string() }).safeParse(value);
  return failed.success ? { error: { code: "FAILED", message: failed.data.error } } : { value };
}

function answerTo(
  tree: DecisionTree,
  state: TreeState,
  { answer, context, handoff, at }: TreeCase["answers"][number] & { handoff: string; at: number },
  evaluate: Evaluate,
): TreeState | string {
  try {
    return nextState(
      tree,
      state,
      { type: "answer", handoff, answer, at, ...(context && { context }) },
      evaluate,
    );
  } catch (error) {
    if (error instanceof TreeError) return error.message;
    throw error;
  }
}

function judge({ expected }: TreeCase, state: TreeState, before: readonly string[]): CaseTrial {
  const report = reportOf(state);
  const found = report.result ?? report.handoff?.conclusion;
  const asked = state.handoffs.map(({ trigger }) => trigger);
  const confidence = found?.confidence_score ?? 0;
  const differ = (name: string, wanted: unknown, is: unknown) =>
    wanted === undefined || isDeepStrictEqual(wanted, is)
      ? []
      : [`${name}: expected ${JSON.stringify(wanted)}, found ${JSON.stringify(is)}`];
  const steps = report.history.flatMap(({ from_state, decision }) => (decision === null ? [] : [from_state]));
  const problems = [
    ...before,
    ...differ("root_cause", expected.root_cause, found?.root_cause ?? null),
    ...(confidence < (expected.min_confidence ?? 0)
      ? [`confidence: expected at least ${expected.min_confidence}, found ${confidence}`]
      : []),
    ...differ("recommended_action", expected.recommended_action, found?.recommended_action?.action ?? null),
    ...differ("handoffs", expected.handoffs, asked),
    ...differ("steps_completed", expected.steps_completed, steps),
  ];
  return {
    problems: problems.length > 0 ? [...problems, ...openQuestion(report, found !== undefined)] : [],
    root_cause: found?.root_cause ?? null,
    confidence,
    handoffs: asked.length,
  };
}

/** The open question of a case is why the rest differs. */
const openQuestion = ({ handoff }: TreeReport, isConcluded: boolean): string[] =>
  handoff === undefined || isConcluded ? [] : [`asked, without an answer in the case: ${handoff.question}`];

import { type OwnRun, ownRuns } from "./own.ts";
import { chanceOfRow } from "./statistics.ts";
import type { Facts, Judgement } from "./types.ts";

/** A row that a flaky test would bring about less often than this is no flake. */
const mostChance = 0.01;
/** So often a test is run again at most. */
export const mostReruns = 10;

/** The failures around a run without a pass between them, and what came before them. */
export type Row = {
  runs: readonly OwnRun[];
  /** At one step, of one cause. */
  isAlike: boolean;
  before: { failures: number; n: number };
};

export function rowOf(facts: Facts): Row {
  const own = ownRuns(facts);
  const at = own.findIndex(({ execution_id }) => execution_id === facts.run.execution_id);
  const start = own.slice(0, at).findLastIndex(({ passed }) => passed) + 1;
  const pass = own.findIndex(({ passed }, i) => passed && i > at);
  const runs = own.slice(start, pass === -1 ? own.length : pass);
  const before = own.slice(0, start);
  const [first] = runs;
  return {
    runs,
    isAlike: runs.every(
      ({ cause }) =>
        cause !== undefined && cause.text === first?.cause?.text && cause.step === first.cause.step,
    ),
    before: { failures: before.filter(({ passed }) => !passed).length, n: before.length },
  };
}

/** A test that fails at the same step with the same finding each time, more often than a flaky one would. */
export function rowJudgement(facts: Facts): Judgement | undefined {
  const { runs, isAlike, before } = rowOf(facts);
  const chance = chanceOfRow(runs.length, before.failures, before.n);
  const [first] = runs;
  if (!isAlike || first?.cause === undefined || chance >= mostChance) return undefined;
  const passedOnce = before.n > before.failures;
  const { step, text } = first.cause;
  return {
    decided: true,
    classification: passedOnce ? "BUG" : "VALID_FAIL",
    confidence: 1 / (1 + chance),
    summary: passedOnce
      ? `Fails the same way since ${first.started_at}, each of ${runs.length} times, and passed before: ${text}.`
      : `Failed the same way each of ${runs.length} times and never passed: ${text}. The verdict is right; whether app or test is wrong, the runs do not say.`,
    evidence: [
      `step ${step}`,
      `a flaky test with ${before.failures} failures in ${before.n} runs before would do so with a chance of ${chance.toPrecision(2)} (Beta(1,3), predictive)`,
      ...runs.slice(-20).map(({ execution_id }) => `${execution_id} failed so`),
    ],
    flaky: false,
  };
}

/** How many reruns would end it either way: by a pass, or by a row that is too long for a flake. */
export function rerunsWanted(facts: Facts): number {
  const { runs, before } = rowOf(facts);
  const left = Math.max(0, mostReruns + 1 - runs.length);
  for (let more = 1; more <= left; more++)
    if (chanceOfRow(runs.length + more, before.failures, before.n) < mostChance) return more;
  return left;
}

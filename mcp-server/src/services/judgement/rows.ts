import { ownRuns } from "./own.ts";
import { chanceOfRow } from "./statistics.ts";
import type { Decided, Facts } from "./types.ts";

/** A row of failures that a flaky test would produce less often than this is no flake. */
const mostChance = 0.01;
/** A test is run again at most so often. */
export const mostReruns = 10;

/** The failures around a run without a pass between them, whether all have one step and cause, and what came before. */
export function rowOf(facts: Facts) {
  const own = ownRuns(facts);
  const at = own.findIndex(({ id }) => id === facts.run.id);
  const start = own.slice(0, at).findLastIndex(({ passed }) => passed) + 1;
  const pass = own.findIndex(({ passed }, i) => passed && i > at);
  const runs = own.slice(start, pass === -1 ? own.length : pass);
  const before = own.slice(0, start);
  const first = runs[0]?.cause;
  return {
    runs,
    isAlike: runs.every(({ cause }) => cause && cause.text === first?.text && cause.step === first.step),
    before: { failures: before.filter(({ passed }) => !passed).length, n: before.length },
  };
}

/** A test that fails at the same step for the same cause each time, more often than a flaky test would. */
export function rowJudgement(facts: Facts): Decided | undefined {
  const { runs, isAlike, before } = rowOf(facts);
  const chance = chanceOfRow(runs.length, before.failures, before.n);
  const [first] = runs;
  if (!isAlike || !first?.cause || chance >= mostChance) return undefined;
  const passedOnce = before.n > before.failures;
  const { step, text } = first.cause;
  return {
    decided: true,
    classification: passedOnce ? "BUG" : "VALID_FAIL",
    confidence: 1 / (1 + chance),
    summary: passedOnce
      ? `Fails the same way since ${first.started_at}, each of ${runs.length} times, and passed before: ${text}.`
      : `Failed the same way each of ${runs.length} times and never passed: ${text}. The verdict is right; the runs do not say whether app or test is wrong.`,
    evidence: [
      `step ${step}`,
      `a flaky test with ${before.failures} failures in ${before.n} runs before would do so with a chance of ${chance.toPrecision(2)} (Beta(1,3), predictive)`,
      ...runs.slice(-20).map(({ id }) => `${id} failed so`),
    ],
    flaky: false,
  };
}

/** How many reruns decide it either way: by a pass, or by a row that is too long for a flake. */
export function rerunsWanted({ runs, before }: ReturnType<typeof rowOf>): number {
  const left = Math.max(0, mostReruns + 1 - runs.length);
  for (let more = 1; more <= left; more++)
    if (chanceOfRow(runs.length + more, before.failures, before.n) < mostChance) return more;
  return left;
}

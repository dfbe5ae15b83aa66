import { isFlaky, ownRuns } from "./own.ts";
import { flipsIn, succession, wilson } from "./statistics.ts";
import type { Decided, Facts } from "./types.ts";

/** Without a known build, one change can break the test and another repair it: two flips. A third needs a flaky test. */
const fewestFlips = { withBuild: 1, withoutBuild: 3 };

export const isBuildKnown = ({ run, history }: Facts): boolean =>
  run.build !== undefined || history.length === 0;

/** Runs of the test between which no change is known, and how often the outcome changed. */
export function flipsOf(facts: Facts) {
  const { run } = facts;
  const runs = ownRuns(facts).filter(
    (own) => (run.build === undefined || own.build === run.build) && (own.id === run.id || !own.isRight),
  );
  const flips = flipsIn(runs.map(({ passed }) => passed));
  const failures = runs.filter(({ passed }) => !passed).length;
  const fewest = isBuildKnown(facts) ? fewestFlips.withBuild : fewestFlips.withoutBuild;
  // Attempts of one run have one build, known or not.
  return { runs, flips, failures, isFlaky: flips >= fewest || isFlaky(run) };
}

/** A failed run of a test that passed and failed without a change. */
export function flakyJudgement(facts: Facts): Decided | undefined {
  const { runs, flips, failures, isFlaky } = flipsOf(facts);
  if (!isFlaky) return undefined;
  const { low, high } = wilson(failures, runs.length);
  const steps = new Set(runs.flatMap(({ cause }) => cause?.step || []));
  return {
    decided: true,
    classification: "SCRIPT_ISSUE",
    confidence: succession(flips),
    summary: `Flaky: ${failures} of ${runs.length} runs failed without a change between them.`,
    evidence: [
      `${flips} flips without a known cause: confidence by the rule of succession`,
      `it fails in ${percent(low)} to ${percent(high)} of runs (Wilson, 95 %)`,
      ...(steps.size > 0 ? [`failed at ${[...steps].slice(0, 5).join("; ")}`] : []),
      ...runs.slice(-20).map(({ id, passed }) => `${id} ${passed ? "passed" : "failed"}`),
    ],
    flaky: true,
  };
}

const percent = (rate: number): string => `${Math.round(rate * 100)} %`;

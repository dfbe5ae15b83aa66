import { type OwnRun, ownRuns } from "./own.ts";
import { flipsIn, succession, wilson } from "./statistics.ts";
import type { Facts, Judgement } from "./types.ts";

/**
 * Where no build is known, one change can have broken the test and another mended it: only a third flip cannot be
 * explained by the two.
 */
const fewestFlips = { known: 1, unknown: 3 };

/** Runs of the test between which nothing is known to have changed, and how often their outcome did. */
export type Flips = { runs: readonly OwnRun[]; flips: number; failures: number; isFlaky: boolean };

export function flipsOf(facts: Facts): Flips {
  const own = ownRuns(facts, { without: "right failures" });
  const same = own.filter(({ build }) => build === "same");
  const hasBuild = facts.history.every(({ build }) => build !== "unknown");
  const runs = hasBuild ? same : own.filter(({ build }) => build !== "other");
  const flips = flipsIn(runs.map(({ passed }) => passed));
  const failures = runs.filter(({ passed }) => !passed).length;
  return { runs, flips, failures, isFlaky: flips >= (hasBuild ? fewestFlips.known : fewestFlips.unknown) };
}

/** A failed run of a test that passed and failed without a change. */
export function flakyJudgement(facts: Facts): Judgement | undefined {
  const { runs, flips, failures, isFlaky } = flipsOf(facts);
  if (!isFlaky) return undefined;
  const { low, high } = wilson(failures, runs.length);
  const steps = new Set(runs.flatMap(({ cause }) => (cause && cause.step !== "" ? [cause.step] : [])));
  return {
    decided: true,
    classification: "SCRIPT_ISSUE",
    confidence: succession(flips),
    summary: `Flaky: ${failures} of ${runs.length} runs failed without a change between them.`,
    evidence: [
      `${flips} flips, of which none had a known cause: confidence by the rule of succession`,
      `it fails in ${percent(low)} to ${percent(high)} of runs (Wilson, 95 %)`,
      ...(steps.size > 0 ? [`failed at ${[...steps].slice(0, 5).join("; ")}`] : []),
      ...runs.slice(-20).map(({ execution_id, passed }) => `${execution_id} ${passed ? "passed" : "failed"}`),
    ],
    flaky: true,
  };
}

const percent = (rate: number): string => `${Math.round(rate * 100)} %`;

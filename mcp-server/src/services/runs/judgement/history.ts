import type { Classification, ExecutionStatus } from "../../../domain/index.ts";
import type { RunRecord } from "../../../storage/index.ts";
import { type Cause, causeOf, faultOf } from "./cause.ts";

/** What a run is judged by. Neither list has the run itself. */
export type Facts = {
  run: RunRecord;
  /** Finished runs of the same test, newest first. */
  history: readonly RunRecord[];
  /** Tests that ran about the same time, on the run's device or app. */
  others: readonly RunRecord[];
};

/** `evidence` names steps, runs by their id, and the figures behind the confidence. */
export type Decided = {
  decided: true;
  classification: Classification;
  /** 0..1 */
  confidence: number;
  summary: string;
  evidence: string[];
  /** Undefined where this run says nothing of it. */
  flaky?: boolean | undefined;
  /** Ids of other runs that failed for the same cause and have no judgement: the judgement holds for them too. */
  members?: string[];
};

/** The record does not show it: a model or a person must look, or the test must run again. */
export type Undecided = {
  decided: false;
  summary: string;
  evidence: string[];
  /** So many reruns would decide it. */
  reruns_wanted?: number;
};

export type Judgement = Decided | Undecided;

/** A run that says something about its test: neither stopped, nor failed by the lab or by a wrong request. */
type OwnRun = RunRecord & {
  passed: boolean;
  cause: Cause | undefined;
  /** A failure that a person judged to be right. */
  isRight: boolean;
};

/** The run and those of its history that say something about the test, oldest first. */
const ownRuns = ({ run, history }: Facts): OwnRun[] =>
  [...history.filter(countsForTest), run]
    .flatMap(attemptsOf)
    .sort((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at));

/** It passed, and an earlier attempt failed, though not by the lab. */
const neededRetry = ({ status, attempts = [] }: RunRecord): boolean =>
  status === "passed" &&
  attempts.some(
    (attempt) =>
      attempt.status !== "passed" &&
      faultOf(attempt.reason?.code ?? "", attempt.reason?.message ?? "") !== "lab",
  );

const failureStatuses: ReadonlySet<ExecutionStatus> = new Set(["failed", "error", "timeout"]);
export const isFailure = ({ status }: RunRecord): boolean => failureStatuses.has(status);

function countsForTest(past: RunRecord): boolean {
  if (past.status === "passed") return true;
  return isFailure(past) && past.classification !== "SYSTEM_ISSUE" && causeOf(past)?.fault === undefined;
}

/** A pass that needed another attempt counts as a failure and a pass. */
function attemptsOf(run: RunRecord): OwnRun[] {
  const { status, classification } = run;
  const isRight = classification === "BUG" || classification === "VALID_FAIL";
  const own = { ...run, passed: status === "passed", cause: causeOf(run), isRight };
  return neededRetry(run) ? [{ ...own, passed: false }, own] : [own];
}

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
  const flips = runs.filter(({ passed }, i) => i > 0 && passed !== runs[i - 1]?.passed).length;
  const failures = runs.filter(({ passed }) => !passed).length;
  const fewest = isBuildKnown(facts) ? fewestFlips.withBuild : fewestFlips.withoutBuild;
  // Attempts of one run have one build, known or not.
  return { runs, flips, failures, isFlaky: flips >= fewest || neededRetry(run) };
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

/** A row of failures that a flaky test would produce less often than this is not a flake. */
const mostChance = 0.01;
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

/** Wilson's interval at 95 % for a rate of `hits` in `n` > 0. */
function wilson(hits: number, n: number): { low: number; high: number } {
  const z = 1.96;
  const rate = hits / n;
  const middle = rate + (z * z) / (2 * n);
  const spread = z * Math.sqrt((rate * (1 - rate)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Laplace's rule of succession: the mean of Beta(1,1) after `n` observations that all say the same. */
export const succession = (n: number): number => (n + 1) / (n + 2);

/** A flaky test passes more often than it fails, else it is called broken: Beta(1,3), a mean of a quarter. */
const flakyPrior = { failures: 1, passes: 3 };

/** The chance that a flaky test fails `row` times in a row after `failures` of `n`: predictive, under Beta(1,3). */
function chanceOfRow(row: number, failures: number, n: number): number {
  let chance = 1;
  for (let i = 0; i < row; i++)
    chance *= (flakyPrior.failures + failures + i) / (flakyPrior.failures + flakyPrior.passes + n + i);
  return chance;
}

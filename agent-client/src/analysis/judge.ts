import { causeOf } from "./cause.ts";
import { clusterJudgement } from "./clusters.ts";
import { flakyJudgement, flipsOf } from "./flips.ts";
import { isFlaky } from "./own.ts";
import { rerunsWanted, rowJudgement, rowOf } from "./rows.ts";
import type { Classification, Facts, Judgement } from "./types.ts";

type Rule = (facts: Facts) => Judgement | undefined;

/** In this order: a fault of the lab and a common cause outrank what a test's own history says. */
const rules: readonly Rule[] = [
  withoutVerdict,
  nothingVerified,
  passed,
  byFault,
  clusterJudgement,
  flakyJudgement,
  rowJudgement,
];

/** Judges a finished run by what is on record. Never a guess: where no rule holds it is undecided. */
export function judge(facts: Facts): Judgement {
  for (const rule of rules) {
    const judgement = rule(facts);
    if (judgement) return judgement;
  }
  return undecided(facts);
}

function withoutVerdict({ run }: Facts): Judgement | undefined {
  if (run.status === "queued" || run.status === "running")
    return { decided: false, summary: `It is still ${run.status}.`, evidence: [] };
  if (run.status === "cancelled")
    return { decided: false, summary: "It was stopped, so it has no verdict to judge.", evidence: [] };
  return undefined;
}

function nothingVerified({ run }: Facts): Judgement | undefined {
  if (run.reason?.code === "NOTHING_VERIFIED")
    return decided("SCRIPT_ISSUE", 0.95, "It came to its end without a check.", ["NOTHING_VERIFIED"]);
  if (run.status !== "passed" || run.verified_count > 0) return undefined;
  return decided("SCRIPT_ISSUE", 0.7, "It passed without a check that was recorded: it proves too little.", [
    "verified_count 0",
  ]);
}

/** A pass says nothing of flakiness by itself; with a failure of the same build it does. */
function passed(facts: Facts): Judgement | undefined {
  const { run } = facts;
  if (run.status !== "passed") return undefined;
  const missing = lastTry(run).filter(({ status }) => status !== "passed");
  if (missing.length > 0) {
    const evidence = missing.slice(0, 20).map(({ step, status }) => `${step}: ${status}`);
    return { decided: false, summary: "It passed, but not each of its steps did.", evidence };
  }
  const flips = flipsOf(facts);
  const { failures, runs } = flips;
  // Attempts of one run are of one build, whether it is known or not.
  const flaky = flips.isFlaky || isFlaky(run);
  const tries = run.attempts ? ` It took ${run.attempts.length} attempts.` : "";
  const why = `The test is flaky: ${failures} of ${runs.length} runs failed without a change.`;
  return {
    decided: true,
    classification: "VALID_PASS",
    confidence: 0.9,
    summary: `Each step passed, ${run.verified_count} of them checks.${tries}${flaky ? ` ${why}` : ""}`,
    evidence: [`verified_count ${run.verified_count}`],
    flaky: flaky ? true : undefined,
  };
}

/** The steps of the attempt that decided. */
function lastTry({ attempts = [], steps }: Facts["run"]): Facts["run"]["steps"] {
  if (attempts.length < 2) return steps;
  return steps.filter(({ step }) => step.startsWith(`attempt${attempts.length}/`));
}

function byFault({ run }: Facts): Judgement | undefined {
  const cause = causeOf(run);
  if (cause?.fault === undefined) return undefined;
  const evidence = [cause.text, ...(cause.step === "" ? [] : [`step ${cause.step}`])];
  return cause.fault === "lab"
    ? decided("SYSTEM_ISSUE", 0.95, `The device or the lab failed: ${cause.text}.`, evidence)
    : decided("SCRIPT_ISSUE", 0.9, `The test asks for what there is not: ${cause.text}.`, evidence);
}

function undecided(facts: Facts): Judgement {
  const { runs, isAlike } = rowOf(facts);
  const wanted = rerunsWanted(facts);
  const known = facts.history.every(({ build }) => build !== "unknown")
    ? ""
    : " No build is known of its runs.";
  const how =
    runs.length === 1
      ? "It failed once"
      : `It failed ${runs.length} times, ${isAlike ? "alike" : "not alike"}`;
  return {
    decided: false,
    summary: `${how}; that can be the app or the test.${known}`,
    evidence: runs.slice(-20).map(({ execution_id, cause }) => `${execution_id} ${cause?.text ?? "failed"}`),
    ...(wanted > 0 && { reruns_wanted: wanted }),
  };
}

const decided = (
  classification: Classification,
  confidence: number,
  summary: string,
  evidence: readonly string[],
): Judgement => ({ decided: true, classification, confidence, summary, evidence, flaky: false });

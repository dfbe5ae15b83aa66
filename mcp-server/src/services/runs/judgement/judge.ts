import type { Classification } from "../../../domain/index.ts";
import type { RunRecord } from "../../../storage/index.ts";
import { type Cause, causeOf, isTimeout, says } from "./cause.ts";
import { decidingSteps, stepName } from "./facts.ts";
import {
  type Decided,
  type Facts,
  flakyJudgement,
  flipsOf,
  isBuildKnown,
  type Judgement,
  rerunsWanted,
  rowJudgement,
  rowOf,
  succession,
  type Undecided,
} from "./history.ts";

/** Judges by what is on record, never by a guess. The lab's fault and a common cause outrank the test's own history. */
export const judge = (facts: Facts): Judgement =>
  withoutVerdict(facts) ??
  nothingVerified(facts) ??
  passed(facts) ??
  byFault(facts) ??
  clusterJudgement(facts) ??
  flakyJudgement(facts) ??
  rowJudgement(facts) ??
  undecided(facts);

function withoutVerdict({ run: { status } }: Facts): Undecided | undefined {
  if (status !== "queued" && status !== "running" && status !== "cancelled") return undefined;
  const summary =
    status === "cancelled" ? "It was stopped, so it has no verdict to judge." : `It is still ${status}.`;
  return { decided: false, summary, evidence: [] };
}

function nothingVerified({ run }: Facts): Decided | undefined {
  if (run.reason?.code === "NOTHING_VERIFIED")
    return decided("SCRIPT_ISSUE", 0.95, "It came to its end without a check.", ["NOTHING_VERIFIED"]);
  if (run.status !== "passed" || run.verified_count > 0) return undefined;
  const summary = "Passed, but no check was recorded, so it proves too little.";
  return decided("SCRIPT_ISSUE", 0.7, summary, ["verified_count 0"]);
}

/** A pass says nothing of flakiness by itself. With a failure of the same build it does. */
function passed(facts: Facts): Judgement | undefined {
  const { status, unpassed, verified_count: checks, attempts } = facts.run;
  if (status !== "passed") return undefined;
  const missing = decidingSteps({ execution: facts.run, steps: unpassed });
  if (missing.length > 0) {
    const evidence = missing.slice(0, 20).map((step) => `${stepName(step)}: ${step.status}`);
    return { decided: false, summary: "It passed, but not each of its steps did.", evidence };
  }
  const { isFlaky, failures, runs } = flipsOf(facts);
  const summary = [
    `Each step passed, ${checks} of them checks.`,
    ...(attempts ? [`It took ${attempts.length} attempts.`] : []),
    ...(isFlaky ? [`The test is flaky: ${failures} of ${runs.length} runs failed without a change.`] : []),
  ];
  const evidence = [`verified_count ${checks}`];
  return { ...decided("VALID_PASS", 0.9, summary.join(" "), evidence), flaky: isFlaky || undefined };
}

function byFault({ run }: Facts): Decided | undefined {
  const { fault, text, step } = causeOf(run) ?? {};
  if (fault === undefined || text === undefined) return undefined;
  const evidence = [text, ...(step ? [`step ${step}`] : [])];
  return fault === "lab"
    ? decided("SYSTEM_ISSUE", 0.95, `The device or the lab failed: ${text}.`, evidence)
    : decided("SCRIPT_ISSUE", 0.9, `The test asks for what does not exist: ${text}.`, evidence);
}

function undecided(facts: Facts): Undecided {
  const row = rowOf(facts);
  const { runs, isAlike } = row;
  const wanted = rerunsWanted(row);
  const alike = isAlike ? "alike" : "not alike";
  const times = runs.length === 1 ? "It failed once" : `It failed ${runs.length} times, ${alike}`;
  const builds = isBuildKnown(facts) ? "" : " No build is known of its runs.";
  return {
    decided: false,
    summary: `${times}; that can be the app or the test.${builds}`,
    evidence: runs.slice(-20).map(({ id, cause }) => `${id} ${cause?.text ?? "failed"}`),
    ...(wanted > 0 && { reruns_wanted: wanted }),
  };
}

const decided = (
  classification: Classification,
  confidence: number,
  summary: string,
  evidence: string[],
): Decided => ({ decided: true, classification, confidence, summary, evidence, flaky: false });

/** Runs that start within so much of each other belong together. */
export const windowMs = 15 * 60_000;
/** Two tests may fail alike by chance. */
const fewestTests = 3;
/** Share of the window's tests that must fail, where the only thing in common is that something took too long. */
const shareOfSlow = 0.5;

/** Several tests that failed for the same cause on one app or device. They count as one fault, not as flaky tests. */
function clusterJudgement(facts: Facts): Decided | undefined {
  const { run } = facts;
  const cause = causeOf(run);
  const cluster = cause && findCluster(facts, cause);
  if (!cluster) return undefined;
  const { scope, members, failed, all } = cluster;
  const apps = new Set([run, ...members].map(({ userinterface }) => userinterface));
  const isLab = isTimeout(cause.code) || (scope === "device" && apps.size > 1);
  const where = scope === "device" ? `device ${run.device}` : `app ${run.userinterface}`;
  return {
    decided: true,
    classification: isLab ? "SYSTEM_ISSUE" : "BUG",
    confidence: succession(failed),
    summary: `One cause: ${failed} tests failed alike on ${where} within ${windowMs / 60_000} minutes (${cause.text}).`,
    evidence: [
      `${failed} of ${all} tests that ran there then: confidence by the rule of succession`,
      ...members.slice(0, 20).map(({ id, name }) => `${id} (${name}) failed alike`),
    ],
    flaky: false,
    members: members.filter(({ classification }) => classification === undefined).map(({ id }) => id),
  };
}

/** `failed` and `all` count different tests of the window, the judged one included. */
function findCluster({ run, others }: Facts, cause: Cause) {
  const said = says(cause);
  if (said === "nothing") return undefined;
  const count = (runs: readonly RunRecord[]) => new Set([run, ...runs].map(({ name }) => name)).size;
  for (const scope of ["userinterface", "device"] as const) {
    const around = others.filter((other) => run[scope] !== undefined && other[scope] === run[scope]);
    const members = around.filter((other) => causeOf(other)?.text === cause.text);
    const [failed, all] = [count(members), count(around)];
    if (failed >= fewestTests && (said === "cause" || failed >= all * shareOfSlow))
      return { scope, members, failed, all };
  }
  return undefined;
}

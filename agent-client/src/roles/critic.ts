import { z } from "zod";
import type { CaseError, CaseResult, ExecutionResult, Review, RiskFlag } from "../messages/contents.ts";
import { worstOf } from "../messages/status.ts";

/** The server's judgement of a run (`services/runs/judgement`) and its stored verdict. */
export const judgementSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  decided: z.boolean(),
  classification: z.string().optional(),
  summary: z.string().default(""),
  flaky: z.boolean().optional(),
});
export type RunJudgement = z.output<typeof judgementSchema>;

/** A policy file: what results must show before they count. */
export const qaPolicySchema = z.strictObject({
  min_quality_score: z.int().min(0).max(100).default(0),
  /** Most flaky cases, in percent of those that ran. */
  max_flaky_percent: z.number().min(0).max(100).default(100),
  required_browsers: z.array(z.string().min(1).max(60)).max(10).default([]),
  /** Cases that must have passed. */
  required_cases: z.array(z.string().min(1).max(100)).max(500).default([]),
});
export type QaPolicy = z.output<typeof qaPolicySchema>;

/** What a review of results looks at. `aims`: the risks and requirements that the plan set out to check. */
export type ReviewFacts = {
  result: Pick<ExecutionResult, "status" | "results" | "artifacts" | "errors">;
  judgements: readonly RunJudgement[];
  aims: readonly { id: string; isCritical: boolean }[];
  known_issues: readonly string[];
  policy?: QaPolicy | undefined;
};
type Facts = Omit<ReviewFacts, "policy"> & {
  /** Whether it passed and failed without a change. */
  isFlaky(one: CaseResult): boolean;
  /** Whether its run is there, and the error or picture of a failure. */
  isShown(one: CaseResult): boolean;
};

const didRun = ({ status }: CaseResult) => status === "PASSED" || status === "FAILED";
const idOf = (one: CaseResult) => one.execution_id ?? `${one.case} without an execution`;

/** A review of results by rules alone. The same facts give the same review. Each flag names its evidence. */
export function reviewResults({ policy, ...given }: ReviewFacts): Review {
  const { results, artifacts, errors } = given.result;
  const judgedFlaky = given.judgements.filter((one) => one.flaky).map(({ execution_id }) => execution_id);
  const shown = new Set([...artifacts, ...errors].map((one) => one.case));
  const facts: Facts = {
    ...given,
    isFlaky: (one) => one.flaky || judgedFlaky.includes(one.execution_id ?? ""),
    isShown: (one) => one.execution_id !== undefined && (one.status === "PASSED" || shown.has(one.case)),
  };
  const flags = [
    ...nothingVerified(facts),
    ...falsePasses(facts),
    ...missingEvidence(facts),
    ...skippedRisks(facts),
    ...flaky(facts),
    ...notFinished(facts),
    ...incompatible(facts),
    ...failures(facts),
  ];
  const parts = scoreParts(facts);
  return concluded(parts, flags, policy ? gapsIn(policy, results, totalOf(parts)) : []);
}

const totalOf = (parts: Review["parts"]) => Math.round(parts.reduce((sum, { points }) => sum + points, 0));

/** What parts, flags and gaps come to: score, recommendations, target and severity. */
export function concluded(parts: Review["parts"], risk_flags: RiskFlag[], gaps: string[]): Review {
  const of = (severity: RiskFlag["severity"]) => risk_flags.filter((one) => one.severity === severity);
  const [blockers, warnings] = [of("blocker"), of("warning")];
  const level = blockers.length + gaps.length > 0 ? "blocker" : warnings.length > 0 ? "warning" : "info";
  return {
    ...{ quality_score: totalOf(parts), parts, risk_flags, gaps, severity_level: level },
    recommendations: [...new Set(risk_flags.flatMap(({ flag }) => advice[flag] ?? []))],
    feedback_target: [...blockers, ...warnings][0]?.target ?? "none",
  };
}

const advice: Readonly<Record<string, string>> = {
  NOTHING_VERIFIED: "Add a check of the outcome to each of these cases.",
  FALSE_PASS: "Do not count these as passed; look at the run and correct the test.",
  MISSING_EVIDENCE: "Run these again and keep their executions and pictures.",
  SKIPPED_RISK: "Add or run a case for each risk that was not checked.",
  FLAKY: "Run these again on the same build, and repair what they wait for.",
  NOT_FINISHED: "Run what is left with more time, budget or the missing device.",
  STALE_SELECTOR: "Repair the selectors of these cases (heal or record again).",
  ENVIRONMENT_MISMATCH: "Check address, release and services of the environment.",
  ENVIRONMENT_UNSTABLE: "Repeat these when the environment is quiet.",
  BROWSER_INCOMPATIBLE: "Compare the browsers' pictures: the app behaves differently there.",
  WRONG_TEST_DATA: "Correct the inputs of these cases.",
  BROKEN_CONTRACT: "Compare reply and document; one of the two must change.",
  AUTH_EXPIRED: "Get new credentials and run these again.",
  OVER_PLANNING: "Merge cases that check the same.",
  MISSED_CRITICAL_PATH: "Add a case for each of these.",
  OUTDATED_ASSUMPTION: "Plan again with the test cases and requirements that exist now.",
  POOR_PRIORITY: "Run first what checks a high risk.",
  COST_EXPLOSION: "Drop or shorten cases, or raise the budget.",
  PLAN_INVALID: "Correct the plan.",
  POLICY_DENIED: "Test in another environment with made-up data, or grant it in the plan.",
  DEPENDENCY_DOWN: "Start the services that these tests depend on.",
};

type More = Partial<Pick<RiskFlag, "target" | "evidence">>;

/** One flag for all of these cases; none where there are none. */
const flagged = (
  flag: string,
  severity: RiskFlag["severity"],
  of: readonly CaseResult[],
  message: string,
  { target = "executor", evidence = of.map(idOf) }: More = {},
): RiskFlag[] =>
  evidence.length === 0
    ? []
    : [{ flag, severity, message, target, evidence, cases: [...new Set(of.map((one) => one.case))] }];

function nothingVerified({ result }: Facts): RiskFlag[] {
  const of = result.results.filter((one) => one.status === "PASSED" && one.verified_count === 0);
  const message = `${of.length} passed without a check that held.`;
  return flagged("NOTHING_VERIFIED", "blocker", of, message, { target: "planner" });
}

/** Passed by its report, and not by the record. */
function falsePasses({ result, judgements }: Facts): RiskFlag[] {
  // Errors are named by case, which may have failed on another browser.
  const failed = result.results.filter(({ status }) => status !== "PASSED").map((one) => one.case);
  const reported = result.errors.map((error) => error.case).filter((id) => !failed.includes(id));
  const doubted = result.results.flatMap((one) => {
    const judged = judgements.find(({ execution_id }) => execution_id === one.execution_id);
    const isReported = reported.includes(one.case);
    const why = doubtOf(one, judged) ?? (isReported ? "an error is reported for it" : undefined);
    if (one.status !== "PASSED" || why === undefined) return [];
    // What the record leaves open is a doubt, not a finding.
    const severity = judged?.status === "passed" && !judged.decided ? "warning" : "blocker";
    return flagged("FALSE_PASS", severity, [one], `${one.case} is reported as passed, but ${why}.`);
  });
  if (result.status !== "PASSED" || worstOf(result.results.map(({ status }) => status)) === "PASSED")
    return doubted;
  const message = "The whole is reported as passed, and not each of its cases is.";
  return [...doubted, ...flagged("FALSE_PASS", "blocker", [], message, { evidence: ["status"] })];
}

function doubtOf(one: CaseResult, judged: RunJudgement | undefined): string | undefined {
  if (!judged) return undefined;
  if (judged.status === "missing") return "its execution is not on record";
  if (judged.status !== "passed") return `its execution ended ${judged.status}`;
  if (!judged.decided) return `the record does not show it (${judged.summary})`;
  const { classification = "VALID_PASS", summary } = judged;
  const isSound = classification === "VALID_PASS" || one.verified_count === 0;
  return isSound ? undefined : `it is judged ${classification} (${summary})`;
}

/** A verdict without the execution that it comes from, or a failure without a picture or an error. */
function missingEvidence({ result, isShown }: Facts): RiskFlag[] {
  const of = result.results.filter((one) => didRun(one) && !isShown(one));
  const severity = of.some(({ execution_id }) => execution_id === undefined) ? "blocker" : "warning";
  return flagged("MISSING_EVIDENCE", severity, of, `${of.length} have a verdict without evidence of it.`);
}

function skippedRisks({ result, aims }: Facts): RiskFlag[] {
  return aims.flatMap(({ id, isCritical }) => {
    const of = result.results.filter(({ covers }) => covers.includes(id));
    if (of.some(didRun)) return [];
    const [why, target] =
      of.length === 0
        ? (["no case checks it", "planner"] as const)
        : (["no case for it ran to a verdict", "executor"] as const);
    const message = `${id} was not checked: ${why}.`;
    return flagged("SKIPPED_RISK", isCritical ? "blocker" : "warning", of, message, {
      target,
      evidence: [id],
    });
  });
}

function flaky({ result, isFlaky }: Facts): RiskFlag[] {
  const of = result.results.filter(isFlaky);
  return flagged("FLAKY", "warning", of, `${of.length} passed and failed without a change.`);
}

function notFinished({ result: { results } }: Facts): RiskFlag[] {
  const of = results.filter((one) => !didRun(one));
  const codes = [...new Set(of.map(({ status }) => status))].join(", ");
  const message = `${of.length} of ${results.length} cases have no verdict (${codes}).`;
  const evidence = of.map((one) => `${one.case}: ${one.status}`);
  return flagged("NOT_FINISHED", "warning", of, message, { evidence });
}

function incompatible({ result: { results } }: Facts): RiskFlag[] {
  const passed = results.filter(({ status }) => status === "PASSED");
  const of = results.filter(
    (one) =>
      one.status === "FAILED" &&
      passed.some((other) => other.case === one.case && other.browser !== one.browser),
  );
  const places = of.map((one) => `${one.case} on ${one.browser}`).join(", ");
  const message = `${places}: failed there and passed on another browser.`;
  return flagged("BROWSER_INCOMPATIBLE", "warning", of, message);
}

/** Failures by their cause, once per cause. One that is a known issue is only mentioned. */
function failures({ result: { results, errors: all }, known_issues }: Facts): RiskFlag[] {
  return [...new Set(all.map(({ code }) => code))].flatMap((flag) => {
    const errors = all.filter(({ code }) => code === flag);
    const of = errors.flatMap((error) =>
      results.filter((one) => one.case === error.case && one.status !== "PASSED"),
    );
    const isKnown = errors.every((error) => known_issues.some((issue) => isLike(issue, error)));
    const severe = errors.some(({ severity }) => severity === "high") ? "blocker" : "warning";
    const message = `${isKnown ? "Known issue: " : ""}${errors[0]?.message}`.slice(0, 500);
    const evidence = [...of.map(idOf), ...errors.map((error) => `${error.case}: ${error.code}`)];
    const target = flag === "WRONG_TEST_DATA" || flag === "OUTDATED_ASSUMPTION" ? "planner" : "executor";
    return flagged(flag, isKnown ? "info" : severe, of, message, { target, evidence });
  });
}

/** An issue that shares most of its longer words with the error. */
function isLike(issue: string, error: CaseError): boolean {
  // By their beginnings: expiry and expired are one word here.
  const words = (text: string) => new Set(text.toLowerCase().match(/\b[a-z0-9]{4,5}/g) ?? []);
  const wanted = words(issue);
  const said = words(`${error.case} ${error.code} ${error.message}`);
  const shared = [...wanted].filter((word) => said.has(word)).length;
  return wanted.size > 0 && shared >= Math.ceil(wanted.size / 2);
}

/** The parts of the score, which are printed. What did not run earns nothing. */
function scoreParts({ result: { results }, aims, isFlaky, isShown }: Facts): Review["parts"] {
  const ran = results.filter(didRun);
  const checked = ran.filter((one) => one.verified_count > 0 || one.status === "FAILED");
  const covered = aims.filter(({ id }) => ran.some(({ covers }) => covers.includes(id)));
  const steady = ran.filter((one) => !isFlaky(one));
  const part = (
    name: string,
    of: number,
    [got, all]: readonly [readonly unknown[], readonly unknown[]],
    what: string,
  ) => ({
    ...{ name, of, why: `${got.length} of ${all.length} ${what}` },
    points: all.length === 0 ? 0 : Math.round((of * got.length * 10) / all.length) / 10,
  });
  return [
    part("checks", 40, [checked, results], "cases made a check"),
    aims.length > 0
      ? part("coverage", 30, [covered, aims], "risks and requirements were checked")
      : part("coverage", 30, [ran, results], "cases ran to a verdict"),
    part("evidence", 20, [ran.filter(isShown), results], "cases have evidence"),
    part("flakes", 10, [steady, results], "cases ran without a flake"),
  ];
}

/** What the results lack by the policy, a sentence each. */
function gapsIn(policy: QaPolicy, results: readonly CaseResult[], score: number): string[] {
  const { min_quality_score: least, max_flaky_percent: most } = policy;
  const ran = results.filter(({ execution_id }) => execution_id !== undefined);
  const flaky = (100 * ran.filter((one) => one.flaky).length) / Math.max(1, ran.length);
  const missing = policy.required_cases.filter(
    (id) => !results.some((one) => one.case === id && one.status === "PASSED"),
  );
  const unseen = policy.required_browsers.filter((name) => !ran.some(({ browser }) => browser === name));
  return [
    ...(score < least ? [`The quality score is ${score}; the policy asks for ${least}.`] : []),
    ...(flaky > most ? [`${Math.round(flaky)} % of the cases are flaky; the policy allows ${most} %.`] : []),
    ...(unseen.length > 0 ? [`No case ran on ${unseen.join(", ")}, which the policy asks for.`] : []),
    ...(missing.length > 0 ? [`Not passed, though the policy asks for it: ${missing.join(", ")}.`] : []),
  ];
}

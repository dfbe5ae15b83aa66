import { z } from "zod";
import type { CaseError, CaseResult, ExecutionResult, Review, RiskFlag } from "../messages/contents.ts";
import { worstOf } from "../messages/status.ts";
import type { QaPolicy } from "./qaPolicy.ts";

/** The server's judgement of a run (`services/runs/judgement`) and its stored verdict. */
export const judgementSchema = z.looseObject({
  execution_id: z.string(),
  status: z.string(),
  decided: z.boolean(),
  classification: z.string().optional(),
  summary: z.string().default(""),
  evidence: z.array(z.string()).default([]),
  flaky: z.boolean().optional(),
});
export type RunJudgement = z.output<typeof judgementSchema>;

/** What a review of results looks at. `aims`: the risks and requirements that the plan set out to check. */
export type ReviewFacts = {
  result: ExecutionResult;
  judgements: readonly RunJudgement[];
  aims: readonly { id: string; isCritical: boolean }[];
  known_issues: readonly string[];
  policy: QaPolicy;
};

type Flag = Pick<RiskFlag, "flag" | "severity" | "message" | "target"> & {
  of: readonly CaseResult[];
  evidence: string[];
};

const didRun = ({ status }: CaseResult) => status === "PASSED" || status === "FAILED";
const idOf = (one: CaseResult) => one.execution_id ?? `${one.case} without an execution`;

/** A review of results by rules alone. The same facts give the same review. Each flag names its evidence. */
export function reviewResults(facts: ReviewFacts): Review {
  const flags = [
    ...nothingVerified(facts),
    ...falsePasses(facts),
    ...missingEvidence(facts),
    ...skippedRisks(facts),
    ...flaky(facts),
    ...notFinished(facts),
    ...failures(facts),
  ].map(({ of, ...flag }): RiskFlag => ({ ...flag, cases: [...new Set(of.map((one) => one.case))] }));
  const parts = scoreParts(facts);
  const quality_score = Math.round(parts.reduce((sum, { points }) => sum + points, 0));
  return { quality_score, parts, ...concluded(flags, facts.policy.gapsIn(facts.result, quality_score)) };
}

/** What flags come to: gaps, recommendations, target and severity. */
export function concluded(risk_flags: RiskFlag[], gaps: string[]): Omit<Review, "quality_score" | "parts"> {
  const severities = risk_flags.map(({ severity }) => severity);
  const isBlocked = severities.includes("blocker") || gaps.length > 0;
  const severity_level = isBlocked ? "blocker" : severities.includes("warning") ? "warning" : "info";
  const [first] = [...risk_flags]
    .filter(({ severity }) => severity !== "info")
    .sort((a, b) => Number(b.severity === "blocker") - Number(a.severity === "blocker"));
  const recommendations = [...new Set(risk_flags.map(({ flag }) => advice[flag] ?? ""))].filter(Boolean);
  return { risk_flags, gaps, recommendations, feedback_target: first?.target ?? "none", severity_level };
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

function nothingVerified({ result }: ReviewFacts): Flag[] {
  const of = result.results.filter(
    ({ status, verified_count }) => status === "PASSED" && verified_count === 0,
  );
  if (of.length === 0) return [];
  const message = `${of.length} passed without a check that held.`;
  return [
    { flag: "NOTHING_VERIFIED", severity: "blocker", message, target: "planner", of, evidence: of.map(idOf) },
  ];
}

/** Passed by its report, and not by the record. */
function falsePasses({ result, judgements }: ReviewFacts): Flag[] {
  const errors = new Set(result.errors.map((error) => error.case));
  const passed = result.results.filter(({ status }) => status === "PASSED");
  const byId = new Map(judgements.map((one) => [one.execution_id, one]));
  const doubted = passed.flatMap((one) => {
    const judged = byId.get(one.execution_id ?? "");
    const isReported = errors.has(one.case) && isAlone(one, result);
    const why = doubtOf(one, judged) ?? (isReported ? "an error is reported for it" : undefined);
    // What the record leaves open is a doubt, not a finding.
    const severity: Flag["severity"] = judged?.status === "passed" && !judged.decided ? "warning" : "blocker";
    return why === undefined ? [] : [{ one, why, severity }];
  });
  const isWholeWrong =
    result.status === "PASSED" && worstOf(result.results.map(({ status }) => status)) !== "PASSED";
  return [
    ...doubted.map(
      ({ one, why, severity }): Flag => ({
        ...{ flag: "FALSE_PASS", severity, target: "executor", of: [one], evidence: [idOf(one)] },
        message: `${one.case} is reported as passed, but ${why}.`,
      }),
    ),
    ...(isWholeWrong
      ? [
          {
            ...{
              flag: "FALSE_PASS",
              severity: "blocker" as const,
              target: "executor" as const,
              of: [],
              evidence: ["status"],
            },
            message: "The whole is reported as passed, and not each of its cases is.",
          },
        ]
      : []),
  ];
}

/** Errors are named by case, which may have run on several browsers. */
const isAlone = ({ case: id }: CaseResult, { results }: ExecutionResult) =>
  results.filter((one) => one.case === id).every(({ status }) => status === "PASSED");

function doubtOf(one: CaseResult, judged: RunJudgement | undefined): string | undefined {
  if (!judged) return undefined;
  if (judged.status === "missing") return "its execution is not on record";
  if (judged.status !== "passed") return `its execution ended ${judged.status}`;
  if (!judged.decided) return `the record does not show it (${judged.summary})`;
  const { classification = "VALID_PASS" } = judged;
  if (classification === "VALID_PASS" || one.verified_count === 0) return undefined;
  return `it is judged ${classification} (${judged.summary})`;
}

/** A verdict without the execution that it comes from, or a failure without a picture or an error. */
function missingEvidence({ result }: ReviewFacts): Flag[] {
  const shown = new Set([...result.artifacts, ...result.errors].map((one) => one.case));
  const of = result.results.filter(
    (one) =>
      didRun(one) && (one.execution_id === undefined || (one.status === "FAILED" && !shown.has(one.case))),
  );
  if (of.length === 0) return [];
  const message = `${of.length} have a verdict without evidence of it.`;
  const severity = of.some(({ execution_id }) => execution_id === undefined) ? "blocker" : "warning";
  return [{ flag: "MISSING_EVIDENCE", severity, message, target: "executor", of, evidence: of.map(idOf) }];
}

function skippedRisks({ result, aims }: ReviewFacts): Flag[] {
  return aims.flatMap(({ id, isCritical }): Flag[] => {
    const of = result.results.filter(({ covers }) => covers.includes(id));
    if (of.some(didRun)) return [];
    const why = of.length === 0 ? "no case checks it" : `no case for it ran to a verdict`;
    return [
      {
        ...{ flag: "SKIPPED_RISK", severity: isCritical ? "blocker" : "warning", of, evidence: [id] },
        ...{ message: `${id} was not checked: ${why}.`, target: of.length === 0 ? "planner" : "executor" },
      },
    ];
  });
}

function flaky({ result, judgements }: ReviewFacts): Flag[] {
  const moved = new Set(judgements.filter((one) => one.flaky).map(({ execution_id }) => execution_id));
  const of = result.results.filter((one) => one.flaky || moved.has(one.execution_id ?? ""));
  if (of.length === 0) return [];
  const message = `${of.length} passed and failed without a change.`;
  return [{ flag: "FLAKY", severity: "warning", message, target: "executor", of, evidence: of.map(idOf) }];
}

function notFinished({ result }: ReviewFacts): Flag[] {
  const of = result.results.filter((one) => !didRun(one));
  if (of.length === 0) return [];
  const codes = [...new Set(of.map(({ status }) => status))];
  const message = `${of.length} of ${result.results.length} cases have no verdict (${codes.join(", ")}).`;
  const evidence = of.map((one) => `${one.case}: ${one.status}`);
  return [{ flag: "NOT_FINISHED", severity: "warning", message, target: "executor", of, evidence }];
}

/** Failures by their cause, once per cause. One that is a known issue is only mentioned. */
function failures({ result, known_issues }: ReviewFacts): Flag[] {
  const byCode = new Map<string, CaseError[]>();
  for (const error of result.errors) byCode.set(error.code, [...(byCode.get(error.code) ?? []), error]);
  const failed = (error: CaseError) =>
    result.results.filter((one) => one.case === error.case && one.status !== "PASSED");
  return [
    ...incompatible(result),
    ...[...byCode].map(([flag, errors]): Flag => {
      const of = errors.flatMap(failed);
      const isKnown = errors.every((error) => known_issues.some((issue) => isLike(issue, error)));
      const severe = errors.some(({ severity }) => severity === "high") ? "blocker" : "warning";
      const message = `${isKnown ? "Known issue: " : ""}${errors[0]?.message ?? flag}`.slice(0, 500);
      const target = flag === "WRONG_TEST_DATA" || flag === "OUTDATED_ASSUMPTION" ? "planner" : "executor";
      const evidence = [...of.map(idOf), ...errors.map((error) => `${error.case}: ${error.code}`)];
      return { flag, severity: isKnown ? "info" : severe, message, target, of, evidence };
    }),
  ];
}

function incompatible({ results }: ExecutionResult): Flag[] {
  const of = results.filter(
    (one) =>
      one.status === "FAILED" &&
      results.some(
        (other) => other.case === one.case && other.browser !== one.browser && other.status === "PASSED",
      ),
  );
  if (of.length === 0) return [];
  const places = of.map((one) => `${one.case} on ${one.browser}`);
  const message = `${places.join(", ")}: failed there and passed on another browser.`;
  return [
    {
      flag: "BROWSER_INCOMPATIBLE",
      severity: "warning",
      message,
      target: "executor",
      of,
      evidence: of.map(idOf),
    },
  ];
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

const weights = { checks: 40, coverage: 30, evidence: 20, flakes: 10 } as const;

/** The parts of the score, which are printed. What did not run earns nothing. */
function scoreParts({ result, aims, judgements }: ReviewFacts): Review["parts"] {
  const { results, artifacts, errors } = result;
  const ran = results.filter(didRun);
  const checked = ran.filter(
    ({ verified_count, status }) => verified_count > 0 || status === "FAILED",
  ).length;
  const covered = aims.filter(({ id }) => ran.some(({ covers }) => covers.includes(id))).length;
  const shown = new Set([...artifacts, ...errors].map((one) => one.case));
  const evident = ran.filter(
    (one) => one.execution_id !== undefined && (one.status === "PASSED" || shown.has(one.case)),
  );
  const moved = new Set(judgements.filter((one) => one.flaky).map(({ execution_id }) => execution_id));
  const steady = ran.filter((one) => !one.flaky && !moved.has(one.execution_id ?? "")).length;
  const part = (name: keyof typeof weights, got: number, all: number, what: string) => ({
    ...{ name, of: weights[name], why: `${got} of ${all} ${what}` },
    points: all === 0 ? 0 : Math.round((weights[name] * got * 10) / all) / 10,
  });
  return [
    part("checks", checked, results.length, "cases made a check"),
    aims.length > 0
      ? part("coverage", covered, aims.length, "risks and requirements were checked")
      : part("coverage", ran.length, results.length, "cases ran to a verdict"),
    part("evidence", evident.length, results.length, "cases have evidence"),
    part("flakes", steady, results.length, "cases ran without a flake"),
  ];
}

import { causeOf, says } from "./cause.ts";
import { isTimeout } from "./faults.ts";
import { succession } from "./statistics.ts";
import type { Cause, Facts, FinishedRun, Judgement, OtherRun } from "./types.ts";

/** Runs within so much of each other's start are of one window. */
export const windowMs = 15 * 60_000;
/** Two tests may fail alike by chance. */
const fewestTests = 3;
/** Of the tests of the window, where all they have in common is that something took too long. */
const shareOfSlow = 0.5;

type Scope = "device" | "userinterface";

/** Several tests that failed of one cause on one device or app: one fault, not many moody tests. */
export function clusterJudgement({ run, others }: Facts): Judgement | undefined {
  const cause = causeOf(run);
  if (!cause || says(cause) === "nothing") return undefined;
  const near = others.filter((other) => isNear(run, other));
  for (const scope of ["userinterface", "device"] as const) {
    const around = near.filter((other) => run[scope] !== undefined && other[scope] === run[scope]);
    const members = around.filter((other) => other.status !== "passed" && other.cause?.text === cause.text);
    const tests = namesOf(members, run.name).size + 1;
    if (tests < fewestTests) continue;
    const all = namesOf(around, run.name).size + 1;
    if (says(cause) === "slowness" && tests < all * shareOfSlow) continue;
    return judged(run, cause, { scope, members, tests, all });
  }
  return undefined;
}

const isNear = (run: FinishedRun, other: OtherRun): boolean =>
  Math.abs(Date.parse(other.started_at) - Date.parse(run.started_at)) <= windowMs;

const namesOf = (runs: readonly OtherRun[], but: string): Set<string> =>
  new Set(runs.map(({ name }) => name).filter((name) => name !== but));

function judged(
  run: FinishedRun,
  cause: Cause,
  { scope, members, tests, all }: { scope: Scope; members: readonly OtherRun[]; tests: number; all: number },
): Judgement {
  const apps = new Set(members.map(({ userinterface }) => userinterface ?? "")).add(run.userinterface ?? "");
  const isLab = isTimeout(cause.code) || (scope === "device" && apps.size > 1);
  const where = scope === "device" ? `device ${run.device}` : `app ${run.userinterface}`;
  return {
    decided: true,
    classification: isLab ? "SYSTEM_ISSUE" : "BUG",
    confidence: succession(tests),
    summary: `One cause: ${tests} tests failed alike on ${where} within ${windowMs / 60_000} minutes (${cause.text}).`,
    evidence: [
      `${tests} of ${all} tests that ran there then: confidence by the rule of succession`,
      ...members.slice(0, 20).map(({ execution_id, name }) => `${execution_id} (${name}) failed alike`),
    ],
    flaky: false,
    members: members.map(({ execution_id }) => execution_id),
  };
}

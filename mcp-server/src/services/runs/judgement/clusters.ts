import type { RunRecord } from "../../../storage/index.ts";
import { type Cause, causeOf, isTimeout, says } from "./cause.ts";
import { succession } from "./history.ts";
import type { Decided, Facts } from "./types.ts";

/** Runs that start within so much of each other belong together. */
export const windowMs = 15 * 60_000;
/** Two tests may fail alike by chance. */
const fewestTests = 3;
/** Share of the window's tests that must fail, where the only thing in common is that something took too long. */
const shareOfSlow = 0.5;

/** Several tests that failed for the same cause on one app or device. They count as one fault, not as flaky tests. */
export function clusterJudgement(facts: Facts): Decided | undefined {
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
  const told = says(cause);
  if (told === "nothing") return undefined;
  const count = (runs: readonly RunRecord[]) => new Set([run, ...runs].map(({ name }) => name)).size;
  for (const scope of ["userinterface", "device"] as const) {
    const around = others.filter((other) => run[scope] !== undefined && other[scope] === run[scope]);
    const members = around.filter((other) => causeOf(other)?.text === cause.text);
    const [failed, all] = [count(members), count(around)];
    if (failed >= fewestTests && (told === "cause" || failed >= all * shareOfSlow))
      return { scope, members, failed, all };
  }
  return undefined;
}

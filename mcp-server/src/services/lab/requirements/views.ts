import { type Coverage, type ExecutionStatus, requirementPrioritySchema } from "../../../domain/index.ts";
import type { RequirementCoverage, UncoveredRequirement } from "../../../storage/index.ts";
import { pageOf } from "../../values/pages.ts";

export type CoverageVerdict = "uncovered" | "not_run" | "failed" | "partial" | "passed";

export type LinkedRun = { coverage: Coverage; status?: ExecutionStatus | undefined };

export type Outcome = "passed" | "failed" | "not_run";

const outcomes: Readonly<Record<ExecutionStatus, Outcome>> = {
  passed: "passed",
  failed: "failed",
  error: "failed",
  timeout: "failed",
  cancelled: "not_run",
  queued: "not_run",
  running: "not_run",
};

export const outcomeOf = ({ status }: LinkedRun): Outcome =>
  status === undefined ? "not_run" : outcomes[status];

/** Counts of links: by coverage, and by the last run of their test cases. Each adds up to the number of links. */
export function partsOf(links: readonly LinkedRun[]) {
  const parts = { full: 0, partial: 0, passed: 0, failed: 0, not_run: 0 };
  for (const link of links) {
    parts[link.coverage] += 1;
    parts[outcomeOf(link)] += 1;
  }
  return parts;
}

/** The verdict on a requirement. One failed run outweighs all, and one missing run every pass. */
export function verdictOf({ full, partial, failed, not_run }: ReturnType<typeof partsOf>): CoverageVerdict {
  if (full + partial === 0) return "uncovered";
  if (failed > 0) return "failed";
  if (not_run > 0) return "not_run";
  return full > 0 ? "passed" : "partial";
}

const ranks: Readonly<Record<Outcome, number>> = { failed: 0, not_run: 1, passed: 2 };

/** Test cases that failed come first, then those that have not run. */
export function coverageView(testcases: RequirementCoverage["testcases"], maxTokens: number) {
  const lines = testcases.map(({ testcase, coverage, run }) => ({ testcase, coverage, ...run }));
  const parts = partsOf(lines);
  const ranked = lines.sort((a, b) => ranks[outcomeOf(a)] - ranks[outcomeOf(b)]);
  const { items, more } = pageOf(ranked, 0, maxTokens);
  return { verdict: verdictOf(parts), parts, testcases: items, more };
}

const linksOf = (testcases: RequirementCoverage["testcases"]): LinkedRun[] =>
  testcases.map(({ coverage, run }) => ({ coverage, status: run?.status }));

/** By code. */
export const verdictsOf = (facts: readonly RequirementCoverage[]): Map<string, CoverageVerdict> =>
  new Map(facts.map(({ code, testcases }) => [code, verdictOf(partsOf(linksOf(testcases)))]));

type Judged = Pick<RequirementCoverage, "priority" | "category"> & { verdict: CoverageVerdict };

/** What the other counts take of a reply, at most: five lines of about fifty tokens. */
const countsTokens = 250;

/** Categories fill what the other counts leave of `maxTokens`. */
export function summaryView(facts: readonly RequirementCoverage[], maxTokens: number) {
  const judged = facts.map(({ priority, category, testcases }) => ({
    ...{ priority, category, verdict: verdictOf(partsOf(linksOf(testcases))) },
  }));
  const categories = pageOf(byCategory(judged), 0, maxTokens - countsTokens);
  const without = judged.filter(({ category }) => category === undefined);
  return {
    ...countsOf(judged),
    by_priority: requirementPrioritySchema.options.flatMap((priority) => {
      const of = judged.filter((one) => one.priority === priority);
      return of.length > 0 ? [{ priority, ...countsOf(of) }] : [];
    }),
    by_category: categories.items,
    ...(without.length > 0 && { no_category: countsOf(without) }),
    more: categories.more,
  };
}

function byCategory(judged: readonly Judged[]) {
  const groups = new Map<string, Judged[]>();
  for (const one of judged) {
    if (one.category === undefined) continue;
    const group = groups.get(one.category) ?? [];
    groups.set(one.category, group);
    group.push(one);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([category, group]) => ({ category, ...countsOf(group) }));
}

/** Requirements by verdict. Shares are in percent of `n`, rounded down, so that 100 means all; none of nothing. */
export function countsOf(judged: readonly Pick<Judged, "verdict">[]) {
  const counts = { uncovered: 0, not_run: 0, failed: 0, partial: 0, passed: 0 };
  for (const { verdict } of judged) counts[verdict] += 1;
  const n = judged.length;
  const percent = (of: number) => Math.floor((of * 1_000) / n) / 10;
  return {
    n,
    ...counts,
    ...(n > 0 && { covered_percent: percent(n - counts.uncovered), passed_percent: percent(counts.passed) }),
  };
}

export function uncoveredView(found: readonly UncoveredRequirement[], maxTokens: number) {
  const partly = found.filter(({ partial }) => partial > 0).length;
  const lines = found.map(({ partial, ...line }) => {
    const covered: "no" | "only partial" = partial > 0 ? "only partial" : "no";
    return { ...line, covered };
  });
  const { items, more } = pageOf(lines, 0, maxTokens);
  return { no_link: found.length - partly, only_partial: partly, requirements: items, more };
}

import { z } from "zod";
import { callTyped, ToolFailure } from "../mcp/calls.ts";
import type { Review, RiskFlag } from "../messages/contents.ts";
import type { Toolbox } from "../ports.ts";
import { concluded } from "./critic.ts";
import { coverageOf, orderOf, type TestPlan } from "./plan.ts";
import type { Denial } from "./policy.ts";

/** What a plan may name, as the lab has it now. Undefined: not known. */
export type LabFacts = {
  testcases?: readonly string[] | undefined;
  requirements?: readonly { code: string; priority: string }[] | undefined;
};

const listed = {
  testcases: z.object({ testcases: z.array(z.object({ name: z.string() })), more: z.int().default(0) }),
  requirements: z.object({
    requirements: z.array(z.object({ code: z.string(), priority: z.string() })),
    more: z.int().default(0),
  }),
};
const max_tokens = 50_000;

/** A listing that is not whole says nothing of what is missing. */
export async function labFacts(toolbox: Pick<Toolbox, "call">, signal: AbortSignal): Promise<LabFacts> {
  const ask = async <T>(name: string, schema: z.ZodType<T>): Promise<T | undefined> => {
    try {
      return await callTyped(toolbox, { name, input: { max_tokens } }, schema, signal);
    } catch (error) {
      if (error instanceof ToolFailure) return undefined;
      throw error;
    }
  };
  const [tests, requirements] = await Promise.all([
    ask("list_testcases", listed.testcases),
    ask("list_requirements", listed.requirements),
  ]);
  return {
    testcases: tests?.more === 0 ? tests.testcases.map(({ name }) => name) : undefined,
    requirements: requirements?.more === 0 ? requirements.requirements : undefined,
  };
}

type Finding = Pick<RiskFlag, "flag" | "severity" | "message"> & { cases?: string[]; evidence?: string[] };
const asFlag = ({ cases = [], evidence = [], ...finding }: Finding): RiskFlag => ({
  ...finding,
  ...{ cases, target: "planner", evidence: evidence.length > 0 ? evidence : ["the plan"] },
});

/** Cases for each risk or requirement, beyond which a plan repeats itself. */
const mostForOne = 12;
const rank = { P1: 0, P2: 1, P3: 2 } as const;

/** The failure modes of a planner that can be seen in its plan, each a flag. Empty for a sound plan. Pure. */
export function planFlags(plan: TestPlan, facts: LabFacts): RiskFlag[] {
  return [
    ...wrongOrder(plan),
    ...overPlanned(plan),
    ...missedPaths(plan, facts),
    ...outdated(plan, facts),
    ...poorPriority(plan),
    ...tooDear(plan),
    ...withoutCheck(plan),
  ].map(asFlag);
}

function wrongOrder({ cases }: TestPlan): Finding[] {
  const ids = cases.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) < at);
  if (twice.length > 0)
    return [
      {
        flag: "PLAN_INVALID",
        severity: "blocker",
        message: `Twice in the plan: ${twice.join(", ")}`,
        cases: twice,
      },
    ];
  const circle = circleIn(cases);
  return circle === undefined ? [] : [{ flag: "PLAN_INVALID", severity: "blocker", message: circle }];
}

export const hasOrder = ({ cases }: TestPlan): boolean => circleIn(cases) === undefined;

function circleIn(cases: TestPlan["cases"]): string | undefined {
  try {
    orderOf(cases);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

function overPlanned({ cases, endpoints, openapi, risks, requirements }: TestPlan): Finding[] {
  if (cases.length + endpoints.length === 0 && openapi === undefined)
    return [{ flag: "PLAN_INVALID", severity: "blocker", message: "The plan has no case and no endpoint." }];
  const aims = Math.max(1, risks.length + requirements.length);
  if (cases.length <= aims * mostForOne) return [];
  const message = `${cases.length} cases for ${aims} risks and requirements; ${aims * mostForOne} are plenty. Merge or drop some.`;
  return [{ flag: "OVER_PLANNING", severity: "warning", message }];
}

/** A high risk or a requirement of priority P1 that nothing checks. */
function missedPaths(plan: TestPlan, { requirements = [] }: LabFacts): Finding[] {
  const coverage = coverageOf(plan);
  const left = new Map(plan.not_covered.map(({ id, reason }) => [id, reason]));
  const critical = new Set([
    ...plan.risks.filter(({ level }) => level === "high").map(({ id }) => id),
    ...requirements.filter(({ priority }) => priority === "P1").map(({ code }) => code),
  ]);
  return Object.entries(coverage).flatMap(([id, by]): Finding[] => {
    if (by.length > 0) return [];
    const reason = left.get(id);
    const isCritical = critical.has(id);
    const message =
      reason === undefined ? `Nothing in the plan checks ${id}.` : `${id} is left out on purpose: ${reason}`;
    const severity = isCritical ? (reason === undefined ? "blocker" : "warning") : "info";
    return [{ flag: isCritical ? "MISSED_CRITICAL_PATH" : "NOT_COVERED", severity, message, evidence: [id] }];
  });
}

function outdated({ cases, requirements }: TestPlan, facts: LabFacts): Finding[] {
  const { testcases, requirements: known } = facts;
  const gone = cases.filter(
    ({ testcase }) => testcase !== undefined && testcases && !testcases.includes(testcase),
  );
  const codes = known?.map(({ code }) => code);
  const unknown = codes ? requirements.filter((code) => !codes.includes(code)) : [];
  return [
    ...gone.map(
      ({ id, testcase }): Finding => ({
        ...{ flag: "OUTDATED_ASSUMPTION", severity: "blocker", cases: [id] },
        message: `${id} runs the test case "${testcase}", which does not exist.`,
      }),
    ),
    ...unknown.map(
      (code): Finding => ({
        ...{ flag: "OUTDATED_ASSUMPTION", severity: "warning", evidence: [code] },
        message: `There is no requirement ${code}.`,
      }),
    ),
  ];
}

/** What checks a high risk runs after what checks none. */
function poorPriority({ cases, risks }: TestPlan): Finding[] {
  const high = new Set(risks.filter(({ level }) => level === "high").map(({ id }) => id));
  const idle = cases.filter(({ covers }) => covers.length === 0).map(({ priority }) => rank[priority]);
  const best = Math.min(...idle);
  const late = cases.filter(
    ({ covers, priority }) => covers.some((id) => high.has(id)) && rank[priority] > best,
  );
  if (late.length === 0) return [];
  const cases_ = late.map(({ id }) => id);
  const message = `${cases_.join(", ")} check a high risk and come after cases that check none. Raise their priority.`;
  return [{ flag: "POOR_PRIORITY", severity: "warning", message, cases: cases_ }];
}

function tooDear({ cases, budget, matrix }: TestPlan): Finding[] {
  const { max_execution_time, max_cost, cost_per_minute = 0 } = budget;
  const runs = Math.max(1, matrix.length);
  const of = (executor: string, times: number) =>
    times * cases.filter((one) => one.executor === executor).reduce((sum, { estimate }) => sum + estimate, 0);
  // The executors work at the same time.
  const ms = Math.max(of("web", runs), of("api", 1));
  const usd = ((of("web", runs) + of("api", 1)) / 60_000) * cost_per_minute;
  const isDear = max_cost !== undefined && usd > max_cost;
  if (ms <= max_execution_time && !isDear) return [];
  const message = isDear
    ? `The cases are estimated at $${usd.toFixed(2)}, over the budget of $${max_cost}.`
    : `The cases are estimated at ${Math.round(ms / 1_000)} s, over the budget of ${max_execution_time / 1_000} s.`;
  return [{ flag: "COST_EXPLOSION", severity: "blocker", message }];
}

const checkWords =
  /\b(?:check|checks|expect\w*|verif\w+|assert\w*|should|wait for|must|then)\b|_visible|_text|_exists|"(?:not|call)"/i;

/** A generated test that could not fail, since no step of it may be a check. */
function withoutCheck({ cases }: TestPlan): Finding[] {
  const of = cases.filter(
    ({ steps, gherkin }) =>
      (steps !== undefined || gherkin !== undefined) &&
      !checkWords.test(`${gherkin ?? ""} ${JSON.stringify(steps ?? "")}`),
  );
  if (of.length === 0) return [];
  const ids = of.map(({ id }) => id);
  const message = `${ids.join(", ")} check nothing. End each with a check of the outcome.`;
  return [{ flag: "NOTHING_VERIFIED", severity: "blocker", message, cases: ids }];
}

const soundPoints = { blocker: 20, warning: 10, info: 0 } as const;

/** A review of a plan before it runs, by rules alone. */
export function reviewPlan(plan: TestPlan, facts: LabFacts, denials: readonly Denial[] = []): Review {
  const denied = denials.map(({ message, hint }) =>
    asFlag({ flag: "POLICY_DENIED", severity: "blocker", message: `${message} ${hint}` }),
  );
  const flags = [...denied, ...planFlags(plan, facts)];
  const lists = Object.values(coverageOf(plan));
  const covered = lists.filter((by) => by.length > 0).length;
  const lost = flags.reduce((sum, { severity }) => sum + soundPoints[severity], 0);
  const parts = [
    {
      ...{
        name: "coverage",
        of: 60,
        points: lists.length === 0 ? 60 : Math.round((60 * covered) / lists.length),
      },
      why: `${covered} of ${lists.length} risks and requirements have a case`,
    },
    { name: "soundness", of: 40, points: Math.max(0, 40 - lost), why: `${flags.length} findings` },
  ];
  const quality_score = Math.round(parts.reduce((sum, { points }) => sum + points, 0));
  return { quality_score, parts, ...concluded(flags, []) };
}

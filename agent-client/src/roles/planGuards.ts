import { z } from "zod";
import { callTyped, ifFailed } from "../mcp/calls.ts";
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

const testcases = z.array(z.object({ name: z.string() })).optional();
const requirements = z.array(z.object({ code: z.string(), priority: z.string() })).optional();
const listedSchema = z.object({ testcases, requirements, more: z.int().default(0) });

/** A listing that is not whole says nothing of what is missing. */
export async function labFacts(toolbox: Pick<Toolbox, "call">, signal: AbortSignal): Promise<LabFacts> {
  const listed = async (name: string) => {
    const use = { name, input: { max_tokens: 50_000 } };
    const list = await callTyped(toolbox, use, listedSchema, signal).catch(ifFailed(() => undefined));
    return list?.more === 0 ? list : undefined;
  };
  const [tests, wishes] = await Promise.all([listed("list_testcases"), listed("list_requirements")]);
  return { testcases: tests?.testcases?.map(({ name }) => name), requirements: wishes?.requirements };
}

type More = Partial<Pick<RiskFlag, "cases" | "evidence">>;
const finding = (
  flag: string,
  severity: RiskFlag["severity"],
  message: string,
  { cases = [], evidence = ["the plan"] }: More = {},
): RiskFlag => ({ flag, severity, message, target: "planner", cases, evidence });

/** Cases for each risk or requirement, beyond which a plan repeats itself. */
const mostForOne = 12;

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
  ];
}

function wrongOrder({ cases }: TestPlan): RiskFlag[] {
  const ids = cases.map(({ id }) => id);
  const twice = ids.filter((id, at) => ids.indexOf(id) < at);
  const stuck = orderOf(cases).stuck.map(({ id }) => id);
  const [wrong, why] = twice.length > 0 ? [twice, "Twice in the plan"] : [stuck, "These wait for each other"];
  if (wrong.length === 0) return [];
  return [finding("PLAN_INVALID", "blocker", `${why}: ${wrong.join(", ")}`, { cases: wrong })];
}

function overPlanned({ cases, endpoints, openapi, base_url, risks, requirements }: TestPlan): RiskFlag[] {
  if (cases.length + endpoints.length === 0 && openapi === undefined)
    return [finding("PLAN_INVALID", "blocker", "The plan has no case and no endpoint.")];
  if (endpoints.length > 0 && base_url === undefined && openapi === undefined)
    return [
      finding("PLAN_INVALID", "blocker", "The plan's endpoints need a base_url or an openapi document."),
    ];
  const aims = Math.max(1, risks.length + requirements.length);
  if (cases.length <= aims * mostForOne) return [];
  const message = `${cases.length} cases for ${aims} risks and requirements; ${aims * mostForOne} are plenty. Merge or drop some.`;
  return [finding("OVER_PLANNING", "warning", message)];
}

const highRisks = ({ risks }: TestPlan) => risks.filter(({ level }) => level === "high").map(({ id }) => id);

/** A high risk or a requirement of priority P1 that nothing checks. */
function missedPaths(plan: TestPlan, { requirements = [] }: LabFacts): RiskFlag[] {
  const first = requirements.filter(({ priority }) => priority === "P1").map(({ code }) => code);
  const critical = new Set([...highRisks(plan), ...first]);
  return Object.entries(coverageOf(plan)).flatMap(([id, by]) => {
    if (by.length > 0) return [];
    const reason = plan.not_covered.find((one) => one.id === id)?.reason;
    const message =
      reason === undefined ? `Nothing in the plan checks ${id}.` : `${id} is left out on purpose: ${reason}`;
    if (!critical.has(id)) return [finding("NOT_COVERED", "info", message, { evidence: [id] })];
    const severity = reason === undefined ? "blocker" : "warning";
    return [finding("MISSED_CRITICAL_PATH", severity, message, { evidence: [id] })];
  });
}

function outdated(
  { cases, requirements }: TestPlan,
  { testcases, requirements: known }: LabFacts,
): RiskFlag[] {
  const gone = cases.filter(
    ({ testcase }) => testcase !== undefined && testcases?.includes(testcase) === false,
  );
  const unknown = known ? requirements.filter((id) => !known.some(({ code }) => code === id)) : [];
  return [
    ...gone.map(({ id, testcase }) => {
      const message = `${id} runs the test case "${testcase}", which does not exist.`;
      return finding("OUTDATED_ASSUMPTION", "blocker", message, { cases: [id] });
    }),
    ...unknown.map((id) =>
      finding("OUTDATED_ASSUMPTION", "warning", `There is no requirement ${id}.`, { evidence: [id] }),
    ),
  ];
}

/** A case that checks a high risk runs after one that checks none. */
function poorPriority(plan: TestPlan): RiskFlag[] {
  const high = highRisks(plan);
  const idle = plan.cases.filter(({ covers }) => covers.length === 0).map(({ priority }) => priority);
  const cases = plan.cases
    .filter(
      ({ covers, priority }) => high.some((id) => covers.includes(id)) && idle.some((one) => one < priority),
    )
    .map(({ id }) => id);
  if (cases.length === 0) return [];
  const message = `${cases.join(", ")} check a high risk and come after cases that check none. Raise their priority.`;
  return [finding("POOR_PRIORITY", "warning", message, { cases })];
}

function tooDear({ cases, budget, matrix }: TestPlan): RiskFlag[] {
  const { max_execution_time, max_cost, cost_per_minute = 0 } = budget;
  const estimateOf = (wanted: string) =>
    cases.reduce((sum, { executor, estimate }) => sum + (executor === wanted ? estimate : 0), 0);
  const [web, api] = [estimateOf("web") * Math.max(1, matrix.length), estimateOf("api")];
  // The executors work at the same time.
  const ms = Math.max(web, api);
  const usd = ((web + api) / 60_000) * cost_per_minute;
  const isDear = max_cost !== undefined && usd > max_cost;
  if (ms <= max_execution_time && !isDear) return [];
  const over = isDear
    ? `$${usd.toFixed(2)}, over the budget of $${max_cost}`
    : `${Math.round(ms / 1_000)} s, over the budget of ${max_execution_time / 1_000} s`;
  return [finding("COST_EXPLOSION", "blocker", `The cases are estimated at ${over}.`)];
}

const checkWords =
  /\b(?:check|checks|expect\w*|verif\w+|assert\w*|should|wait for|must|then)\b|_visible|_text|_exists|"(?:not|call)"/i;

/** A generated test that could not fail, since no step of it may be a check. */
function withoutCheck({ cases }: TestPlan): RiskFlag[] {
  const of = cases.filter(
    ({ steps, gherkin }) =>
      (steps !== undefined || gherkin !== undefined) &&
      !checkWords.test(`${gherkin ?? ""} ${JSON.stringify(steps ?? "")}`),
  );
  if (of.length === 0) return [];
  const ids = of.map(({ id }) => id);
  const message = `${ids.join(", ")} check nothing. End each with a check of the outcome.`;
  return [finding("NOTHING_VERIFIED", "blocker", message, { cases: ids })];
}

const lostFor = { blocker: 20, warning: 10, info: 0 } as const;

/** A review of a plan before it runs, by rules alone. */
export function reviewPlan(plan: TestPlan, facts: LabFacts, denials: readonly Denial[] = []): Review {
  const denied = denials.map(({ message, hint }) =>
    finding("POLICY_DENIED", "blocker", `${message} ${hint}`),
  );
  const flags = [...denied, ...planFlags(plan, facts)];
  const lists = Object.values(coverageOf(plan));
  const covered = lists.filter((by) => by.length > 0).length;
  const lost = flags.reduce((sum, { severity }) => sum + lostFor[severity], 0);
  const parts = [
    {
      ...{
        name: "coverage",
        of: 60,
        why: `${covered} of ${lists.length} risks and requirements have a case`,
      },
      points: lists.length === 0 ? 60 : Math.round((60 * covered) / lists.length),
    },
    { name: "soundness", of: 40, points: Math.max(0, 40 - lost), why: `${flags.length} findings` },
  ];
  return concluded(parts, flags, []);
}

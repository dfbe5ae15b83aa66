import { describeIssue, readSource, type SkillProblem } from "@labwright/skills";
import { z } from "zod";
import {
  type Endpoint,
  methodSchema,
  oneContent,
  prioritySchema,
  type Scenario,
  scenarioShape,
} from "../messages/contents.ts";
import type { MessageDraft } from "../messages/envelope.ts";
import { durationSchema, moneySchema } from "../messages/units.ts";

const text = z.string().trim().min(1).max(2_000);
const name = z.string().min(1).max(60);
const texts = z.array(text).max(100).default([]);
const address = z.url({ protocol: /^https?$/ });

const caseSchema = z
  .strictObject({
    ...scenarioShape,
    executor: z.enum(["web", "api"]),
    /** Ids of cases that run before it. */
    depends_on: z.array(name).max(50).default([]),
  })
  .refine(oneContent.isGiven, oneContent.message);
export type PlannedCase = z.output<typeof caseSchema>;

/** What is tested, how, in which order and by whom: a plan file of `labwright qa`, and the planner's answer. */
export const planSchema = z.strictObject({
  goal: text,
  /** How the goal is tested, in a few sentences. */
  strategy: text,
  /** The app (userinterface) of the web cases. */
  app: z.string().min(1).max(200).optional(),
  urls: z.array(address).max(50).default([]),
  openapi: z.string().min(1).max(2_000).optional(),
  base_url: address.optional(),
  environment: text.optional(),
  release: text.optional(),
  build: text.optional(),
  /** What may break, and how bad that would be. */
  risks: z
    .array(
      z.strictObject({ id: name, area: text, level: z.enum(["high", "medium", "low"]).default("medium") }),
    )
    .max(100)
    .default([]),
  requirements: z.array(name).max(500).default([]),
  /** Risks and requirements that are left out on purpose, and why. */
  not_covered: z
    .array(z.strictObject({ id: name, reason: text }))
    .max(100)
    .default([]),
  known_issues: texts,
  dependent_services: texts,
  /** What a tester may see or touch, in words: personal data, access to production. */
  compliance: texts,
  matrix: z.array(name).max(10).default([]),
  test_data: z.looseObject({ pii: z.array(z.string()).max(100).default([]) }).prefault({}),
  authentication: z.record(z.string(), z.string()).default({}),
  budget: z
    .strictObject({
      max_execution_time: durationSchema.default(600_000),
      /** Of each case that does not say otherwise. */
      retries: z.int().min(0).max(10).default(1),
      max_cost: moneySchema.optional(),
      cost_per_minute: moneySchema.optional(),
    })
    .prefault({}),
  grants: z
    .array(z.enum(["write:production", "pii:model", "pii:log"]))
    .max(3)
    .default([]),
  cases: z.array(caseSchema).max(500).default([]),
  /** Operations of the API that are tried without a case of their own. */
  endpoints: z
    .array(
      z.strictObject({
        method: methodSchema,
        path: text,
        priority: prioritySchema.default("P2"),
        covers: z.array(name).max(50).default([]),
      }),
    )
    .max(500)
    .default([]),
});
export type TestPlan = z.output<typeof planSchema>;

/** A plan file. What is wrong with it is named with its line. */
export function readPlan(yaml: string, file: string): { plan: TestPlan } | { problems: SkillProblem[] } {
  const source = readSource(yaml, file);
  if (Array.isArray(source)) return { problems: source };
  const { data, error } = planSchema.safeParse(source.value);
  if (data) return { plan: data };
  const problems = error.issues.flatMap((issue) => describeIssue(issue, source, "a plan", planSchema));
  return { problems: problems.sort((a, b) => a.line - b.line) };
}

/** By priority, then as written; a case comes after those that it depends on. Throws for a circle. */
export function orderOf(cases: readonly PlannedCase[]): PlannedCase[] {
  const left = [...cases].sort((a, b) => a.priority.localeCompare(b.priority));
  const ordered: PlannedCase[] = [];
  const done = new Set<string>();
  while (left.length > 0) {
    const at = left.findIndex(({ depends_on }) => depends_on.every((one) => done.has(one)));
    const [next] = left.splice(at, at === -1 ? 0 : 1);
    if (!next) throw new RangeError(`These wait for each other: ${left.map((one) => one.id).join(", ")}`);
    ordered.push(next);
    done.add(next.id);
  }
  return ordered;
}

/** For each risk and requirement of the plan, the cases and operations that check it. */
export function coverageOf({ risks, requirements, cases, endpoints }: TestPlan): Record<string, string[]> {
  const wanted = [...risks.map((risk) => risk.id), ...requirements];
  const ofEndpoints = endpoints.map((endpoint) => ({ id: endpointId(endpoint), covers: endpoint.covers }));
  return Object.fromEntries(
    wanted.map((id) => [
      id,
      [...cases, ...ofEndpoints].filter((one) => one.covers.includes(id)).map((one) => one.id),
    ]),
  );
}

export const endpointId = ({ method, path }: Pick<Endpoint, "method" | "path">): string =>
  `${method} ${path}`;

/** The plan as people and the critic see it. */
export function viewOf(plan: TestPlan) {
  const assigned = (executor: "web" | "api") =>
    plan.cases.filter((one) => one.executor === executor).map(({ id }) => id);
  return {
    ...{ goal: plan.goal, strategy: plan.strategy, risks: plan.risks },
    execution_order: orderOf(plan.cases).map(({ id }) => id),
    agent_assignments: { web: assigned("web"), api: [...assigned("api"), ...plan.endpoints.map(endpointId)] },
    coverage_map: coverageOf(plan),
  };
}

/** The messages to the executors, in the plan's order; none for an executor without work. */
export function requestsOf(plan: TestPlan): (MessageDraft & { message_type: string })[] {
  const ordered = orderOf(plan.cases);
  const { retries, ...limits } = plan.budget;
  const scenarioOf = ({ executor: _, depends_on: __, ...scenario }: PlannedCase): Scenario => ({
    retries,
    ...scenario,
  });
  const ofWeb = ordered.filter(({ executor }) => executor === "web").map(scenarioOf);
  const ofApi = ordered.filter(({ executor }) => executor === "api").map(scenarioOf);
  const { environment, release, build, known_issues, dependent_services, test_data } = plan;
  const shared = {
    sender: "PlannerAgent",
    // As many as its cases may have.
    constraints: { ...limits, max_retries: 10_000, grants: plan.grants },
    context: {
      ...{ environment, release, build, known_issues, dependent_services },
      known_risks: plan.risks.map(({ id, area, level }) => `${id}: ${area} (${level})`),
    },
  };
  const web = {
    ...{ test_scenarios: ofWeb, target_urls: plan.urls, browser_matrix: plan.matrix, test_data },
    userinterface_name: plan.app,
  };
  const api = {
    ...{ openapi_spec: plan.openapi, base_url: plan.base_url, test_data },
    endpoints: plan.endpoints.map((endpoint) => ({ retries, ...endpoint })),
    ...{ test_scenarios: ofApi, authentication_tokens: plan.authentication },
  };
  const isApi = ofApi.length + plan.endpoints.length > 0 || plan.openapi !== undefined;
  return [
    ...(ofWeb.length > 0
      ? [
          {
            ...shared,
            ...{ message_type: "WebTestExecutionRequest", recipient: "WebExecutorAgent", payload: web },
            intent: "Run the prioritised UI tests of the plan",
            expected_response: {
              type: "WebExecutionResult",
              required_fields: ["status", "artifacts", "errors"],
            },
          },
        ]
      : []),
    ...(isApi
      ? [
          {
            ...shared,
            ...{ message_type: "ApiTestExecutionRequest", recipient: "ApiExecutorAgent", payload: api },
            intent: "Validate the API's contracts, rules and sign-in",
            expected_response: {
              type: "ApiExecutionResult",
              required_fields: ["status", "results", "metrics", "errors"],
            },
          },
        ]
      : []),
  ];
}

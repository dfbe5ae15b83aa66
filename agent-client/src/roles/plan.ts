import { z } from "zod";
import { type Endpoint, endpointSchema, scenarioSchema, testDataSchema } from "../messages/contents.ts";
import { grantsSchema, type MessageDraft } from "../messages/envelope.ts";
import { durationSchema, moneySchema } from "../messages/units.ts";

const text = z.string().trim().min(1).max(2_000);
const name = z.string().min(1).max(60);
const texts = z.array(text).max(100).default([]);
const address = z.url({ protocol: /^https?$/ });

const caseSchema = scenarioSchema.safeExtend({
  executor: z.enum(["web", "api"]),
  /** Ids of cases that run before it. */
  depends_on: z.array(name).max(50).default([]),
});
type PlannedCase = z.output<typeof caseSchema>;

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
  test_data: testDataSchema.prefault({}),
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
  grants: grantsSchema,
  cases: z.array(caseSchema).max(500).default([]),
  /** Operations of the API that are tried without a case of their own. */
  endpoints: z.array(endpointSchema).max(500).default([]),
});
export type TestPlan = z.output<typeof planSchema>;

/**
 * By priority, then as written; a case comes after those that it depends on. `stuck`: cases that wait for each other, or for
 * a case that is not there. They come last.
 */
export function orderOf(cases: readonly PlannedCase[]): { ordered: PlannedCase[]; stuck: PlannedCase[] } {
  const stuck = [...cases].sort((a, b) => a.priority.localeCompare(b.priority));
  const ordered: PlannedCase[] = [];
  for (;;) {
    const done = new Set(ordered.map(({ id }) => id));
    const at = stuck.findIndex(({ depends_on }) => depends_on.every((one) => done.has(one)));
    if (at === -1) return { ordered: [...ordered, ...stuck], stuck };
    ordered.push(...stuck.splice(at, 1));
  }
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

/** Whose work a case or an operation is, by their ids. */
export const idsOf = ({ cases, endpoints }: TestPlan, executor: PlannedCase["executor"]): string[] => [
  ...cases.filter((one) => one.executor === executor).map(({ id }) => id),
  ...(executor === "api" ? endpoints.map(endpointId) : []),
];

/** The plan as people and the critic see it. */
export const viewOf = (plan: TestPlan) => ({
  ...{ goal: plan.goal, strategy: plan.strategy, risks: plan.risks },
  execution_order: orderOf(plan.cases).ordered.map(({ id }) => id),
  agent_assignments: { web: idsOf(plan, "web"), api: idsOf(plan, "api") },
  coverage_map: coverageOf(plan),
});

/** The messages to the executors, with their cases in the plan's order; none for an executor without work. */
export function requestsOf(plan: TestPlan): { executor: "web" | "api"; request: MessageDraft }[] {
  const { retries, ...limits } = plan.budget;
  const scenariosOf = (wanted: PlannedCase["executor"]) =>
    orderOf(plan.cases)
      .ordered.filter(({ executor }) => executor === wanted)
      .map(({ executor: _, depends_on: __, ...scenario }) => ({ retries, ...scenario }));
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
  const web: MessageDraft = {
    ...{ ...shared, message_type: "WebTestExecutionRequest", recipient: "WebExecutorAgent" },
    intent: "Run the prioritised UI tests of the plan",
    payload: {
      ...{
        test_scenarios: scenariosOf("web"),
        target_urls: plan.urls,
        browser_matrix: plan.matrix,
        test_data,
      },
      userinterface_name: plan.app,
    },
    expected_response: { type: "WebExecutionResult", required_fields: ["status", "artifacts", "errors"] },
  };
  const api: MessageDraft = {
    ...{ ...shared, message_type: "ApiTestExecutionRequest", recipient: "ApiExecutorAgent" },
    intent: "Validate the API's contracts, rules and sign-in",
    payload: {
      ...{ openapi_spec: plan.openapi, base_url: plan.base_url, test_data },
      endpoints: plan.endpoints.map((endpoint) => ({ retries, ...endpoint })),
      ...{ test_scenarios: scenariosOf("api"), authentication_tokens: plan.authentication },
    },
    expected_response: {
      type: "ApiExecutionResult",
      required_fields: ["status", "results", "metrics", "errors"],
    },
  };
  return [
    ...(idsOf(plan, "web").length > 0 ? [{ executor: "web" as const, request: web }] : []),
    ...(idsOf(plan, "api").length > 0 || plan.openapi ? [{ executor: "api" as const, request: api }] : []),
  ];
}

import { z } from "zod";
import { statusCodeSchema } from "./status.ts";
import { durationSchema } from "./units.ts";

const id = z.string().regex(/^[A-Za-z0-9][\w.:-]{0,99}$/, "must be letters, digits, and _ . : - inside");
const text = z.string().trim().min(1).max(2_000);
const fields = z.record(z.string(), z.unknown());
const prioritySchema = z.enum(["P1", "P2", "P3"]);
/** Ids of risks and requirements. */
const covers = z.array(z.string().min(1).max(60)).max(50).default([]);

/** A check that runs: a saved test case by its name, or steps as `save_testcase` takes them, or Gherkin. */
export const scenarioSchema = z
  .strictObject({
    id,
    description: text.optional(),
    priority: prioritySchema.default("P2"),
    covers,
    testcase: z.string().min(1).max(200).optional(),
    steps: z
      .array(z.union([text, fields]))
      .min(1)
      .max(200)
      .optional(),
    gherkin: z.string().min(1).max(50_000).optional(),
    inputs: fields.default({}),
    /** Whether it leaves all data of the app as they are. Only such a case runs in production without a grant. */
    reads_only: z.boolean().default(false),
    /** How often it is run again if it does not pass; as long as the message allows when left out. */
    retries: z.int().min(0).max(10).optional(),
    /** How long it is expected to take. */
    estimate: durationSchema.default(10_000),
  })
  .refine(
    ({ testcase, steps, gherkin }) =>
      [testcase, steps, gherkin].filter((one) => one !== undefined).length === 1,
    "needs exactly one of testcase, steps and gherkin",
  );
export type Scenario = z.output<typeof scenarioSchema>;

/** What a case types or sends, by name. Values of the names in `pii` belong to real people. */
export const testDataSchema = z.looseObject({ pii: z.array(z.string()).max(100).default([]) });
export type TestData = z.output<typeof testDataSchema>;

export const webRequestSchema = z.strictObject({
  test_scenarios: z.array(scenarioSchema).min(1).max(500),
  target_urls: z
    .array(z.url({ protocol: /^https?$/ }))
    .max(50)
    .default([]),
  /** Browsers by name, such as chrome and firefox; the server's own choice when empty. */
  browser_matrix: z.array(z.string().min(1).max(60)).max(10).default([]),
  test_data: testDataSchema.prefault({}),
  /** The attribute that the app's elements are found by, such as data-testid. */
  selector_strategy: z.string().max(100).optional(),
  userinterface_name: z.string().min(1).max(200).optional(),
});

export const endpointSchema = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]),
  path: z.string().min(1).max(2_000),
  priority: prioritySchema.default("P2"),
  covers,
  retries: z.int().min(0).max(10).optional(),
});
export type Endpoint = z.output<typeof endpointSchema>;

export const apiRequestSchema = z
  .strictObject({
    /** A file, an address, or the id of an imported document. */
    openapi_spec: z.string().min(1).max(2_000).optional(),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    endpoints: z.array(endpointSchema).max(500).default([]),
    test_scenarios: z.array(scenarioSchema).max(500).default([]),
    /** Bodies by `METHOD path`. */
    request_payloads: z.record(z.string(), z.unknown()).default({}),
    /** Headers that sign a caller in, with secrets as {{secret.NAME}}; a header by its name. */
    authentication_tokens: z.record(z.string(), z.string()).default({}),
    assertion_rules: z
      .strictObject({
        status: z.union([z.int(), z.string(), z.array(z.union([z.int(), z.string()]))]).optional(),
        /** A JSON Schema that each reply must fit. */
        schema: fields.optional(),
        response_time: durationSchema.optional(),
      })
      .prefault({}),
    test_data: testDataSchema.prefault({}),
  })
  .refine(
    ({ openapi_spec, endpoints, test_scenarios }) =>
      openapi_spec !== undefined || endpoints.length + test_scenarios.length > 0,
    "needs openapi_spec, endpoints or test_scenarios",
  )
  .refine(
    ({ endpoints, base_url, openapi_spec }) =>
      endpoints.length === 0 || base_url !== undefined || openapi_spec !== undefined,
    "endpoints need a base_url or an openapi_spec",
  );

/** Where the tests of a request run, and what is known of it. A list or one text. */
const texts = z.union([text.transform((one) => one.split(/\s*,\s*/)), z.array(text)]).default([]);
export const contextSchema = z.looseObject({
  environment: text.optional(),
  release: text.optional(),
  build: text.optional(),
  known_issues: texts,
  dependent_services: texts,
});

const artifactSchema = z.object({ case: z.string(), kind: z.string(), uri: z.string() });
/** `code`: what went wrong, of the classes in `roles/causes.ts` or the server's own. */
const caseErrorSchema = z.object({
  case: z.string(),
  code: z.string(),
  message: z.string(),
  severity: z.enum(["low", "medium", "high"]).default("medium"),
});

/** One case on one browser. */
const caseResultSchema = z.object({
  case: z.string(),
  browser: z.string().optional(),
  status: statusCodeSchema,
  execution_id: z.string().optional(),
  verified_count: z.int().default(0),
  attempts: z.int().default(0),
  flaky: z.boolean().default(false),
  duration_ms: z.number().default(0),
  covers,
});
export type CaseResult = z.output<typeof caseResultSchema>;
export type CaseError = z.output<typeof caseErrorSchema>;

/** WebExecutionResult and ApiExecutionResult: one schema for both. */
export const executionResultSchema = z.object({
  status: statusCodeSchema,
  results: z.array(caseResultSchema),
  artifacts: z.array(artifactSchema),
  errors: z.array(caseErrorSchema),
  metrics: z.object({
    cases: z.int(),
    passed: z.int(),
    checks: z.int(),
    retries: z.int(),
    duration_ms: z.number(),
    cost_usd: z.number(),
    /** Of the cases that ran; left out when none did. */
    p50_ms: z.number().optional(),
    p95_ms: z.number().optional(),
  }),
});
export type ExecutionResult = z.output<typeof executionResultSchema>;

/** TestExecutionResultReview: the result of an executor in the seed's fields. `aims`: risks and requirements to be checked. */
export const reviewRequestSchema = z.looseObject({
  summary: executionResultSchema.pick({ status: true }).loose(),
  test_cases: z.array(caseResultSchema).min(1).max(5_000),
  logs_and_artifacts: z.array(artifactSchema).default([]),
  failure_severity_hints: z.array(caseErrorSchema).default([]),
  aims: z.array(z.object({ id: z.string(), isCritical: z.boolean().default(false) })).default([]),
});

const severitySchema = z.enum(["blocker", "warning", "info"]);
export const reviewSchema = z.object({
  /** 0 to 100, the sum of `parts`. */
  quality_score: z.int().min(0).max(100),
  parts: z.array(z.object({ name: z.string(), points: z.number(), of: z.number(), why: z.string() })),
  risk_flags: z.array(
    z.object({
      flag: z.string(),
      severity: severitySchema,
      message: z.string(),
      cases: z.array(z.string()),
      evidence: z.array(z.string()).min(1),
      target: z.enum(["planner", "executor"]),
    }),
  ),
  gaps: z.array(z.string()),
  recommendations: z.array(z.string()),
  feedback_target: z.enum(["planner", "executor", "none"]),
  severity_level: severitySchema,
  /** What a model adds in words. It changes neither score nor flags. */
  comment: z.string().optional(),
});
export type Review = z.output<typeof reviewSchema>;
export type RiskFlag = Review["risk_flags"][number];

/** Message types and who takes them. */
export const messageTypes = {
  QaPlanRequest: "planner",
  WebTestExecutionRequest: "web",
  ApiTestExecutionRequest: "api",
  TestExecutionResultReview: "critic",
  TestPlanReview: "critic",
} as const;
export type Role = (typeof messageTypes)[keyof typeof messageTypes];

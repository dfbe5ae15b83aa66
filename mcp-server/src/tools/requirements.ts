import { z } from "zod";
import {
  coverageSchema,
  executionStatusSchema,
  requirementPrioritySchema as prioritySchema,
  requirementSchema,
  requirementStatusSchema as statusSchema,
} from "../domain/index.ts";
import { maxTokensField, paged } from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "requirements", capabilities: ["REQUIREMENTS"], timeoutMs: 30_000 } as const;

const requirementRef = { requirement: z.string().min(1).max(200).describe("Code or id") };
const testcaseRef = { testcase: z.string().min(1).max(200).describe("Name or id") };

const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(/^[^\p{Cc}]*$/u, "must not contain control characters");
const { description, acceptance_criteria: criteria } = requirementSchema.shape;
const texts = { code: oneLine(60).min(1).optional(), name: oneLine(200).min(1), category: oneLine(100) };

const text = z.string().optional();
/** Which runs count. */
const runFields = { environment: text, release: text, build: text, userinterface_name: text };
type RunFields = { [Field in keyof typeof runFields]?: string | undefined };
const runsOf = ({ environment, release, build, userinterface_name: userinterface }: RunFields) => ({
  environment,
  release,
  build,
  userinterface,
});

const more = z.int().optional().describe("Not shown; raise max_tokens or filter");
const verdict = z.enum(["uncovered", "not_run", "failed", "partial", "passed"]);
const headline = { code: z.string(), name: z.string(), priority: prioritySchema };
const link = { requirement: z.string(), testcase: z.string() };

export const createRequirement = defineTool({
  ...shared,
  name: "create_requirement",
  title: "Create a requirement",
  description: "Add something that the product must do. Without a code it gets the next: REQ-001 ...",
  effect: "write",
  input: z.strictObject({
    code: texts.code,
    name: texts.name,
    description: description.default(""),
    priority: prioritySchema.default("P2").describe("P1 is the most important"),
    category: texts.category.min(1).optional(),
    acceptance_criteria: criteria.default([]),
    status: statusSchema.default("active"),
  }),
  output: z.object({ id: z.string(), code: z.string(), name: z.string() }),
  async handle({ input, services }) {
    const { id, code, name } = await services.requirements.create(input);
    return { id, code, name };
  },
});

export const listRequirements = defineTool({
  ...shared,
  name: "list_requirements",
  title: "List requirements",
  description: "Requirements by code, with how many test cases each is linked to",
  effect: "read",
  input: z.strictObject({
    priority: prioritySchema.optional(),
    category: text,
    status: statusSchema.optional(),
    text: z.string().max(200).optional().describe("Words that all occur in it"),
    judged: z.boolean().default(false).describe("With the verdict of each that is not deprecated"),
    ...maxTokensField(2_000),
  }),
  unlisted: ["judged"],
  output: z.object({
    requirements: z.array(
      z.object({
        ...headline,
        category: z.string().optional(),
        status: statusSchema,
        testcases: z.int(),
        verdict: verdict.optional(),
      }),
    ),
    more,
  }),
  handle: async ({ input: { max_tokens: maxTokens, ...filter }, services }) =>
    paged(await services.requirements.list(filter, maxTokens)),
});

export const getRequirement = defineTool({
  ...shared,
  name: "get_requirement",
  title: "Get a requirement",
  description: "A whole requirement. get_requirement_coverage names its test cases",
  effect: "read",
  input: z.strictObject(requirementRef),
  output: z.object({
    ...requirementSchema.shape,
    linked: z.object({ full: z.int(), partial: z.int() }).describe("Test cases by coverage"),
  }),
  handle: ({ input, services }) => services.requirements.get(input.requirement),
});

export const updateRequirement = defineTool({
  ...shared,
  name: "update_requirement",
  title: "Change a requirement",
  description: "Change what is given of a requirement; the rest stays",
  effect: "write",
  idempotent: true,
  input: z.strictObject({
    ...requirementRef,
    code: texts.code.describe("A new one"),
    name: texts.name.optional(),
    description: description.optional(),
    priority: prioritySchema.optional(),
    category: texts.category.optional().describe("Empty: none"),
    acceptance_criteria: criteria.optional().describe("All of them"),
    status: statusSchema.optional(),
  }),
  output: requirementSchema.pick({ id: true, code: true, name: true, status: true, updated_at: true }),
  async handle({ input: { requirement, ...changes }, services }) {
    const { id, code, name, status, updated_at } = await services.requirements.update(requirement, changes);
    return { id, code, name, status, updated_at };
  },
});

export const linkTestcaseToRequirement = defineTool({
  ...shared,
  name: "link_testcase_to_requirement",
  title: "Link a test case to a requirement",
  description: "Say that a test case checks a requirement, or change how much of it",
  effect: "write",
  idempotent: true,
  input: z.strictObject({
    ...requirementRef,
    ...testcaseRef,
    coverage: coverageSchema.default("full").describe("partial: checks only a part"),
  }),
  output: z.object({ ...link, coverage: coverageSchema, result: z.enum(["linked", "changed", "unchanged"]) }),
  async handle({ input, services }) {
    const { requirement, testcase, coverage } = input;
    const { result, ...names } = await services.requirements.link(requirement, testcase, coverage);
    return { ...names, coverage, result };
  },
});

export const unlinkTestcaseFromRequirement = defineTool({
  ...shared,
  name: "unlink_testcase_from_requirement",
  title: "Unlink a test case from a requirement",
  description: "Unlink a test case from a requirement; both are kept",
  effect: "write",
  idempotent: true,
  input: z.strictObject({ ...requirementRef, ...testcaseRef }),
  output: z.object({ ...link, was_linked: z.boolean() }),
  handle: ({ input, services }) => services.requirements.unlink(input.requirement, input.testcase),
});

export const getTestcaseRequirements = defineTool({
  ...shared,
  name: "get_testcase_requirements",
  title: "Requirements of a test case",
  description: "Which requirements a test case checks",
  effect: "read",
  input: z.strictObject({ ...testcaseRef, ...maxTokensField(2_000) }),
  output: z.object({
    testcase: z.string(),
    requirements: z.array(z.object({ ...headline, status: statusSchema, coverage: coverageSchema })),
    more,
  }),
  handle: async ({ input, services }) =>
    paged(await services.requirements.ofTestcase(input.testcase, input.max_tokens)),
});

export const getRequirementCoverage = defineTool({
  ...shared,
  name: "get_requirement_coverage",
  title: "Coverage of a requirement",
  description:
    "A requirement's test cases with their last judged runs, and a verdict: uncovered, failed, not_run (one has no run), passed, or partial (all passed, none covers it in full)",
  capabilities: ["REQUIREMENTS", "REPORTING"],
  effect: "read",
  input: z.strictObject({ ...requirementRef, ...runFields, ...maxTokensField(2_000) }),
  output: z.object({
    ...headline,
    status: statusSchema,
    verdict,
    parts: z.object({
      full: z.int(),
      partial: z.int(),
      passed: z.int(),
      failed: z.int(),
      not_run: z.int(),
    }),
    testcases: z.array(
      z.object({
        testcase: z.string(),
        coverage: coverageSchema,
        status: executionStatusSchema.optional(),
        execution_id: z.string().optional(),
        at: z.string().optional().describe("Start of the run"),
      }),
    ),
    more,
  }),
  async handle({ input, services }) {
    const { requirement, max_tokens: maxTokens } = input;
    return paged(await services.requirements.coverage(requirement, runsOf(input), maxTokens));
  },
});

const counts = {
  n: z.int(),
  uncovered: z.int(),
  not_run: z.int(),
  failed: z.int(),
  partial: z.int(),
  passed: z.int(),
  covered_percent: z.number().optional().describe("Linked to a test case, of n, rounded down"),
  passed_percent: z.number().optional(),
};

export const getCoverageSummary = defineTool({
  ...shared,
  name: "get_coverage_summary",
  title: "Coverage of all requirements",
  description:
    "How many requirements are passed, partial, failed, not_run or uncovered, in all, by priority and by category. Deprecated ones are left out",
  capabilities: ["REQUIREMENTS", "REPORTING"],
  effect: "read",
  input: z.strictObject({ ...runFields, ...maxTokensField(2_000) }),
  output: z.object({
    ...counts,
    by_priority: z.array(z.object({ priority: prioritySchema, ...counts })),
    by_category: z.array(z.object({ category: z.string(), ...counts })),
    no_category: z.object(counts).optional(),
    more: more.describe("Categories not shown; raise max_tokens"),
  }),
  handle: async ({ input, services }) =>
    paged(await services.requirements.summary(runsOf(input), input.max_tokens)),
});

export const getUncoveredRequirements = defineTool({
  ...shared,
  name: "get_uncovered_requirements",
  title: "Requirements without full coverage",
  description:
    "Requirements that no test case checks, or only in part, most important first. Deprecated ones are left out",
  capabilities: ["REQUIREMENTS", "REPORTING"],
  effect: "read",
  input: z.strictObject({
    priority: prioritySchema.optional(),
    category: text,
    ...maxTokensField(2_000),
  }),
  output: z.object({
    no_link: z.int(),
    only_partial: z.int(),
    requirements: z.array(
      z.object({ ...headline, category: z.string().optional(), covered: z.enum(["no", "only partial"]) }),
    ),
    more,
  }),
  handle: async ({ input: { max_tokens: maxTokens, ...filter }, services }) =>
    paged(await services.requirements.uncovered(filter, maxTokens)),
});

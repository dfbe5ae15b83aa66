import { z } from "zod";
import {
  labelSchema,
  paramsSchema,
  retryOnSchema,
  stepsTestSchema,
  testcaseSchema,
} from "../domain/index.ts";
import {
  deviceFields,
  maxTokensField,
  replaceField,
  runFields,
  stageFields,
  testcaseEnd,
  waitField,
} from "../registry/fields.ts";
import { defineTool } from "../registry/tool.ts";

const shared = { domain: "testcases", capabilities: ["TEST_AUTHORING"], timeoutMs: 30_000 } as const;

const testcaseRef = { testcase: z.string().min(1).describe("Name or id") };
const idAndName = z.object({ id: z.string(), name: z.string() });

export const saveTestcase = defineTool({
  ...shared,
  name: "save_testcase",
  title: "Save a test case",
  description:
    "Save {name,app?,tags?,fresh?,setup?,retries?,inputs?:[{name,default?,required?}],variables?,outputs?,types?,for_each?,steps}. A step: words (go to NODE), or {command:{params},into?,id?}, {check:{params}}, {not:{check:{}}}, {call:{testcase,inputs}}, {set}, {condition}, {api_request:{method,url,checks}}, {repeat|while,steps}. To branch, blocks:[{id,type}],edges:[{from,to,on?:failure}] of start, success, failure, action{command,params}, verification, navigation{target}. Values take {{CEL}}, {{id.output.x}}",
  effect: "write",
  idempotent: true,
  timeoutMs: 60_000,
  input: z.strictObject({
    ...deviceFields,
    device_id: z.string().min(1).optional().describe("Checks commands"),
    // The strict shape is applied by the service, with every problem and its path.
    testcase: paramsSchema,
    ...replaceField,
  }),
  strictInput: z.strictObject({
    ...deviceFields,
    ...replaceField,
    testcase: z.union([stepsTestSchema, testcaseSchema]),
  }),
  output: z.object({ id: z.string(), name: z.string(), created: z.boolean() }),
  handle: ({ input: { testcase, replace, ...device }, services, context }) =>
    services.testcases.saveFor(testcase, device, context, replace),
});

export const loadTestcase = defineTool({
  ...shared,
  name: "load_testcase",
  title: "Load a test case",
  description: "A saved test case as save_testcase takes it, in steps if it is a sequence",
  effect: "read",
  authored: true,
  input: z.strictObject(testcaseRef),
  output: z.object({ id: z.string(), updated_at: z.string(), testcase: paramsSchema }),
  handle: ({ input, services }) => services.testcases.loadWritten(input.testcase),
});

export const listTestcases = defineTool({
  ...shared,
  name: "list_testcases",
  title: "List test cases",
  description: "Saved test cases with their inputs",
  capabilities: ["TEST_AUTHORING", "TESTING"],
  effect: "read",
  input: z.strictObject({
    tag: z.string().optional(),
    userinterface_name: z.string().optional(),
    offset: z.int().min(0).default(0).describe("So many of the first are left out"),
    ...maxTokensField(2_000),
  }),
  unlisted: ["offset"],
  output: z.object({
    testcases: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        project: z.string().optional(),
        userinterface_name: z.string().optional(),
        tags: z.array(z.string()).optional(),
        inputs: z.array(z.string()).optional(),
        needs_device: z.literal(false).optional(),
      }),
    ),
    more: z.int().optional().describe("Not shown; raise max_tokens or filter"),
  }),
  async handle({ input, services }) {
    const { tag, offset, userinterface_name: userinterface, max_tokens: maxTokens } = input;
    const { testcases, more } = await services.testcases.list({ tag, userinterface, offset, maxTokens });
    return { testcases, ...(more > 0 && { more }) };
  },
});

export const renameTestcase = defineTool({
  ...shared,
  name: "rename_testcase",
  title: "Rename a test case",
  description: "Rename a test case, also where other test cases call it",
  effect: "write",
  input: z.strictObject({ ...testcaseRef, new_name: labelSchema }),
  output: idAndName.extend({ callers: z.array(z.string()).describe("Changed too") }),
  handle: ({ input, services }) => services.testcases.rename(input.testcase, input.new_name),
});

export const deleteTestcase = defineTool({
  ...shared,
  name: "delete_testcase",
  title: "Delete a test case",
  description: "Delete a test case; its executions stay",
  effect: "destructive",
  input: z.strictObject({ ...testcaseRef, confirm: z.boolean().default(false) }),
  output: idAndName,
  handle: ({ input, services }) => services.testcases.remove(input.testcase, input.confirm),
});

const text = z.string().min(1).max(200).optional();

export const executeTestcase = defineTool({
  ...shared,
  name: "execute_testcase",
  title: "Run a test case",
  description:
    "Run a saved test case and wait for its verdict: passed, failed (a check did not hold), error (could not be judged), cancelled or timeout",
  capabilities: ["TESTING", "UI_VALIDATION"],
  effect: "write",
  timeoutMs: 660_000,
  input: z.strictObject({
    ...testcaseRef,
    ...deviceFields,
    userinterface_name: z.string().min(1).optional().describe("Instead of the saved app"),
    fresh: z.boolean().optional(),
    inputs: paramsSchema.default({}),
    ...waitField,
    timeout_ms: z.int().min(1_000).max(86_400_000).default(1_800_000).describe("Of the run"),
    environment: text,
    allow_production: z.boolean().optional().describe("Requests may change data in production"),
    release: text,
    build: text,
    correlation_id: text,
    retries: testcaseSchema.shape.retries,
    retry_on: retryOnSchema.optional(),
    slow_ms: z.int().min(0).max(60_000).optional().describe("A pause behind each command"),
    stop: z.boolean().optional().describe("Stops before each step; the call returns at each stop"),
    go: z
      .strictObject({ execution_id: z.string(), way: z.enum(["next", "on"]) })
      .optional()
      .describe("Starts no run: makes the next step of this run, which is stopped, or all that are left"),
    unsaved: paramsSchema
      .optional()
      .describe("The test itself, as save_testcase takes it; it is run and not saved"),
  }),
  unlisted: ["allow_production", "slow_ms", "stop", "go", "unsaved"],
  output: z.object({
    ...runFields,
    steps_done: z.int(),
    ...stageFields,
    ...testcaseEnd,
  }),
  handle: ({ input, services, context }) => services.testcases.execute(input, context),
});

export const generateAndSaveTestcase = defineTool({
  ...shared,
  name: "generate_and_save_testcase",
  title: "Make a test case of words",
  description:
    'Make a test of steps, one a line: go to NODE; click "X"; type "T" into "X"; press KEY; check NODE is shown; check or wait for text "T". Saves nothing unless it understands all; names what it does not',
  effect: "write",
  authored: true,
  timeoutMs: 60_000,
  input: z.strictObject({
    name: labelSchema,
    userinterface_name: z.string().min(1),
    description: z.string().min(1).max(8_000),
    ...deviceFields,
    device_id: deviceFields.device_id.describe("Checks commands"),
    save: z.boolean().default(true),
  }),
  output: z.object({
    saved: z.boolean(),
    testcase_id: z.string().optional(),
    name: z.string(),
    steps: z.string().optional(),
    testcase: paramsSchema.optional(),
    understood: z.int().optional(),
    not_understood: z.array(z.string()).optional(),
  }),
  handle: ({ input, services, context }) => services.authoring.generate(input, context),
});

import { z } from "zod";
import { actionBatchSchema, actionSchema, actionTypeSchema, verificationSchema } from "./action.ts";
import { apiRequestShape } from "./apiRequest.ts";
import { durationMs, labelSchema, paramsSchema, type Source, startShape } from "./common.ts";

const blockId = z
  .string()
  .regex(/^[A-Za-z_][\w-]{0,79}$/, "a block id is letters, digits, _ and -, and starts with a letter");

/** As long as the words of a step may be, which are its label. */
export const longestWords = 400;
const mostBlocks = 500;
const wordsSchema = z
  .string()
  .trim()
  .min(1)
  .max(longestWords)
  .regex(/^[^\p{Cc}]*$/u, "must not contain control characters");

const common = { id: blockId, label: wordsSchema.optional() };

const marker = (type: "start" | "success" | "failure") =>
  z.strictObject({ ...common, type: z.literal(type) });

const navigationBlock = z.strictObject({
  ...common,
  type: z.literal("navigation"),
  target: z.string().min(1),
});
const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,79}$/, "a variable's name is letters, digits and _, and starts with a letter");
const actionBlock = z.strictObject({
  ...common,
  type: z.literal("action"),
  /** The variable that takes what the command read: its `value`, else its `rows`, else all its data. */
  into: variableName.optional(),
  command: z.string().min(1),
  params: paramsSchema.default({}),
  action_type: actionTypeSchema.optional(),
  iterator: actionSchema.shape.iterator,
  retry_actions: actionBatchSchema.shape.retry_actions,
  failure_actions: actionBatchSchema.shape.failure_actions,
});
const verificationBlock = z.strictObject({
  ...common,
  type: z.literal("verification"),
  command: z.string().min(1),
  params: paramsSchema.default({}),
  verification_type: actionTypeSchema.optional(),
  negate: verificationSchema.shape.negate,
  timeout_ms: verificationSchema.shape.timeout_ms,
});
const conditionBlock = z.strictObject({
  ...common,
  type: z.literal("condition"),
  /** A CEL expression over inputs, variables and block outputs; it must give true or false. */
  expression: z.string().min(1).max(2_000),
});
const setBlock = z.strictObject({ ...common, type: z.literal("set"), values: paramsSchema });
const sleepBlock = z.strictObject({ ...common, type: z.literal("sleep"), duration_ms: durationMs(600_000) });
const timeBlock = z.strictObject({ ...common, type: z.literal("get_current_time") });
const apiRequestBlock = z.strictObject({
  ...common,
  type: z.literal("api_request"),
  ...apiRequestShape,
});
const callBlock = z.strictObject({
  ...common,
  type: z.literal("call_testcase"),
  testcase: z.string().min(1),
  inputs: paramsSchema.default({}),
});
/** Runs a script of the scripts folder on the test's device; passes when the script does. */
const scriptBlock = z.strictObject({
  ...common,
  type: z.literal("script"),
  script: z.string().min(1).max(200),
  args: z.array(z.string().max(4_000)).max(50).default([]),
  timeout_ms: durationMs(3_600_000).default(300_000),
});

const simpleBlocks = [
  marker("start"),
  marker("success"),
  marker("failure"),
  navigationBlock,
  actionBlock,
  verificationBlock,
  conditionBlock,
  setBlock,
  sleepBlock,
  timeBlock,
  apiRequestBlock,
  callBlock,
  scriptBlock,
] as const;

export type SimpleBlock = z.output<(typeof simpleBlocks)[number]>;
export type LoopBlock = {
  id: string;
  label?: string | undefined;
  type: "loop";
  /** Exactly one of `iterations` and `while` (a CEL expression, at most 1,000 rounds). `loop.index` counts from 0. */
  iterations?: number | undefined;
  while?: string | undefined;
  body: Graph;
  on_failure: "break" | "continue";
};
export type Block = SimpleBlock | LoopBlock;
export const blockTypes: readonly Block["type"][] = [
  ...simpleBlocks.map(({ shape }) => shape.type.value),
  "loop",
];
export const blockKeys = (type: SimpleBlock["type"]): string[] =>
  simpleBlocks.flatMap(({ shape }) => (shape.type.value === type ? Object.keys(shape) : []));
export type GraphEdge = { from: string; to: string; on: "success" | "failure" };
export type Graph = { blocks: Block[]; edges: GraphEdge[] };

const edgeSchema = z.strictObject({
  from: blockId,
  to: blockId,
  on: z.enum(["success", "failure"]).default("success"),
});

const loopBlock: z.ZodType<LoopBlock> = z.strictObject({
  ...common,
  type: z.literal("loop"),
  iterations: z.int().min(1).max(1_000).optional(),
  while: z.string().min(1).max(2_000).optional(),
  get body(): z.ZodType<Graph> {
    return graphSchema;
  },
  on_failure: z.enum(["break", "continue"]).default("break"),
});

export const blockSchema: z.ZodType<Block> = z.union([z.discriminatedUnion("type", simpleBlocks), loopBlock]);

export const graphSchema: z.ZodType<Graph> = z.strictObject({
  blocks: z.array(blockSchema).min(1).max(mostBlocks),
  edges: z.array(edgeSchema).max(1_000),
});

const inputSchema = z.strictObject({
  name: variableName,
  default: z.unknown().optional(),
  required: z.boolean().default(false),
});

export const retryOnSchema = z.enum(["error", "any"]);
export type RetryOn = z.output<typeof retryOnSchema>;

export const valueTypeSchema = z.enum(["text", "number", "boolean", "list", "object"]);
export type ValueType = z.output<typeof valueTypeSchema>;

/** Rows, one placeholder that gives them, or a CSV or JSON file of the uploads folder. */
const rowsSchema = z.union([
  z.array(paramsSchema).min(1).max(1_000),
  z
    .string()
    .max(500)
    .regex(
      /^\s*\{\{[^{}]+\}\}\s*$|^[^{}]+\.(?:csv|json)$/i,
      "for_each is a list of rows, one {{expression}} that gives them, or a .csv or .json file of the uploads folder",
    ),
]);

const appName = z.string().min(1).optional();

/** All of a test case but what it does. `outputs` name variables or `{{block_id.output}}` that a caller gets back. */
const headShape = {
  name: labelSchema,
  description: z.string().max(2_000).optional(),
  tags: z.array(z.string().min(1).max(40)).max(20).default([]),
  covers: z.array(z.string().min(1).max(60)).max(50).optional(),
  ...startShape,
  inputs: z.array(inputSchema).max(50).default([]),
  variables: paramsSchema.default({}),
  /** For inputs and variables, however they are assigned. A text that spells the type is read as it. */
  types: z.record(z.string(), valueTypeSchema).optional(),
  /** The test runs once for each row; the columns of a row are inputs of these names. */
  for_each: rowsSchema.optional(),
  outputs: z.record(z.string(), z.string()).default({}),
  /** How often a run is tried again that could not be judged (`error`) or did not pass (`any`). */
  retries: z.int().min(0).max(10).optional(),
  retry_on: retryOnSchema.optional(),
};

/** WHAT to check, naming screens by label. */
export const testcaseSchema = z.strictObject({
  ...headShape,
  userinterface_name: appName,
  blocks: z.array(blockSchema).min(1).max(mostBlocks),
  edges: z.array(edgeSchema).max(1_000),
});
/** The short form of a test case that is a sequence. A step is words, or an object that names what it does. */
export const stepsTestSchema = z.strictObject({
  ...headShape,
  app: appName,
  userinterface_name: appName,
  steps: z.array(z.union([z.string(), paramsSchema])).max(mostBlocks),
});
export type TestCaseInput = z.output<typeof testcaseSchema>;
export type TestCase = TestCaseInput & { id: string; created_at: string; updated_at: string; source: Source };

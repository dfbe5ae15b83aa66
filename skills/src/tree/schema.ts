import { z } from "zod";
import { translateCondition } from "./conditions.ts";
import { bindProblem } from "./sql.ts";

/** Names of options that every handoff may offer. */
const reserved = new Set(["accept", "approve", "continue", "reject", "retry", "stop"]);

const name = z
  .string()
  .regex(/^[A-Za-z_]\w{0,99}$/, "must be letters, digits and underscores, and begin with a letter")
  .refine((text) => !reserved.has(text), `must not be one of ${[...reserved].join(", ")}`);
const text = z.string().trim().min(1).max(4_000);
const values = z.record(z.string(), z.unknown());

/** A condition, translated to CEL. */
export const conditionSchema = z
  .string()
  .trim()
  .min(1)
  .max(2_000)
  .transform((condition, context) => {
    const translated = translateCondition(condition);
    if (typeof translated === "string") return translated;
    context.addIssue({ code: "custom", message: translated.problem });
    return z.NEVER;
  });

const sql = z
  .string()
  .min(1)
  .max(20_000)
  .superRefine((template, context) => {
    const problem = bindProblem(template);
    if (problem !== undefined) context.addIssue({ code: "custom", message: problem });
  });

const queryAction = z
  .strictObject({
    type: z.literal("query"),
    source: name.optional(),
    query_template: sql.optional(),
    mapping: name.optional(),
    params: values.optional(),
  })
  .refine(({ query_template, mapping }) => query_template ?? mapping, "needs query_template or mapping")
  .refine(({ source, mapping }) => source ?? mapping, "needs source, one of data_sources");

/** An investigation only reads: `reads` is the author's word that a POST changes nothing, such as a search. */
const request = {
  method: z
    .enum(["GET", "HEAD", "POST"], "must be GET, HEAD or POST: an investigation only reads")
    .default("GET"),
  reads: z.boolean().default(false),
  path: z.string().regex(/^\//, "must begin with a slash"),
  query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
};
const onlyReads = ({ method, reads }: { method: string; reads: boolean }) => method !== "POST" || reads;
const readsProblem = {
  path: ["method"],
  message: "POST needs reads: true next to it, if it changes nothing",
};

const httpAction = z
  .strictObject({
    type: z.literal("http"),
    source: name.optional(),
    ...request,
    path: request.path.optional(),
    mapping: name.optional(),
    params: values.optional(),
  })
  .refine(onlyReads, readsProblem)
  .refine(({ path, mapping }) => path ?? mapping, "needs path or mapping")
  .refine(({ source, mapping }) => source ?? mapping, "needs source, one of data_sources.apis");

const toolAction = z.strictObject({
  type: z.literal("tool"),
  tool: z.string().min(1),
  arguments: values.optional(),
});

const simpleAction = z.discriminatedUnion("type", [queryAction, httpAction, toolAction]);

const parallelAction = z.strictObject({
  type: z.literal("parallel"),
  actions: z
    .record(name, simpleAction)
    .refine((actions) => Object.keys(actions).length > 0, "needs an action"),
});

const recommendedAction = z.preprocess(
  (value) => (typeof value === "string" ? { action: value } : value),
  z.strictObject({
    action: text,
    priority: text.optional(),
    human_approval_required: z.boolean().default(false),
  }),
);

const conclusion = z
  .strictObject({
    root_cause: text.optional(),
    partial_finding: text.optional(),
    explanation: text.optional(),
    impact: text.optional(),
    recommended_action: recommendedAction.optional(),
  })
  .refine(
    ({ root_cause, partial_finding }) => (root_cause === undefined) !== (partial_finding === undefined),
    "needs either root_cause or partial_finding",
  );

const decision = z.strictObject({
  condition: conditionSchema,
  confidence: z.number().min(0).max(1),
  conclusion,
  next_step: name.nullable().default(null),
});

const step = z.strictObject({
  name: text,
  description: text.optional(),
  pre_conditions: z.array(conditionSchema).default([]),
  action: z.discriminatedUnion("type", [queryAction, httpAction, toolAction, parallelAction]),
  decisions: z
    .record(name, decision)
    .refine((decisions) => Object.keys(decisions).length > 0, "needs a decision"),
});

/** The keys of a `decision_tree.yaml`. Strict. */
export const treeSchema = z.strictObject({
  entry_point: name,
  steps: z.record(name, step),
  parallel_checks: z.array(name).default([]),
});

const fieldType = z.enum(["string", "number", "integer", "boolean", "object", "array", "any"]);
const fields = z.array(
  z.strictObject({ name: z.string().min(1), type: fieldType, nullable: z.boolean().default(false) }),
);

const mapping = z
  .strictObject({
    api: name,
    query: name.optional(),
    query_builder: name.optional(),
    request: name.optional(),
    params: z.looseObject({ required: z.array(z.string()).optional() }).optional(),
    response_schema: z
      .discriminatedUnion("type", [
        z.strictObject({ type: z.literal("object"), fields: fields.default([]) }),
        z.strictObject({ type: z.literal("array"), item_type: name.optional() }),
      ])
      .optional(),
    response_parser: name.optional(),
    cache_ttl: z.int().min(0).max(86_400).optional(),
  })
  .refine(
    ({ query, query_builder, request }) => [query, query_builder, request].filter(Boolean).length <= 1,
    "names more than one of query, query_builder and request",
  );

const piece = z.preprocess(
  (value) => (typeof value === "string" ? { sql: value } : value),
  z.strictObject({ if: name.optional(), sql: z.string().min(1).max(20_000) }),
);

/** The keys of an `api_mappings.yaml`. Strict. */
export const mappingsSchema = z.strictObject({
  mappings: z.record(name, mapping),
  /** SQL by name. */
  queries: z.record(name, sql).default({}),
  /** SQL in pieces, joined by line breaks; a piece with `if` is left out when that parameter has no value. */
  builders: z.record(name, z.array(piece).min(1)).default({}),
  requests: z.record(name, z.strictObject(request).refine(onlyReads, readsProblem)).default({}),
  /** CEL over `result`, the raw reply. */
  parsers: z.record(name, z.string().min(1).max(2_000)).default({}),
  item_types: z.record(name, z.strictObject({ fields })).default({}),
});

/** When a person is asked: the keys of `human_handoff` in a skill. `action` is what the question asks for. */
export const handoffSchema = z.strictObject({
  triggers: z
    .strictObject({
      low_confidence: z
        .strictObject({ threshold: z.number().min(0).max(1).default(0.7), action: text.optional() })
        .optional(),
      stuck_after_steps: z
        .strictObject({ max_steps: z.int().min(1).max(100).default(5), action: text.optional() })
        .optional(),
      contradictory_data: z.strictObject({ action: text.optional() }).optional(),
      critical_decision: z
        .strictObject({ actions: z.array(text).default([]), action: text.optional() })
        .optional(),
    })
    .default({}),
});

export type TreeFile = z.output<typeof treeSchema>;
export type Mappings = z.output<typeof mappingsSchema>;
export type Mapping = z.output<typeof mapping>;
export type HandoffRules = z.output<typeof handoffSchema>["triggers"];
export type TreeStep = z.output<typeof step>;
export type Decision = z.output<typeof decision>;
export type TreeAction = TreeStep["action"];
export type SimpleTreeAction = z.output<typeof simpleAction>;

/** A decision tree with all that running it needs. Plain JSON. */
export type DecisionTree = TreeFile & { mappings: Mappings; rules: HandoffRules };

import { z } from "zod";
import { dataSourcesSchema } from "./dataSources.ts";
import { conditionSchema, type DecisionTree, handoffSchema, resultFields } from "./tree/index.ts";
import { foldedWords } from "./words.ts";

const name = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "must be lowercase words joined by hyphens");
const number = "(0|[1-9]\\d{0,8})";
const version = z
  .string()
  .regex(new RegExp(`^${number}\\.${number}\\.${number}$`), "must be a semantic version such as 1.0.0");
const trigger = z
  .string()
  .max(100)
  .regex(/^[^\p{Cc}]*$/u, "must be one line")
  .refine((text) => foldedWords(text).length > 0, "must have a word");

const words = z.string().trim().min(1).max(200);
const fileName = z.string().regex(/^[\w.-]+\.ya?ml$/, "must be a YAML file in the skill's folder");
const duration = z
  .string()
  .regex(/^\d+(\.\d+)? (second|minute|hour)s?$/, "must be a time such as 20 minutes");

/** Keys of a skill that investigates; all optional. */
const investigating = {
  owner: words.optional(),
  status: words.optional(),
  /** Must all hold for the context of a request, if there is one; translated to CEL. */
  conditions: z.array(conditionSchema).max(20).optional(),
  issue_categories: z.array(words).max(50).optional(),
  capabilities: z
    .array(
      z.strictObject({
        id: words,
        description: words,
        confidence: z.enum(["high", "medium", "low"]).optional(),
      }),
    )
    .max(50)
    .optional(),
  data_sources: dataSourcesSchema.optional(),
  decision_tree: z
    .strictObject({ path: fileName.default("decision_tree.yaml"), entry_point: words.optional() })
    .optional(),
  human_handoff: handoffSchema.optional(),
  /** Which of the result's names a caller gets. */
  output_format: z
    .strictObject({ type: z.literal("investigation_result"), fields: z.array(z.enum(resultFields)).min(1) })
    .optional(),
  metrics: z
    .strictObject({
      target_time: duration.optional(),
      baseline_time: duration.optional(),
      expected_accuracy: z
        .string()
        .regex(/^(100|\d{1,2})(\.\d+)?%$/, "must be a share such as 85%")
        .optional(),
    })
    .optional(),
};

/** What an agent can be asked to do: the keys of a `skill.yaml`. Strict; an unknown key is an error. */
export const skillSchema = z.strictObject({
  /** The folder's name, or what stands before its `@`. */
  name,
  version,
  /** What it does and when to use it, distinct from the others. */
  description: z.string().trim().min(1).max(1_024),
  /** What its author promises: short general phrases, in any language; case, accents and punctuation do not count. */
  triggers: z
    .array(trigger)
    .min(1)
    .max(10, "at most 10: further phrases go into examples.txt next to this file, one a line")
    .superRefine(refuseTwins((text) => foldedWords(text).join(" "))),
  system_prompt: z.string().trim().min(1).max(20_000),
  tools: z
    .array(z.string().min(1))
    .min(2)
    .max(8)
    .superRefine(refuseTwins((tool) => tool)),
  /** The kind of device it is for; null is any. */
  platform: z.enum(["web", "mobile", "stb", "desktop"]).nullable().default(null),
  requires_device: z.boolean().default(false),
  timeout_seconds: z.int().positive().max(86_400).default(1_800),
  ...investigating,
});

const { issue_categories, conditions, ...described } = investigating;
const keyword = z.string().trim().min(1).max(100);

/** The keys of a `skill_definition.yaml`, the other form of a skill that investigates. Strict. */
export const definitionSchema = z.strictObject({
  skill: z.strictObject({
    id: z
      .string()
      .max(64)
      .regex(/^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/, "must be lowercase words joined by underscores"),
    name: words,
    version,
    description: skillSchema.shape.description,
    triggers: z.strictObject({
      keywords: z.array(keyword).min(1).max(200),
      ...{ issue_categories, conditions },
    }),
    ...described,
  }),
});

/** What a skill that investigates runs by. */
export type Investigation = {
  tree: DecisionTree;
  /** Its `knowledge_base.md`. */
  knowledge?: string;
  /** Texts of `prompts/*.txt` by file name without its ending. */
  prompts: Readonly<Record<string, string>>;
};
/**
 * `examples`: requests that count as triggers do, one a line in its `examples.txt`. `investigation`: only of a skill with a decision
 * tree.
 */
export type Skill = z.output<typeof skillSchema> & {
  examples?: readonly string[];
  investigation?: Investigation;
};

function refuseTwins(keyOf: (value: string) => string) {
  return (values: readonly string[], context: z.core.$RefinementCtx<readonly string[]>): void => {
    const keys = values.map(keyOf);
    keys.forEach((key, index) => {
      const first = keys.indexOf(key);
      if (first < index)
        context.addIssue({ code: "custom", path: [index], message: `is the same as number ${first}` });
    });
  };
}

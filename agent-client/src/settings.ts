import { z } from "zod";
import { limitsSchema } from "./agents/agent.ts";
import { effortSchema, priceSchema, thinkingSchema } from "./model/facts.ts";
import words from "./planner/words.json" with { type: "json" };

export { keyOf } from "./model/key.ts";

/** What a task can be found to need. */
export const taskCapabilities = [...new Set(Object.values(words).flatMap((domain) => Object.keys(domain)))];

const seconds = (max: number) => z.int().min(1).max(max);

/** A model that can be asked, and where. */
const modelSchema = z.strictObject({
  model: z.string().min(1).max(200),
  /** Any server that speaks the Messages API; ANTHROPIC_BASE_URL, else Anthropic's, when left out. */
  base_url: z.url().optional(),
  /** Variable of the environment with its key; ANTHROPIC_API_KEY when left out. */
  api_key_env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional(),
  /** Those that we know for models that we know, when left out. */
  price: priceSchema.optional(),
  /** How much the model thinks; its own default when left out. */
  effort: effortSchema.optional(),
  thinking: thinkingSchema.exclude(["enabled"]).optional(),
  /** Whether another skill's tools come within the conversation; what we know of the model, when left out. */
  inline_tools: z.boolean().optional(),
});

/** What a client of the models must know of `agents:` in labwright.yaml; the server adds what is its own. */
export const settingsSchema = z
  .strictObject({
    /** In order: the next one goes on when one fails. DEFAULT_MODEL, else `defaultModel`, when empty. */
    models: z.array(modelSchema).max(10).default([]),
    /** Chooses a skill when triggers are undecided; the first of `models` when left out. */
    router_model: modelSchema.optional(),
    /** Most tokens of one reply. */
    max_output_tokens: z.int().min(256).max(128_000).default(32_000),
    limits: limitsSchema.prefault({}),
    /** The prompt that tasks are planned with, by its name in seed 004, where a task names none. */
    plan_template: z.enum(["ai_central_format", "legacy_format"]).default("ai_central_format"),
    /** Anthropic's toolset by which a model drives the device of a skill by pictures, besides the skill's tools. */
    toolsets: z.enum(["off", "browser", "computer"]).default("off"),
    /** How long a tool may say nothing. */
    tool_timeout_seconds: seconds(86_400).default(120),
    approval_timeout_seconds: seconds(86_400).default(300),
    /** Changes to the agents' own `config`, by agent. */
    agents: z
      .record(
        z.string(),
        z.strictObject({
          enabled: z.boolean().optional(),
          dry_run: z.boolean().optional(),
          max_parallel_tasks: z.int().min(1).max(16).optional(),
          timeout_seconds: seconds(86_400).optional(),
          limits: limitsSchema.optional(),
        }),
      )
      .default({}),
  })
  .describe("Settings of the agent client.");
export type Settings = z.output<typeof settingsSchema>;
export type ModelSettings = z.output<typeof modelSchema>;

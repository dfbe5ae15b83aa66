import { z } from "zod";
import data from "./models.json" with { type: "json" };

const usd = z.number().min(0);
const rates = { input: usd, output: usd, cache_write: usd.optional(), cache_read: usd.optional() };

/**
 * US dollars for a million tokens. A cache that lives for five minutes is written at 1.25 times the input and read at a
 * tenth, where nothing else is said. `above`: of a request with a longer prompt, output too.
 */
export const priceSchema = z
  .strictObject({ ...rates, above: z.strictObject({ tokens: z.int().min(1), ...rates }).optional() })
  .describe("US dollars for a million tokens.");
export type Price = z.output<typeof priceSchema>;

export const effortSchema = z.enum(["low", "medium", "high", "xhigh", "max"]);
export const thinkingSchema = z.enum(["adaptive", "between_tools", "enabled", "disabled"]);

/** What a model is and takes. Unknown facts are absent. */
const factsSchema = z.strictObject({
  model: z.string(),
  /** Of a prompt and its reply together. */
  context_tokens: z.int().optional(),
  /** The most of one reply, what it thinks counted. */
  output_tokens: z.int().optional(),
  /** A shorter prefix is not cached. */
  cache_floor_tokens: z.int().nullable().optional(),
  price: priceSchema.optional(),
  thinks_by_default: z.boolean(),
  /** What `thinking.type` may be. */
  thinking: z.array(thinkingSchema),
  effort_levels: z.array(effortSchema),
  /** Takes tools that a message within the conversation adds and removes. */
  inline_tools: z.boolean(),
  /** Takes Anthropic's browser and computer toolsets of 2026-08-01. */
  toolsets: z.boolean(),
  /** Sums up a conversation when asked. */
  compaction: z.boolean(),
  /** Answers by a JSON Schema (`output_config.format`). */
  structured_output: z.boolean(),
  /** Most pictures of a request; the longest side and the patches of 28 by 28 pixels up to which one is seen as it is. */
  pictures: z.strictObject({ per_request: z.int(), edge_pixels: z.int(), visual_tokens: z.int() }),
});
export type ModelFacts = z.output<typeof factsSchema>;

const known = z
  .strictObject({ date: z.iso.date(), sources: z.array(z.string()), models: z.array(factsSchema) })
  .parse(data);

/** What every model does and takes that we know. */
const safest = {
  thinks_by_default: true,
  thinking: [],
  effort_levels: [],
  inline_tools: false,
  toolsets: false,
  compaction: false,
  structured_output: false,
  pictures: { per_request: 100, edge_pixels: 1_568, visual_tokens: 1_568 },
};

/** The day of the facts. */
export const factsDate = known.date;

/**
 * What `models.json` says of a model, which may carry the date of its release. Of one that it does not know, only what is
 * safe with any: it is sent no settings, keeps its tools through a conversation, and has no price.
 */
export function factsOf(model: string): ModelFacts {
  const name = model.replace(/-\d{8}$/, "");
  return known.models.find((one) => one.model === name) ?? { model, ...safest };
}

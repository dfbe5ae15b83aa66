import { z } from "zod";

/** Tokens as the Messages API counts them; `input_tokens` is what was neither read from nor written to the cache. */
export const usageSchema = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  cache_creation_input_tokens: z.int(),
  cache_read_input_tokens: z.int(),
});
export type Usage = z.output<typeof usageSchema>;

/** How a run ended: `done`, or what kept it from it. `needs_input`: a question is open, or a request cannot be done as it is said. */
export const outcomeSchema = z.enum(["done", "needs_input", "refused", "limit", "cancelled", "failed"]);
export type Outcome = z.output<typeof outcomeSchema>;
/** `output_tokens`: of one reply. `context_full`: the conversation is as long as its model can read. */
export const limitSchema = z.enum(["turns", "tokens", "cost", "time", "output_tokens", "context_full"]);
export type Limit = z.output<typeof limitSchema>;

const errorFields = { code: z.string(), message: z.string(), hint: z.string() };

/** The events of an agent. The names are those of seed 000 and four more. */
export const eventBodySchema = z.discriminatedUnion("type", [
  /** A model's reasoning, where it shows any. */
  z.object({ type: z.literal("thinking"), text: z.string() }),
  /** `partial`: a piece that follows the one before; the whole comes after the pieces, once, without it. */
  z.object({ type: z.literal("message"), text: z.string(), partial: z.boolean().optional() }),
  z.object({
    type: z.literal("skill_loaded"),
    skill: z.string(),
    version: z.string(),
    tools: z.array(z.string()),
    /** `kept`: the one that was loaded before still serves. */
    chosen_by: z.enum(["trigger", "model", "user", "kept", "event"]),
    /** `LOAD SKILL <name>`. */
    text: z.string(),
    /**
     * Where a segment begins with it: the number of messages before it, and what its system and tools are known by. Absent
     * where the skill goes on in the segment before.
     */
    segment: z.object({ after: z.int(), prefix: z.string() }).optional(),
  }),
  z.object({
    type: z.literal("tool_call"),
    tool_use_id: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string(),
    tool: z.string(),
    is_error: z.boolean(),
    /** What a run came to, where the call ran one: `passed`, `failed` ... */
    status: z.string().optional(),
    /** As the model sees it, at most 4,000 characters. */
    text: z.string(),
    images: z.int(),
    duration_ms: z.int(),
  }),
  z.object({
    type: z.literal("progress"),
    kind: z.enum(["cache", "cost", "tool", "model", "approval", "note"]),
    text: z.string(),
    tool_use_id: z.string().optional(),
    /** Where a segment begins that stands for everything before it; as in `skill_loaded`. */
    segment: z.object({ skill: z.string(), after: z.int(), prefix: z.string() }).optional(),
  }),
  z.object({
    type: z.literal("approval_required"),
    approval_id: z.string(),
    tool: z.string(),
    input: z.record(z.string(), z.unknown()),
    reason: z.string(),
    expires_at: z.string(),
  }),
  /** A question to the user; an answer is the next message. */
  z.object({
    type: z.literal("handoff"),
    question: z.string(),
    options: z.array(z.string()),
    /** What each option is, in their order. */
    details: z.array(z.string()).optional(),
  }),
  z.object({ type: z.literal("error"), ...errorFields }),
  z.object({
    type: z.literal("session_ended"),
    outcome: outcomeSchema,
    limit: limitSchema.optional(),
    error: z.object(errorFields).optional(),
    /** What the agent said last. */
    text: z.string(),
    turns: z.int(),
    duration_ms: z.int(),
    usage: usageSchema,
    /** Undefined for a model without a known price. */
    cost_usd: z.number().optional(),
    /** What the same requests had cost without a cache, less what they cost. */
    saved_usd: z.number().optional(),
  }),
]);
export type AgentEventBody = z.output<typeof eventBodySchema>;
export type SessionEnded = Extract<AgentEventBody, { type: "session_ended" }>;

/** `seq` counts a conversation's events from 1, without gaps while they are sent. */
export type AgentEvent = AgentEventBody & { session_id: string; seq: number; at: string };

/** Pieces of a text and a tool's progress are sent and not stored: a later event says the same. */
export const isStored = (event: AgentEventBody): boolean =>
  !(event.type === "message" && event.partial) && !(event.type === "progress" && event.kind === "tool");

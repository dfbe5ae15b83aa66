import { z } from "@hono/zod-openapi";
import { type Conversation, eventBodySchema, usageSchema } from "@labwright/agent-client";
import { errorSchema } from "./errors.ts";

const text = z.string();

export const eventSchema = z
  .intersection(eventBodySchema, z.object({ session_id: text, seq: z.int(), at: text }))
  .openapi("AgentEvent", { description: "`seq` counts a session's events from 1." });

export const storedSessionSchema = z
  .object({
    id: text,
    agent: text,
    owner: text,
    title: text,
    skill: text.nullable(),
    usage: usageSchema,
    cost_usd: z.number(),
    saved_usd: z.number(),
    turns: z.int(),
    outcome: text.nullable().describe("Of the last run; null before the first."),
    created_at: text,
    updated_at: text,
  })
  .openapi("StoredSession");

export const sessionSchema = storedSessionSchema
  .extend({
    is_running: z.boolean(),
    approvals: z.array(eventSchema).describe("What waits for a person."),
  })
  .openapi("Session");

/** A conversation as it is answered. */
export const toSession = ({ isRunning: is_running, approvals, ...stored }: Conversation) => ({
  ...stored,
  is_running,
  approvals: [...approvals],
});

export const createSchema = z
  .strictObject({
    agent: text.max(64).optional().describe("The default agent when left out."),
    title: text.max(200).optional(),
  })
  .openapi("CreateSession");

/** No limit of length here: the conversation has its own, with its own words. */
export const messageSchema = z
  .strictObject({
    text: text,
    skill: text.max(100).optional().describe("Loads this skill instead of choosing one."),
  })
  .openapi("Message");

export const approvalSchema = z.strictObject({ approved: z.boolean() }).openapi("Decision");

export const sessionParams = z.object({ id: text.min(1).max(100) });

/** What every route may answer beside its own. */
export const failures = {
  "4XX": { description: "What was wrong with the request.", content: json(errorSchema.openapi("Error")) },
  "5XX": { description: "What failed here or behind.", content: json(errorSchema.openapi("Error")) },
} as const;

export function json<T extends z.ZodType>(schema: T): { "application/json": { schema: T } } {
  return { "application/json": { schema } };
}

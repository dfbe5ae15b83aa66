import { z } from "@hono/zod-openapi";
import { agentEvent, type Conversation, storedSession } from "@labwright/agent-client";

export const errorFields = z.object({
  code: z.string(),
  message: z.string(),
  http_status: z.int(),
  details: z.record(z.string(), z.unknown()),
  trace_id: z.string(),
  timestamp: z.string(),
  hint: z.string().describe("The next step to try."),
});

const errorSchema = z
  .object({ success: z.literal(false), error: errorFields })
  .openapi("Error", { description: "The error object of seed 002, with the next step added." });

export const eventSchema = z
  .intersection(agentEvent, z.object({ seq: z.int() }))
  .openapi("AgentEvent", { description: "`seq` counts a session's events from 1." });

export const sessionSchema = z
  .intersection(
    storedSession,
    z.object({
      is_running: z.boolean(),
      approvals: z.array(eventSchema).describe("What waits for a person."),
    }),
  )
  .openapi("Session");

/** A conversation as it is answered. */
export const toSession = ({ isRunning: is_running, approvals, ...stored }: Conversation) => ({
  ...stored,
  is_running,
  approvals: [...approvals],
});

/** No limit of length here: the conversation has its own, with its own words. */
export const messageSchema = z
  .strictObject({
    text: z.string(),
    skill: z.string().max(100).optional().describe("Loads this skill instead of choosing one."),
  })
  .openapi("Message");

export const idSchema = z.string().min(1).max(100);

export function json<T extends z.ZodType>(schema: T): { "application/json": { schema: T } } {
  return { "application/json": { schema } };
}

export const response = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: json(schema),
});

/** The failures that every route may answer with. */
export const failures = {
  "4XX": response("What was wrong with the request.", errorSchema),
  "5XX": response("What failed here or behind.", errorSchema),
} as const;

export const okResponses = <T extends z.ZodType>(description: string, schema: T) => ({
  200: response(description, schema),
  ...failures,
});

import { z } from "zod";
import { eventBodySchema, usageSchema } from "../events.ts";
import type { Message } from "../loop/history.ts";

/** What the server's store answers. An answer of another form is of another build. */
const instant = z.iso.datetime();

export const storedSession = z.object({
  id: z.string(),
  agent: z.string(),
  owner: z.string(),
  title: z.string(),
  skill: z.string().nullable(),
  usage: usageSchema,
  cost_usd: z.number(),
  saved_usd: z.number(),
  turns: z.int(),
  /** Of the last run; null before the first. */
  outcome: z.string().nullable(),
  created_at: instant,
  updated_at: instant,
});

const blocks = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);
const looksLikeMessage = z.looseObject({ role: z.string(), content: blocks.optional() });

export const storedMessage = z.object({
  seq: z.int(),
  // Stored as it was sent or received: what a block holds is between the model's endpoint and its client.
  message: z.custom<Message>((given) => looksLikeMessage.safeParse(given).success),
});

export const agentEvent = eventBodySchema.and(
  z.object({ session_id: z.string(), seq: z.int(), at: instant }),
);

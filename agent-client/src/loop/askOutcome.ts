import { z } from "zod";
import type { ModelEndpoint } from "../model/models.ts";
import { askOnce, maxUnstreamed, type Prefix, requestOf } from "../model/request.ts";
import { addSpent, nothingSpent, type Spent, spentOn } from "../model/usage.ts";
import { type Message, objectIn } from "./history.ts";

/** System and tools are those of the run before, so that its cache serves. */
type OutcomeOptions = Prefix & {
  endpoint: ModelEndpoint;
  history: readonly Message[];
  schema: z.ZodType;
  /** What the fields mean, in a few words. */
  describe: string;
  maxTokens: number;
  signal: AbortSignal;
};

const maxAttempts = 2;

/**
 * Asks for a run's finding in a schema, once more with what is wrong when it does not fit. `outcome` is undefined when it
 * did not fit then either. Throws an AgentError when the model does not answer.
 */
export async function askOutcome(
  options: OutcomeOptions,
): Promise<{ outcome: unknown; spent: Spent; messages: Message[] }> {
  const { endpoint, schema, history, signal } = options;
  const request = requestOf(endpoint, options, { maxTokens: Math.min(options.maxTokens, maxUnstreamed) });
  const shape = JSON.stringify(z.toJSONSchema(schema, { io: "input" }));
  let question = `End with your finding as one JSON object and nothing else. ${options.describe}\nIts JSON Schema: ${shape}`;
  const messages: Message[] = [];
  let spent = nothingSpent;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    messages.push({ role: "user", content: question });
    const body = { ...request, tool_choice: { type: "none" as const }, messages: [...history, ...messages] };
    const { content, text, usage } = await askOnce(endpoint, body, signal);
    spent = addSpent(spent, spentOn(usage, endpoint.facts.price));
    if (content.length > 0) messages.push({ role: "assistant", content });
    const parsed = schema.safeParse(objectIn(text));
    if (parsed.success) return { outcome: parsed.data, spent, messages };
    question = `That does not fit: ${z.prettifyError(parsed.error)}. Give the whole JSON object again, and nothing else.`;
  }
  return { outcome: undefined, spent, messages };
}

import { z } from "zod";
import { AgentError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import { canonical } from "./spelling.ts";
import { durationSchema, moneySchema } from "./units.ts";

const nameSchema = z
  .string()
  .regex(/^[A-Za-z]\w{0,63}$/, "must be letters, digits and _, such as PlannerAgent");

/** What is allowed though it is refused by default. */
export const grantsSchema = z
  .array(z.enum(["write:production", "pii:model", "pii:log"]))
  .max(3)
  .default([]);

/** Limits of the work that a message asks for. Times in milliseconds, or with a unit ("10 minutes"); money in US dollars. */
const constraintsSchema = z.looseObject({
  max_execution_time: durationSchema.optional(),
  /** Of the whole request: a case is run again as long as some are left. */
  max_retries: z.coerce.number().int().min(0).max(10_000).optional(),
  max_cost: moneySchema.optional(),
  max_analysis_time: durationSchema.optional(),
  /** What a minute of a device or of requests costs, such as a cloud's price; 0 when left out. */
  cost_per_minute: moneySchema.optional(),
  grants: grantsSchema,
});
export type Constraints = z.output<typeof constraintsSchema>;

const fields = z.record(z.string(), z.unknown());

/** One message between the roles: the envelope of seed 001. Every field is required; a reply expects nothing in return. */
export const envelopeSchema = z.strictObject({
  message_id: z.uuid(),
  correlation_id: z.uuid(),
  timestamp: z.iso.datetime({ offset: true }),
  message_type: nameSchema,
  sender: nameSchema,
  recipient: nameSchema,
  intent: z.string().trim().min(1).max(1_000),
  payload: fields,
  context: fields,
  constraints: constraintsSchema,
  expected_response: z.strictObject({
    type: nameSchema,
    required_fields: z.array(z.string().min(1).max(100)).max(50),
  }),
  /** In a reply: the `message_id` that it answers. */
  in_reply_to: z.uuid().optional(),
  /** What people noted. Nothing depends on it. */
  notes: z.array(z.string()).optional(),
});
export type Envelope = z.output<typeof envelopeSchema>;

const mostMessageBytes = 1_048_576;

/** Reads a message in our spelling or the seed's. Throws INVALID_INPUT with every field that is missing or wrong. */
export function readMessage(given: unknown): Envelope {
  if (Buffer.byteLength(JSON.stringify(given ?? null)) > mostMessageBytes)
    throw refused("it is larger than 1 MB", "Send names and addresses in place of contents.");
  return readPart(envelopeSchema, canonical(given), []);
}

/** The content of a message in the schema of its type. Throws INVALID_INPUT. */
export const contentOf = <T>(schema: z.ZodType<T>, message: Envelope, part: "payload" | "context"): T =>
  readPart(schema, message[part], [part]);

function readPart<T>(schema: z.ZodType<T>, given: unknown, at: readonly string[]): T {
  const { data, error } = schema.safeParse(given);
  if (!error) return data;
  const why = error.issues.map(
    ({ path, message }) => `${[...at, ...path].join(".") || "message"}: ${message}`,
  );
  throw refused(why.join("; "), "See the messages in docs/qa.md.");
}

const refused = (why: string, hint: string) =>
  new AgentError("INVALID_INPUT", `The message is refused: ${why}.`, hint);

type Ids = { clock: Pick<Clock, "now">; newId(): string };

export type MessageDraft = Pick<Envelope, "message_type" | "sender" | "recipient" | "intent" | "payload"> &
  Partial<Pick<Envelope, "context" | "expected_response">> & {
    correlation_id?: string;
    constraints?: Partial<Constraints>;
  };

/** A message with its id and time. */
export const newMessage = (
  { correlation_id, constraints, ...draft }: MessageDraft,
  { clock, newId }: Ids,
): Envelope => ({
  message_id: newId(),
  correlation_id: correlation_id ?? newId(),
  timestamp: new Date(clock.now()).toISOString(),
  context: {},
  constraints: { grants: [], ...constraints },
  expected_response: { type: "None", required_fields: [] },
  ...draft,
});

/** The reply to a message. Throws INVALID_RESPONSE when it lacks a field that the message requires. */
export function replyTo(message: Envelope, payload: Envelope["payload"], sender: string, ids: Ids): Envelope {
  const { type, required_fields } = message.expected_response;
  const missing = required_fields.filter((field) => payload[field] === undefined);
  if (missing.length > 0)
    throw new AgentError(
      "INVALID_RESPONSE",
      `The ${type} of ${sender} is refused: it lacks ${missing.join(", ")}.`,
      "Ask only for fields that the reply has, or repair its sender.",
      { missing },
    );
  const { correlation_id, intent } = message;
  return {
    ...newMessage(
      { correlation_id, message_type: type, sender, recipient: message.sender, intent, payload },
      ids,
    ),
    in_reply_to: message.message_id,
  };
}

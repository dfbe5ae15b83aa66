import { z } from "zod";

const name = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "must be lower-case letters, digits and hyphens");
const eventType = z.string().regex(/^[a-z]\w*(\.\w+)+$/, "must be a type of event such as alert.blackscreen");
const messageType = z.string().regex(/^[A-Z]\w{0,63}$/, "must be a type of message such as TestPlanReview");
const prioritySchema = z.enum(["critical", "high", "normal"]);

const triggerSchema = z.strictObject({
  /** A type of the server's feed. */
  event: eventType,
  priority: prioritySchema.default("normal"),
  /** What the agent does with it: a name of `available_skills`. */
  skill: name,
  /** When it is raised by the agent itself: cron with five fields, in `timezone`. */
  schedule: z.string().optional(),
  timezone: z.string().optional(),
});

/** Limits of one run; what is left out is that of the settings. */
export const limitsSchema = z.strictObject({
  turns: z.int().min(1).max(1_000).optional(),
  /** Of all requests of a run: input, cached or not, and output. */
  tokens: z.int().min(1).optional(),
  cost_usd: z.number().positive().optional(),
});

/** An agent: the keys of an `agents/<name>.yaml`. Strict; an unknown key is an error. */
export const agentSchema = z.strictObject({
  name,
  nickname: z.string().min(1).max(40),
  description: z.string().trim().min(1).max(1_000),
  /** Whether people may talk to it. */
  selectable: z.boolean().default(false),
  default: z.boolean().default(false),
  /** `role`: it answers messages of `labwright qa` and of `POST /api/v1/messages`, and people do not talk to it. */
  mode: z.enum(["interactive", "autonomous", "role"]),
  /** Types of the messages that a role takes, and of its replies. */
  accepts: z.array(messageType).max(20).default([]),
  returns: messageType.optional(),
  system_prompt: z.string().trim().min(1).max(8_000),
  available_skills: z.array(name).min(1).max(100),
  /** Whether it takes every skill of the user's own too. */
  user_skills: z.boolean().default(false),
  triggers: z.array(triggerSchema).max(100).default([]),
  /** Tools that wait for a person, besides those that destroy. `tool` or `tool:command` for one command of a device. */
  approvals: z.array(z.string().min(1).max(100)).max(100).default([]),
  suggestions: z
    .array(z.strictObject({ text: z.string().min(1).max(200), platform: z.string().optional() }))
    .max(10)
    .default([]),
  config: z.strictObject({
    enabled: z.boolean().default(true),
    max_parallel_tasks: z.int().min(1).max(16).default(1),
    timeout_seconds: z.int().min(1).max(86_400).default(1_800),
    /** Only looks and says what it would do. */
    dry_run: z.boolean().default(false),
    limits: limitsSchema.prefault({}),
  }),
});
export type Agent = z.output<typeof agentSchema>;
export type Trigger = z.output<typeof triggerSchema>;

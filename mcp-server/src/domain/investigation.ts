import { z } from "zod";

/**
 * `waiting`: for a person's answer. `done` has a result, also where no cause was found. `timeout`: over the skill's time.
 * `failed`: it could not go on, with a reason.
 */
export const investigationStatusSchema = z.enum([
  "running",
  "waiting",
  "done",
  "cancelled",
  "timeout",
  "failed",
]);
export type InvestigationStatus = z.output<typeof investigationStatusSchema>;

/** What the investigations of one skill took and found. Means are over the runs. */
export const skillUseSchema = z.object({
  skill: z.string(),
  runs: z.int(),
  done: z.int(),
  users: z.int(),
  repeats: z.int().describe("Runs beyond the first of each user."),
  mean_ms: z.number().describe("Of a run, without the time in which a person was waited for."),
  mean_steps: z.number(),
  mean_calls: z.number().describe("Requests to databases, APIs and tools."),
  cached: z.int().describe("Replies that came from the cache."),
  source_ms: z.int().describe("Time in which databases, APIs and tools worked."),
  handoffs: z.int(),
  asked: z.int().describe("Runs that asked a person."),
  rated: z.int(),
  rating: z.number().nullable(),
  confirmed: z.int().describe("Runs whose root cause a person judged."),
  right: z.int(),
  wrong: z.int(),
});
export type SkillUse = z.output<typeof skillUseSchema>;

/** What conversations that used the skill sent to a model. */
export const skillSpendingSchema = z.object({
  skill: z.string(),
  conversations: z.int(),
  tokens: z.int(),
  cost_usd: z.number(),
});
export type SkillSpending = z.output<typeof skillSpendingSchema>;

import { z } from "zod";
import { readInput } from "./errors.ts";

export const skillStatsQuerySchema = z.strictObject({
  skill: z.string().min(1).max(100).optional().describe("Only of this skill."),
});

/** Throws INVALID_INPUT. */
export const skillStatsQueryOf = (query: Record<string, string>) =>
  readInput(skillStatsQuerySchema, query, "`skill` is the name of one skill.");

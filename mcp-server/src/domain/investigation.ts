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

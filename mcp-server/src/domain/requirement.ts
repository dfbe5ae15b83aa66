import { z } from "zod";

/** P1 is the most important. */
export const requirementPrioritySchema = z.enum(["P1", "P2", "P3"]);
export type RequirementPriority = z.output<typeof requirementPrioritySchema>;

export const requirementStatusSchema = z.enum(["draft", "active", "deprecated"]);
export type RequirementStatus = z.output<typeof requirementStatusSchema>;

export const coverageSchema = z.enum(["full", "partial"]);
export type Coverage = z.output<typeof coverageSchema>;

/** Something the product under test must do. `code` is the name that people use for it, and unique. */
export const requirementSchema = z.strictObject({
  id: z.string(),
  code: z.string().min(1).max(60),
  name: z.string().min(1).max(200),
  description: z.string().max(10_000),
  priority: requirementPrioritySchema,
  category: z.string().min(1).max(100).optional(),
  acceptance_criteria: z.array(z.string().min(1).max(2_000)).max(100),
  status: requirementStatusSchema,
  created_at: z.string(),
  updated_at: z.string(),
});
export type Requirement = z.output<typeof requirementSchema>;

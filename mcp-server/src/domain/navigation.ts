import { z } from "zod";
import { failureSchema, verdictSchema } from "./action.ts";
import { actionSetSchema, edgeSchema } from "./tree.ts";

/** An edge as a caller writes it: its ends by id or label; an action set without an id is named after its direction. */
export const edgeDraftSchema = edgeSchema.extend({
  action_sets: z
    .array(actionSetSchema.partial({ id: true }))
    .min(1)
    .max(10),
});
export type EdgeDraft = z.output<typeof edgeDraftSchema>;

/** One walked step, by label. `verified`: the checks of where it led held. */
export const walkedLegSchema = z.object({
  kind: z.enum(["edge", "sibling", "enter", "exit"]),
  from: z.string(),
  to: z.string(),
  edge_id: z.string().optional(),
  action_set_id: z.string().optional(),
  ok: z.boolean(),
  verified: z.boolean(),
  duration_ms: z.int(),
  /** From the last input event to the first frame that shows the reference; without frames, from the last action to the first snapshot that shows it. */
  kpi_ms: z.int().optional(),
  /** The interval of the frames. */
  kpi_error_ms: z.int().optional(),
  error: failureSchema.optional(),
});
export type WalkedLeg = z.output<typeof walkedLegSchema>;

/** `verified` only if the target's own checks held. `expected_ms` and `confidence` (0..1) are of the first plan. */
export const navigationReportSchema = z.object({
  userinterface: z.string(),
  target: z.string(),
  target_id: z.string(),
  reached: z.boolean(),
  verified: z.boolean(),
  status: z.enum(["passed", "failed", "error", "timeout"]),
  at: z.string().optional(),
  expected_ms: z.int().optional(),
  confidence: z.number().optional(),
  legs: z.array(walkedLegSchema),
  replans: z.int(),
  duration_ms: z.int(),
  verdicts: z.array(verdictSchema),
  /** The server answered 4xx or 5xx, and the caller must check whether that is right. */
  refused: failureSchema.optional(),
  error: failureSchema.optional(),
});
export type NavigationReport = z.output<typeof navigationReportSchema>;

/** One action set of an edge, tried. `reached_source: false`: it could not be tried. */
export const edgeTrialSchema = z.object({
  edge_id: z.string(),
  action_set_id: z.string(),
  edge: z.string(),
  reached_source: z.boolean(),
  ok: z.boolean(),
  verified: z.boolean(),
  duration_ms: z.int(),
  error: failureSchema.optional(),
});
export type EdgeTrial = z.output<typeof edgeTrialSchema>;

export const validationReportSchema = z.object({
  userinterface: z.string(),
  trials: z.array(edgeTrialSchema),
  passed: z.int(),
  failed: z.int(),
  unverified: z.int(),
  duration_ms: z.int(),
});
export type ValidationReport = z.output<typeof validationReportSchema>;

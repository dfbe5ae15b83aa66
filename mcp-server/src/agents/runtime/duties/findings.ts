import { z } from "zod";

const evidence = z.array(z.string().min(1).max(2_000)).max(50);
const confidence = z.number().min(0).max(1);
/** What a dry run did not do. */
const would = z.array(z.string()).optional();

/** What became of an alert; also what a model answers. */
export const incidentSchema = z.object({
  decision: z.enum(["acknowledge", "confirm", "discard"]),
  severity: z.enum(["critical", "high", "normal"]),
  summary: z.string().trim().min(1).max(4_000),
  evidence,
  confidence,
});
export type Incident = z.output<typeof incidentSchema>;

/** The work was somebody else's, or there was none. */
const leftAloneSchema = z.object({ left_alone: z.string() });

export const incidentFindingSchema = z.union([incidentSchema.extend({ would }), leftAloneSchema]);
export type IncidentFinding = z.output<typeof incidentFindingSchema>;

/** Kept in the task while the agent holds a device, so that whoever goes on after a crash can give it back. */
export const leaseSchema = z.object({ lease: z.string() });

export const analysisSchema = z.object({
  /** One of the server's classes. */
  classification: z.string(),
  confidence,
  summary: z.string().trim().min(1).max(4_000),
  evidence,
});

const judgedSchema = z.object({
  /** Of the run, and of others that it decided. */
  judgements: z.array(analysisSchema.extend({ execution_id: z.string() })),
  /** Why the run itself was not judged. */
  undecided: z.string().optional(),
  reruns_wanted: z.int().optional(),
  flaky: z.boolean().optional(),
  would,
});
export const judgedFindingSchema = z.union([judgedSchema, leftAloneSchema]);
export type JudgedFinding = z.output<typeof judgedFindingSchema>;

/** What is told to whoever reads along. */
export const reportSchema = z.object({
  summary: z.string().min(1).max(8_000),
  problems: z.array(z.string().max(2_000)).max(200),
  /** Counts that the summary was made of. */
  figures: z.record(z.string(), z.number()),
  would,
});
export type Report = z.output<typeof reportSchema>;

import { z } from "zod";

/** A JSON object whose meaning depends on a command, an event or a block; checked against that thing's own schema. */
export const paramsSchema = z.record(z.string(), z.unknown());
export type Params = z.output<typeof paramsSchema>;

export const positionSchema = z.strictObject({ x: z.number(), y: z.number() });

/** A name that a person types and reads, so without control characters. */
export const labelSchema = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, "must not contain control characters");

export const durationMs = (max: number) => z.int().min(0).max(max);

/** How a top-level run of a test case starts. A test case wins over its app; by default a run starts fresh and empty. */
export const startShape = {
  /** False: in what the device shows. True, in a test case: fresh and empty, whatever its app says. */
  fresh: z.boolean().optional(),
  storage_state: z.string().min(1).max(80).optional(),
  /** A test case that runs once, before the first; the others start with the storage state that it leaves. */
  setup: labelSchema.optional(),
};
export type StartWish = z.output<z.ZodObject<typeof startShape>>;

/** Where an app or a test case is kept besides the database. */
export type Source = {
  /** The absolute path of the project's folder; empty without a project. */
  project: string;
  /** The path of its file in the project, with `/`; null without a file. */
  file: string | null;
  file_hash: string | null;
};

/** The source of what has no file. */
export const databaseOnly: Source = { project: "", file: null, file_hash: null };

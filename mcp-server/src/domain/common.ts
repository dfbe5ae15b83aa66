import { z } from "zod";

/** A JSON object whose meaning depends on a command, an event or a block; checked against that thing's own schema. */
export const paramsSchema = z.record(z.string(), z.unknown());
export type Params = z.output<typeof paramsSchema>;

export const positionSchema = z.strictObject({ x: z.number(), y: z.number() });

/** Names of things: what a person types and reads, so no control characters. */
export const labelSchema = z
  .string()
  .trim()
  .min(1)
  .max(120)
  .regex(/^[^\p{Cc}]*$/u, "must not contain control characters");

export const durationMs = (max: number) => z.int().min(0).max(max);

import { z } from "zod";
import { labelSchema } from "./common.ts";

/**
 * How a top-level run of a test case starts, as a test case or its app says it; the test case wins. Without any of these
 * it starts fresh, with nothing of what ran before.
 */
export const startShape = {
  /** False: in what the device shows. True, in a test case: fresh and empty, whatever its app says. */
  fresh: z.boolean().optional(),
  /** Name of a saved storage state to start with, a login say. */
  storage_state: z.string().min(1).max(80).optional(),
  /** A test case that runs once, before the first; the others start with the storage state that it leaves. */
  setup: labelSchema.optional(),
};
const startSchema = z.object(startShape);
export type StartWish = z.output<typeof startSchema>;

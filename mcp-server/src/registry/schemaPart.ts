import { z } from "zod";

/** A JSON Schema as far as listings and the command line read it. */
export const schemaPart = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  get items() {
    return schemaPart.optional();
  },
  get anyOf() {
    return z.array(schemaPart).optional();
  },
  get properties() {
    return z.record(z.string(), schemaPart).optional();
  },
  required: z.array(z.string()).optional(),
});
export type SchemaPart = z.output<typeof schemaPart>;

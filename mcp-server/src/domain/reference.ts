import { z } from "zod";

/** In pixels of the full frame. */
export const areaSchema = z.strictObject({
  x: z.int().min(0),
  y: z.int().min(0),
  width: z.int().min(1),
  height: z.int().min(1),
});
export type Area = z.output<typeof areaSchema>;

export const referenceKindSchema = z.enum(["image", "text"]);
export type ReferenceKind = z.output<typeof referenceKindSchema>;

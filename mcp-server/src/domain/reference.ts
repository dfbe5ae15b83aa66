import { z } from "zod";
import { labelSchema } from "./common.ts";

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

const side = z.int().min(1).max(100_000);

/** The frame that an area is of: its size, and how far the screen was turned. */
const spaceSchema = z.strictObject({
  width: side,
  height: side,
  rotation: z.literal([0, 90, 180, 270]),
});

const placed = {
  name: labelSchema,
  device_model: labelSchema,
  area: areaSchema.optional(),
  space: spaceSchema.optional(),
};

export const referenceDocumentSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("text"),
    ...placed,
    text: z.string().min(1).max(10_000),
  }),
  z.strictObject({
    kind: z.literal("image"),
    ...placed,
    /** Base64 of eight fixed bytes begins so (ISO/IEC 15948, 5.2). */
    png: z.base64().startsWith("iVBORw0KGg", "must be a PNG file in base64"),
  }),
]);
export type ReferenceDocument = z.output<typeof referenceDocumentSchema>;

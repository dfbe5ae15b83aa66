import type { z } from "zod";

/** Undefined for text that is not JSON, or JSON of another shape. */
export function readJson<T extends z.ZodType>(shape: T, text: string): z.output<T> | undefined {
  try {
    return shape.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

import { z } from "zod";
import { foldedWords } from "./words.ts";

const name = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "must be lowercase words joined by hyphens");
const number = "(0|[1-9]\\d{0,8})";
const version = z
  .string()
  .regex(new RegExp(`^${number}\\.${number}\\.${number}$`), "must be a semantic version such as 1.0.0");
const trigger = z
  .string()
  .max(100)
  .regex(/^[^\p{Cc}]*$/u, "must be one line")
  .refine((text) => foldedWords(text).length > 0, "must have a word");

/** What an agent can be asked to do: the keys of a `skill.yaml`. Strict; an unknown key is an error. */
export const skillSchema = z.strictObject({
  /** The folder's name, or what stands before its `@`. */
  name,
  version,
  /** What it does and when to use it, distinct from the others. */
  description: z.string().trim().min(1).max(1_024),
  /** What its author promises: short general phrases, in any language; case, accents and punctuation do not count. */
  triggers: z
    .array(trigger)
    .min(1)
    .max(10, "at most 10: further phrases go into examples.txt next to this file, one a line")
    .superRefine(refuseTwins((text) => foldedWords(text).join(" "))),
  system_prompt: z.string().trim().min(1).max(20_000),
  tools: z
    .array(z.string().min(1))
    .min(2)
    .max(8)
    .superRefine(refuseTwins((tool) => tool)),
  /** The kind of device it is for; null is any. */
  platform: z.enum(["web", "mobile", "stb", "desktop"]).nullable().default(null),
  requires_device: z.boolean().default(false),
  timeout_seconds: z.int().positive().max(86_400).default(1_800),
});
/** `examples`: requests that count as triggers do, one a line in its `examples.txt`. */
export type Skill = z.output<typeof skillSchema> & { examples?: readonly string[] };

function refuseTwins(keyOf: (value: string) => string) {
  return (values: readonly string[], context: z.core.$RefinementCtx<readonly string[]>): void => {
    const keys = values.map(keyOf);
    keys.forEach((key, index) => {
      const first = keys.indexOf(key);
      if (first < index)
        context.addIssue({ code: "custom", path: [index], message: `is the same as number ${first}` });
    });
  };
}

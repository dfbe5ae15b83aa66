import { z } from "zod";

/** What an agent can be asked to do: the keys of a `skill.yaml`. Strict; an unknown key is an error. */
export const skillSchema = z.strictObject({
  /** The folder's name. */
  name: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, "must be lowercase words joined by hyphens"),
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "must be a semantic version such as 1.0.0"),
  description: z.string().min(1).max(1_024),
  triggers: z.array(z.string().min(1)).min(1),
  system_prompt: z.string().min(1),
  tools: z.array(z.string().min(1)).min(2).max(8),
  platform: z.enum(["web", "mobile", "stb", "desktop"]).nullable().default(null),
  requires_device: z.boolean().default(false),
  timeout_seconds: z.int().positive().max(86_400),
});
export type Skill = z.output<typeof skillSchema>;

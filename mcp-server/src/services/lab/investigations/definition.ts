import type { Skill } from "@labwright/skills";
import { z } from "zod";
import type { Investigation } from "../../../storage/index.ts";

/** A skill with a decision tree. */
export type TreeSkill = Skill & { investigation: NonNullable<Skill["investigation"]> };

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** What an investigation needs of its skill. It is stored with it, so that an edit of the skill changes none that is under way. */
const definitionSchema = z.object({
  tree: z.custom<TreeSkill["investigation"]["tree"]>(isObject),
  data_sources: z.custom<NonNullable<Skill["data_sources"]>>(isObject),
  timeout_seconds: z.number(),
  prompts: z.record(z.string(), z.string()),
  knowledge: z.string().optional(),
  /** Of the result; all when left out. */
  fields: z.array(z.string()).optional(),
});
export type Definition = z.output<typeof definitionSchema>;

export const definitionOf = ({ investigation, ...skill }: TreeSkill): Definition => ({
  tree: investigation.tree,
  data_sources: skill.data_sources ?? {},
  timeout_seconds: skill.timeout_seconds,
  prompts: { ...investigation.prompts },
  ...(investigation.knowledge !== undefined && { knowledge: investigation.knowledge }),
  ...(skill.output_format && { fields: [...skill.output_format.fields] }),
});

export const readDefinition = ({ definition }: Pick<Investigation, "definition">): Definition =>
  definitionSchema.parse(definition);

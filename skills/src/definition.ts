import type { z } from "zod";
import type { definitionSchema, Skill } from "./skill.ts";

const maxTriggers = 10;
const investigationSeconds = 3_600;
/** The tools of a skill that names none. */
export const investigatingTools = ["start_investigation", "resume_investigation"];

/** A `skill_definition.yaml` as a skill. Keywords that are more than triggers may be become examples. */
export function skillOfDefinition({ skill }: z.output<typeof definitionSchema>): Skill {
  const { id, name: title, triggers, ...same } = skill;
  const { keywords, issue_categories, conditions } = triggers;
  const name = id.replaceAll("_", "-");
  return {
    ...same,
    name,
    triggers: keywords.slice(0, maxTriggers),
    ...(keywords.length > maxTriggers ? { examples: keywords.slice(maxTriggers) } : {}),
    ...{ issue_categories, conditions },
    system_prompt: promptOf(name, title),
    tools: investigatingTools,
    platform: null,
    requires_device: false,
    timeout_seconds: investigationSeconds,
  };
}

const promptOf = (name: string, title: string): string =>
  `You do this investigation: ${title}. Call start_investigation with skill ${name} and the context that the user gave, such as ids.
When it asks, put its question and options to the user and call resume_investigation with the answer; never choose yourself.
Report the root cause, its confidence, the evidence in one line each, and the recommended action with its priority. Nothing was
changed: an action that was approved is still to be done. Without a root cause, say what was found and what is open.`;

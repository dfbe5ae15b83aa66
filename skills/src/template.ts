import { type TemplateKeys, treeFiles, treeKeys } from "./treeTemplate.ts";

/**
 * The files of a new skill, by path in its folder, with what each part is for. `name` is as the schema of a skill wants it. `tree`: a
 * skill that investigates by a decision tree.
 */
export function newSkillFiles(
  name: string,
  kind: "tools" | "tree" = "tools",
): Readonly<Record<string, string>> {
  const words = name.replaceAll("-", " ");
  return kind === "tree"
    ? { "skill.yaml": skillText(name, words, treeKeys(name)), ...requestFiles(words), ...treeFiles }
    : { "skill.yaml": skillText(name, words, toolKeys(words)), ...requestFiles(words) };
}

const toolKeys = (words: string): TemplateKeys => ({
  description: `Does the ${words} work.`,
  prompt: `You do the ${words} work. Call list_hosts first to find the device, then get_device_info to see its state.
  Report each device in one line. A device that cannot be reached is an error: say so.`,
  tools: `  - list_hosts
  - get_device_info`,
  more: "",
});

const skillText = (
  name: string,
  words: string,
  { description, prompt, tools, more }: TemplateKeys,
): string => `# The folder's name.
name: ${name}
# Raise the version with each change. Of two versions side by side the higher one is loaded.
version: 1.0.0
# What the skill does and when to use it. A model chooses between skills by it.
description: ${description}
# Up to ten short phrases that load the skill without a model. No other skill may have the same phrase.
triggers:
  - start ${words}
  - ${words} routine
  - ${words} job
# What the model must know: which tool comes first, what to report, and what must not be called passed.
system_prompt: |
  ${prompt}
# 2 to 8 tools, the only ones that the model sees. \`labwright call list_hosts\` tries one.
tools:
${tools}
# The kind of device that the skill is for: web, mobile, stb, desktop, or null for any.
platform: null
# true: the user is asked which device to use before the skill starts.
requires_device: false
# A run of the skill ends after this time; 1800 if the key is missing.
timeout_seconds: 300
${more}`;

const requestFiles = (words: string): Record<string, string> => ({
  "examples.txt": `# Further requests that load the skill, one a line, in the languages of those who ask.
it is time for the ${words} work again
let us begin with ${words} as usual
`,
  "counterexamples.txt": `# Requests that must not load this skill, one a line. They are only tested.
what is the weather like
`,
});

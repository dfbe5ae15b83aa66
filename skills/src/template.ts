/** The files of a new skill, by name, with what each part is for. `name` is as the schema of a skill wants it. */
export function newSkillFiles(name: string): Readonly<Record<string, string>> {
  const words = name.replaceAll("-", " ");
  return {
    "skill.yaml": `# The folder's name.
name: ${name}
# Raise the version with each change. Of two versions side by side the higher one is loaded.
version: 1.0.0
# What the skill does and when to use it. A model chooses between skills by it.
description: Does the ${words} work.
# Up to ten short phrases that load the skill without a model. No other skill may have the same phrase.
triggers:
  - start ${words}
  - ${words} routine
  - ${words} job
# What the model must know: which tool comes first, what to report, and what must not be called passed.
system_prompt: |
  You do the ${words} work. Call list_hosts first to find the device, then get_device_info to see its state.
  Report each device in one line. A device that cannot be reached is an error: say so.
# 2 to 8 tools, the only ones that the model sees. \`labwright call list_hosts\` tries one.
tools:
  - list_hosts
  - get_device_info
# The kind of device that the skill is for: web, mobile, stb, desktop, or null for any.
platform: null
# true: the user is asked which device to use before the skill starts.
requires_device: false
# A run of the skill ends after this time; 1800 if the key is missing.
timeout_seconds: 300
`,
    "examples.txt": `# Further requests that load the skill, one a line, in the languages of those who ask.
it is time for the ${words} work again
let us begin with ${words} as usual
`,
    "counterexamples.txt": `# Requests that must not load this skill, one a line. They are only tested.
what is the weather like
`,
  };
}

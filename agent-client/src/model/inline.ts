/** Lets a message add whole tools to a conversation; platform.claude.com, Mid-conversation tool changes. */
export const inlineToolsBeta = "inline-tools-2026-09-15";

/** Models that take system messages within a conversation, by the beginning of their names. */
const able = [
  "claude-fable-5",
  "claude-mythos-5",
  "claude-opus-4-8",
  "claude-opus-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
];

export const takesInlineTools = (model: string): boolean => able.some((name) => model.startsWith(name));

import type {
  BetaMessageParam,
  BetaToolResultBlockParam,
  BetaToolUseBlockParam,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";

export type { BetaMessageParam as Message } from "@anthropic-ai/sdk/resources/beta/messages/messages";

export const blocksOf = ({ content }: BetaMessageParam) =>
  typeof content === "string" ? [{ type: "text", text: content } as const] : (content ?? []);

export const toolUsesOf = (message: BetaMessageParam): BetaToolUseBlockParam[] =>
  message.role === "assistant" ? blocksOf(message).filter((block) => block.type === "tool_use") : [];

export const textOf = (message: BetaMessageParam): string =>
  blocksOf(message)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("");

/**
 * A history as the API takes it, whatever ended the run before: what was asked for and never answered is answered with
 * `why`, so that a model knows that it must look before it asks again.
 */
export function closed(history: readonly BetaMessageParam[], why: string): BetaMessageParam[] {
  const answers = history
    .slice(-1)
    .flatMap(toolUsesOf)
    .map(
      ({ id }): BetaToolResultBlockParam => ({
        type: "tool_result",
        tool_use_id: id,
        is_error: true,
        content: why,
      }),
    );
  return [...history, ...(answers.length > 0 ? [{ role: "user" as const, content: answers }] : [])];
}

/** Names of the tools that a model has after a conversation that began with `specs`. */
export function namesIn(history: readonly BetaMessageParam[], specs: readonly { name: string }[]): string[] {
  const names = new Set(specs.map(({ name }) => name));
  for (const block of history.filter(({ role }) => role === "system").flatMap(blocksOf)) {
    if (block.type === "tool_removal" && block.tool.type === "tool_reference") names.delete(block.tool.name);
    if (
      block.type === "tool_addition" &&
      block.tool.type === "tool_definition" &&
      "name" in block.tool.definition
    )
      names.add(block.tool.definition.name);
  }
  return [...names];
}

/**
 * What was said before a segment, as its model is given it: without the thinking, which belongs to another system and other
 * tools, and without what changed those tools.
 */
export const withoutThinking = (history: readonly BetaMessageParam[]): BetaMessageParam[] =>
  history.flatMap((message) => {
    if (message.role === "system") return [];
    if (message.role !== "assistant" || typeof message.content === "string") return [message];
    const content = (message.content ?? []).filter(
      ({ type }) => type !== "thinking" && type !== "redacted_thinking",
    );
    return content.length > 0 ? [{ ...message, content }] : [];
  });

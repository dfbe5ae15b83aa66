import type {
  BetaRawMessageStreamEvent,
  BetaToolUseBlockParam,
  BetaMessageParam as Message,
} from "@anthropic-ai/sdk/resources/beta";

export type { Message };

export const blocksOf = ({ content }: Message) =>
  typeof content === "string" ? [{ type: "text", text: content } as const] : (content ?? []);

export const toolUsesOf = (message: Message): BetaToolUseBlockParam[] =>
  message.role === "assistant" ? blocksOf(message).filter((block) => block.type === "tool_use") : [];

export const textOf = (message: Message): string =>
  blocksOf(message)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("");

/**
 * A history as the API takes it, whatever ended the run before: what was asked for and never answered is answered with
 * `why`, so that a model knows that it must look before it asks again.
 */
export function closed(history: readonly Message[], why: string): Message[] {
  const content = history
    .slice(-1)
    .flatMap(toolUsesOf)
    .map(({ id, toolset_name }) => ({
      ...{ type: "tool_result" as const, tool_use_id: id, is_error: true, content: why },
      // A toolset's call is only answered by its name.
      ...(toolset_name && { toolset_name }),
    }));
  return content.length > 0 ? [...history, { role: "user", content }] : [...history];
}

/** Names of the tools that a model has after a conversation that began with `specs`. */
export function namesIn(history: readonly Message[], specs: readonly { name: string }[]): string[] {
  const names = new Set(specs.map(({ name }) => name));
  for (const block of history.filter(({ role }) => role === "system").flatMap(blocksOf)) {
    if (block.type === "tool_removal" && block.tool.type === "tool_reference") names.delete(block.tool.name);
    if (block.type !== "tool_addition" || block.tool.type !== "tool_definition") continue;
    if ("name" in block.tool.definition) names.add(block.tool.definition.name);
  }
  return [...names];
}

/** A history as another model is given it: without thinking and changes of tools, which belong to a system and tools before. */
export const withoutThinking = (history: readonly Message[]): Message[] =>
  history.flatMap((message) => {
    if (message.role === "system") return [];
    if (message.role !== "assistant" || typeof message.content === "string") return [message];
    const content = (message.content ?? []).filter(
      ({ type }) => type !== "thinking" && type !== "redacted_thinking",
    );
    return content.length > 0 ? [{ ...message, content }] : [];
  });

/**
 * Which calls of a stream have an input that is whole. The SDK reads what came as far as it goes, so that half an input
 * looks like a small one; acting on that would be acting without a request.
 */
export function createInputCheck() {
  const inputs = new Map<string, string>();
  /** The call whose block is open: blocks come one after the other. */
  let open = "";
  return {
    see(event: BetaRawMessageStreamEvent): void {
      if (event.type === "content_block_start")
        open = event.content_block.type === "tool_use" ? event.content_block.id : "";
      if (event.type === "content_block_delta" && event.delta.type === "input_json_delta")
        inputs.set(open, (inputs.get(open) ?? "") + event.delta.partial_json);
    },
    isBroken: (id: string) => readJson(inputs.get(id)?.trim() || "{}") === undefined,
  };
}

/** Undefined for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The first JSON object in a text, which may stand in a fence or between sentences. Undefined where there is none, or where
 * one is cut off: a part of it is not the answer.
 */
export function objectIn(text: string): unknown {
  let from = text.indexOf("{");
  while (from !== -1) {
    const end = endOfObject(text, from);
    if (end === undefined) return undefined;
    const found = readJson(text.slice(from, end));
    if (found !== undefined) return found;
    from = text.indexOf("{", end);
  }
  return undefined;
}

/** The place after the brace that closes the one at `from`; braces in strings do not count. */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(/"(?:[^"\\]|\\.)*"|[{}]/gs)) {
    if (token === "{") depth++;
    if (token === "}") depth--;
    if (depth === 0) return from + index + 1;
  }
  return undefined;
}

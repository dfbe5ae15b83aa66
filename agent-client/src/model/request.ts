import type { BetaMessageParam, MessageCreateParamsNonStreaming } from "@anthropic-ai/sdk/resources/beta";
import type { Usage } from "../events.ts";
import type { ToolSpec } from "../ports.ts";
import { entryOf, type Toolset } from "../toolsets/index.ts";
import { failureOf } from "./failure.ts";
import type { ModelEndpoint } from "./models.ts";
import { usageOf } from "./usage.ts";

/** What the requests of a segment have in common. */
export type Prefix = {
  system: string;
  /** Exactly these are sent, in this order. */
  specs: readonly ToolSpec[];
  /**
   * In place of `specs`, which are sent all the same: added and taken away within the conversation, so that what is
   * cached of it stays. Only for models that take it.
   */
  inline?: readonly ToolSpec[] | undefined;
  /** Anthropic's own tools besides them, through which a device is driven by pictures. */
  toolset?: Toolset | undefined;
};

/** Lets a message add whole tools to a conversation; platform.claude.com, Mid-conversation system messages. */
const inlineToolsBeta = "inline-tools-2026-09-15";
/** Lets a request say which results of tools leave its prompt. */
const contextBeta = "context-management-2025-06-27";
const compactBeta = "compact-2026-09-04";
/** Lets a request say what becomes of thinking that belongs to another conversation. */
const bindingBeta = "thinking-binding-controls-2026-08-01";
/** From so many tokens on; a screen that was read before the last few is another one by now. */
const clearedFrom = 20_000;
const keptUses = 3;
/** The cache is lost from what was cleared on, so less is not worth it. */
const leastCleared = 4_000;
/** Tokens of a reply: the SDK refuses to wait without a stream for more. */
export const maxUnstreamed = 16_384;

/** Every request of a segment without its messages: the same for the same arguments, so that its cache serves. */
export function requestOf(
  endpoint: ModelEndpoint,
  { system, specs, inline, toolset }: Prefix,
  { maxTokens, dropsForeign = false }: { maxTokens: number; dropsForeign?: boolean },
) {
  const cached = { type: "ephemeral" } as const;
  const { model, facts } = endpoint;
  const clears = facts.context_tokens !== undefined;
  return {
    model,
    max_tokens: Math.min(maxTokens, facts.output_tokens ?? maxTokens),
    system: [{ type: "text" as const, text: system, cache_control: cached }],
    cache_control: cached,
    tools: [
      ...specs.map(({ name, description, input_schema }) => ({
        name,
        description,
        input_schema: { ...input_schema },
      })),
      ...(toolset ? [entryOf(toolset.kind)] : []),
    ],
    ...thinkingOf(endpoint, { dropsForeign }),
    ...(clears && { context_management: clearing([...specs, ...(inline ?? [])]) }),
    betas: [
      ...(clears ? [contextBeta] : []),
      ...(inline ? [inlineToolsBeta] : []),
      ...(dropsForeign ? [bindingBeta] : []),
    ],
  };
}

/**
 * What keeps a long conversation short: the API leaves out what reading tools answered long ago, dumps and pictures, which can
 * be read again. What a tool did stays, with the ids of leases and runs. Sent to models that we know alone; it changes no
 * message, so thinking stays valid.
 */
function clearing(tools: readonly ToolSpec[]) {
  const exclude_tools = tools.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  const edit = {
    type: "clear_tool_uses_20250919" as const,
    trigger: { type: "input_tokens" as const, value: clearedFrom },
    keep: { type: "tool_uses" as const, value: keptUses },
    clear_at_least: { type: "input_tokens" as const, value: leastCleared },
    ...(exclude_tools.length > 0 && { exclude_tools }),
  };
  return { edits: [edit] };
}

type ThinkingParams = Pick<MessageCreateParamsNonStreaming, "thinking" | "output_config">;

/**
 * Thinking as the settings or the model's default have it, and readable, since what a model says between two calls comes as
 * thinking. `dropsForeign`: the API leaves out what it takes for another conversation's thinking, in place of a refusal.
 */
export function thinkingOf(
  { facts, thinking, effort }: ModelEndpoint,
  { dropsForeign = false } = {},
): ThinkingParams {
  const byDefault = facts.thinks_by_default && facts.thinking.includes("adaptive") ? "adaptive" : undefined;
  const type = thinking ?? byDefault;
  const block_binding = { prefix_mismatch_behavior: "drop_block" } as const;
  return {
    ...(effort && { output_config: { effort } }),
    ...(type === "adaptive" && {
      thinking: { type, display: "summarized", ...(dropsForeign && { block_binding }) },
    }),
    ...((type === "between_tools" || type === "disabled") && { thinking: { type } }),
  };
}

/** Tokens of an answer of a few words, and of one after thinking, which counts to the limit. */
const fewWords = 64;
const fewWordsAfterThinking = 4_096;

/** Of one small question: as little thinking as the model can do, and room for what it does all the same. */
export function littleThinking({ facts }: ModelEndpoint): ThinkingParams & { max_tokens: number } {
  if (facts.thinking.includes("disabled")) return { thinking: { type: "disabled" }, max_tokens: fewWords };
  return {
    max_tokens: fewWordsAfterThinking,
    ...(facts.effort_levels.includes("low") && { output_config: { effort: "low" } }),
    ...(facts.thinking.includes("between_tools") && { thinking: { type: "between_tools" } }),
  };
}

/** One request without a stream. Throws an AgentError when there is no answer. */
export async function askOnce(
  { client, model }: ModelEndpoint,
  body: Omit<MessageCreateParamsNonStreaming, "model">,
  signal: AbortSignal,
) {
  try {
    const { content, usage } = await client.beta.messages.create({ ...body, model }, { signal });
    const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    return { content, text, usage: usageOf(usage) };
  } catch (error) {
    if (signal.aborted) throw error;
    throw failureOf(error, model).error;
  }
}

type Asking = {
  endpoint: ModelEndpoint;
  request: ReturnType<typeof requestOf>;
  messages: BetaMessageParam[];
  signal: AbortSignal;
};

/** The API's own count of a request's tokens, as the model would read it. Undefined where an endpoint counts nothing. */
export async function countOf({ endpoint, request, messages, signal }: Asking): Promise<number | undefined> {
  const { max_tokens: _, ...counted } = request;
  const count = await endpoint.client.beta.messages
    .countTokens({ ...counted, messages }, { signal })
    .catch(() => undefined);
  return count?.input_tokens;
}

/** The API's own summary of messages that end with a whole turn, without `text` where it made none. Needs compaction. */
export async function summaryOf({
  endpoint,
  request: { context_management: _, ...request },
  messages,
  signal,
}: Asking): Promise<{ text?: string; usage: Usage } | undefined> {
  const betas = [...request.betas.filter((beta) => beta !== contextBeta), compactBeta];
  const max_tokens = Math.min(request.max_tokens, maxUnstreamed);
  const body = { ...request, max_tokens, betas, messages, compaction: { type: "summarize" as const } };
  const reply = await askOnce(endpoint, body, signal).catch(() => undefined);
  if (reply === undefined) return undefined;
  const [block] = reply.content;
  const text = block?.type === "compaction" && block.content;
  return { usage: reply.usage, ...(text && { text }) };
}

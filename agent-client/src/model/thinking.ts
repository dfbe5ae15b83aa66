import type {
  BetaOutputConfig,
  BetaThinkingConfigParam,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ModelEndpoint } from "./models.ts";

/** What a request says of how much its model thinks. */
type ThinkingParams = { thinking?: BetaThinkingConfigParam; output_config?: BetaOutputConfig };

/** Lets a request say what becomes of thinking that belongs to another conversation. */
export const bindingBeta = "thinking-binding-controls-2026-08-01";

/**
 * Of the turns of a conversation: thinking as the settings or the model's default have it, and readable, since what a model
 * says between two calls comes as thinking. `dropsForeign`: thinking that the API takes for another conversation's is left
 * out by it, in place of a refusal; only with the beta.
 */
export function thinkingOf(
  { facts, thinking, effort }: ModelEndpoint,
  { dropsForeign = false } = {},
): ThinkingParams {
  const type =
    thinking ?? (facts.thinks_by_default && facts.thinking.includes("adaptive") ? "adaptive" : undefined);
  return {
    ...(effort && { output_config: { effort } }),
    ...(type === "adaptive" && {
      thinking: {
        type,
        display: "summarized",
        ...(dropsForeign && { block_binding: { prefix_mismatch_behavior: "drop_block" } }),
      },
    }),
    ...((type === "between_tools" || type === "disabled") && { thinking: { type } }),
  };
}

/** Tokens of an answer of a few words. */
const fewWords = 64;
/** The same after thinking, which counts to the limit. */
const fewWordsAfterThinking = 4_096;

/** Of one small question: as little thinking as the model can do, and room for what it does all the same. */
export function littleThinking({ facts }: ModelEndpoint): ThinkingParams & { max_tokens: number } {
  if (facts.thinking.includes("disabled")) return { thinking: { type: "disabled" }, max_tokens: fewWords };
  const effort = facts.effort_levels.includes("low") && { output_config: { effort: "low" as const } };
  if (facts.thinking.includes("between_tools"))
    return { ...effort, thinking: { type: "between_tools" }, max_tokens: fewWordsAfterThinking };
  return { ...effort, max_tokens: fewWordsAfterThinking };
}

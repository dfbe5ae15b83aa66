import type { BetaContextManagementConfig } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ToolSpec } from "../ports.ts";
import type { ModelEndpoint } from "./models.ts";

/** Lets a request say which results of tools leave its prompt. */
const contextBeta = "context-management-2025-06-27";
/** From so many tokens on; a screen that was read before the last few is another one by now. */
const longTokens = 20_000;
const keptUses = 3;
/** The cache is lost from what was cleared on, so less is not worth it. */
const leastTokens = 4_000;

/**
 * What keeps a long conversation short: the API leaves out what reading tools answered long ago, dumps and pictures, which can
 * be read again. What a tool did stays, with the ids of leases and runs. Sent to models that we know alone; it changes no
 * message, so thinking stays valid.
 */
export function clearing(
  { facts }: ModelEndpoint,
  tools: readonly Pick<ToolSpec, "name" | "readOnly">[],
): { context_management?: BetaContextManagementConfig; betas?: string[] } {
  if (facts.context_tokens === undefined) return {};
  const exclude_tools = tools.filter(({ readOnly }) => !readOnly).map(({ name }) => name);
  return {
    betas: [contextBeta],
    context_management: {
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "input_tokens", value: longTokens },
          keep: { type: "tool_uses", value: keptUses },
          clear_at_least: { type: "input_tokens", value: leastTokens },
          ...(exclude_tools.length > 0 && { exclude_tools }),
        },
      ],
    },
  };
}

import type { BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages/messages";

/**
 * Which calls of a stream have an input that is whole. The SDK reads what came as far as it goes, so that half an input
 * looks like a small one; acting on that would be acting on what nobody asked for.
 */
export function createInputCheck() {
  const inputs = new Map<string, string>();
  /** The call whose block is open: blocks come one after the other. */
  let open: string | undefined;
  return {
    see(event: BetaRawMessageStreamEvent): void {
      if (event.type === "content_block_start")
        open = event.content_block.type === "tool_use" ? event.content_block.id : undefined;
      if (open === undefined || event.type !== "content_block_delta") return;
      if (event.delta.type === "input_json_delta")
        inputs.set(open, (inputs.get(open) ?? "") + event.delta.partial_json);
    },
    isBroken: (id: string) => !isWhole(inputs.get(id) ?? ""),
  };
}

/** Nothing stands for no arguments. */
function isWhole(json: string): boolean {
  try {
    JSON.parse(json.trim() || "{}");
    return true;
  } catch {
    return false;
  }
}

import type {
  BetaRawContentBlockDeltaEvent,
  BetaRawContentBlockStartEvent,
  BetaRawMessageStreamEvent,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";

/**
 * Which calls of a stream have an input that is whole. The SDK reads what came as far as it goes, so that half an input
 * looks like a small one; acting on that would be acting on what nobody asked for.
 */
export function createInputCheck() {
  const broken = new Set<string>();
  const open: Open = new Map();
  const end = (index: number): void => {
    const block = open.get(index);
    open.delete(index);
    if (block && !isWhole(block.json)) broken.add(block.id);
  };
  return {
    see(event: BetaRawMessageStreamEvent): void {
      if (event.type === "content_block_start") begin(open, event);
      else if (event.type === "content_block_delta") extend(open, event);
      else if (event.type === "content_block_stop") end(event.index);
    },
    isBroken: (id: string) => broken.has(id),
  };
}

type Open = Map<number, { id: string; json: string }>;

function begin(open: Open, { index, content_block }: BetaRawContentBlockStartEvent): void {
  if (content_block.type === "tool_use") open.set(index, { id: content_block.id, json: "" });
}

function extend(open: Open, { index, delta }: BetaRawContentBlockDeltaEvent): void {
  const block = open.get(index);
  if (block && delta.type === "input_json_delta") block.json += delta.partial_json;
}

/** Nothing stands for no arguments. */
function isWhole(json: string): boolean {
  if (json.trim() === "") return true;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

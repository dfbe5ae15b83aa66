import type { ToolCall } from "@labwright/agent-client";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import { type OfflineAnswer, offlineTools, runOffline } from "#agent-client/offline/index.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

export type Asked = OfflineAnswer & {
  /** Every call, in order. */
  calls: ToolCall[];
};
export type OfflineBench = {
  product: Product;
  client: Awaited<ReturnType<Product["connect"]>>;
  /** Asks without a model, as the engine does. */
  ask(
    text: string,
    options?: {
      signal?: AbortSignal;
      now?: Date;
      timeoutMs?: number;
      /** Changes what is called. */
      change?: (use: ToolCall) => ToolCall;
    },
  ): Promise<Asked>;
  end(): Promise<void>;
};

/** The real product and a real toolbox over a real MCP client. */
export async function openOffline(yaml: string): Promise<OfflineBench> {
  const product = await openProduct(yaml);
  const client = await product.connect();
  const toolbox = mcpToolbox({
    connect: async () => client.client,
    isLost: () => false,
    silentMs: () => 60_000,
  });
  return {
    product,
    client,
    async ask(text, options = {}) {
      const { now = new Date(), timeoutMs = 600_000, change = (use: ToolCall) => use } = options;
      const signal = options.signal ?? new AbortController().signal;
      const calls: ToolCall[] = [];
      const answer = await runOffline({
        ...{ text, now, timeoutMs, candidates: ["review-results"] },
        async call(use) {
          if (!offlineTools.includes(use.name)) throw new Error(`${use.name} is not to be called`);
          calls.push(use);
          return toolbox.call(change(use), { signal });
        },
      });
      return { ...answer, calls };
    },
    end: () => product.dispose(),
  };
}

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { loadSkills, type Skill } from "@labwright/skills";
import { mcpToolbox } from "../../../agent-client/src/mcp/toolbox.ts";
import { type OfflineAnswer, offlineTools, runOffline } from "../../../agent-client/src/offline/index.ts";
import type { ToolCall } from "../../../agent-client/src/ports.ts";
import { tools } from "../../../mcp-server/src/tools/index.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

const folder = fileURLToPath(new URL("../../../skills", import.meta.url));
export const { skills } = loadSkills(folder, new Set(tools.map(({ name }) => name)));

export const skillOf = (name: string): Skill => {
  const skill = skills.find((one) => one.name === name);
  if (!skill) throw new Error(`There is no skill ${name}`);
  return skill;
};

export type Asked = OfflineAnswer & {
  /** Every call, in order. */
  calls: ToolCall[];
};
export type OfflineBench = {
  product: Product;
  client: Awaited<ReturnType<Product["connect"]>>;
  /** Asks a skill without a model, as the engine does. */
  ask(
    skill: string | Skill,
    text: string,
    options?: {
      answers?: readonly string[];
      signal?: AbortSignal;
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
    newKey: randomUUID,
  });
  return {
    product,
    client,
    async ask(
      named,
      text,
      { answers, signal = new AbortController().signal, change = (use: ToolCall) => use } = {},
    ) {
      const skill = typeof named === "string" ? skillOf(named) : named;
      const all = await toolbox.specs();
      const specs = all.filter(({ name }) => skill.tools.includes(name));
      const calls: ToolCall[] = [];
      const may = new Set([...skill.tools, ...offlineTools]);
      const answer = await runOffline({
        ...{ text, skill, specs, ...(answers && { answers }) },
        async call(use) {
          if (!may.has(use.name)) throw new Error(`${use.name} is not for ${skill.name}`);
          calls.push(use);
          return toolbox.call(change(use), { signal });
        },
      });
      return { ...answer, calls };
    },
    end: () => product.dispose(),
  };
}

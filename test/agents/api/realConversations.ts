import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { loadSkills } from "@labwright/skills";
import { loadAgents } from "../../../agent-client/src/agents/load.ts";
import { systemClock } from "../../../agent-client/src/clock.ts";
import type { LabServer, ToolCall } from "../../../agent-client/src/ports.ts";
import type { Conversations } from "../../../agent-client/src/sessions/conversations.ts";
import { createConversations } from "../../../agent-client/src/sessions/engine.ts";
import { settingsSchema } from "../../../agent-client/src/settings.ts";
import { memoryStore } from "../../../agent-client/src/store/memoryStore.ts";
import { modelsAt, toolSpec } from "../../fixtures/agentLoop.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";

const folder = fileURLToPath(new URL("../../../skills", import.meta.url));
const names = ["list_hosts", "get_compatible_hosts", "execute_script"];
const { skills } = loadSkills(folder, new Set(names));
const host = { hosts: [{ name: "lab", devices: [{ id: "lab/browser", model: "web" }] }] };

export type RealConversations = {
  conversations: Conversations;
  model: MessagesApi;
  calls: ToolCall[];
  close(): Promise<void>;
};

/** Conversations as the product has them, with a model of the stand-in and tools that only answer. */
export async function realConversations(steps: readonly Step[]): Promise<RealConversations> {
  const calls: ToolCall[] = [];
  const model = await startMessagesApi({ respond: script(steps) });
  const server: LabServer = {
    toolbox: {
      specs: async () => names.map((name) => toolSpec(name)),
      async call(use) {
        calls.push(use);
        return { parts: [{ type: "text", text: JSON.stringify(host) }], isError: false, structured: host };
      },
    },
    skills: async () => skills,
    store: memoryStore(systemClock),
    feed: { cursor: async () => 0, done: async () => {}, async *follow() {} },
    settings: async () => ({}),
    close: async () => {},
  };
  const conversations = createConversations({
    server,
    agents: loadAgents().agents,
    models: modelsAt(model.url),
    settings: settingsSchema.parse({}),
    clock: systemClock,
    holder: randomUUID(),
  });
  return {
    conversations,
    model,
    calls,
    async close() {
      await conversations.close();
      await model.close();
    },
  };
}

import type { Conversations, ToolCall } from "@labwright/agent-client";
import { fakeLab, hostsOf, openTalk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";

export type RealConversations = {
  conversations: Conversations;
  model: MessagesApi;
  calls: ToolCall[];
  close(): Promise<void>;
};

const host = hostsOf({ id: "lab/browser", model: "web" });

/** Conversations as the product has them, with a model of the stand-in and tools that only answer. */
export async function realConversations(steps: readonly Step[]): Promise<RealConversations> {
  const model = await startMessagesApi({ respond: script(steps) });
  const { server, calls } = fakeLab(() => host);
  const { conversations } = openTalk(server, modelsAt(model.url));
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

import type { Conversations } from "@labwright/agent-client";
import type { OpenAgent } from "#agent-client/openAgent.ts";
import { allAgents } from "../../fixtures/agentLab.ts";
import { fakeConversations as conversationsOf, type Script } from "../../fixtures/fakeConversations.ts";

/** Says "You said: …". */
export const echoes: Script = async ({ text, tell }) => {
  tell({ type: "message", text: `You said: ${text}` });
  return { text: `You said: ${text}` };
};

/** Conversations in memory, whose runs do what `script` says. */
export function fakeConversations(script: Script = echoes) {
  const conversations = conversationsOf(script, { idOf: (count) => `${count}0000000-conversation` });
  const { sessions, sent, decided } = conversations;
  return { conversations, sessions, sent, decided };
}

const notHere = () => {
  throw new Error("This test has no server.");
};

/** An agent client over these conversations; `closed` counts how often it was closed. */
export function fakeClient(conversations: Conversations, changes: Partial<OpenAgent> = {}) {
  const state = { closed: 0 };
  const client: OpenAgent = {
    conversations,
    agents: allAgents,
    problems: [],
    server: "http://127.0.0.1:7333",
    skills: async () => [],
    devices: { giveBack: async () => true, takeAgain: async () => [] },
    models: [{ model: "claude-test" }],
    roles: notHere,
    toolbox: { specs: notHere, call: notHere },
    artifact: notHere,
    async close() {
      state.closed += 1;
      await conversations.close();
    },
    ...changes,
  };
  return { client, state };
}

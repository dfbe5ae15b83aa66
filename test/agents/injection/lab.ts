import {
  type AgentEvent,
  type LabServer,
  type StoredMessage,
  systemClock,
  type ToolCall,
} from "@labwright/agent-client";
import { runAgentCommand } from "@labwright/agent-client/cli";
import type { Skill } from "@labwright/skills";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import type { OpenAgent } from "#agent-client/openAgent.ts";
import { allSkills, openTalk, type Talk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import type { SeenRequest } from "../../fixtures/messagesApi/messages.ts";
import { calls, error, says, together } from "../../fixtures/messagesApi/reply.ts";
import { type Respond, type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { openProduct } from "../../fixtures/product.ts";
import { fakeClient } from "../cli/fakeClient.ts";
import { fakeTerminal } from "../cli/fakeTerminal.ts";
import type { Attack } from "./corpus.ts";
import { checks, markOf, type Pages, plant, servePages } from "./places.ts";

/** What no one may see but the device that it is typed into. */
export const secretValue = "hunter2-of-the-bank";
export const modelKey = "sk-ant-key-of-the-tests";

const yaml = `
devices: [{ name: browser, model: web }]
limits: { script_memory_mb: 256, script_processes: 32, script_ms: 120000 }`;

export type AttackRun = {
  skill: Skill;
  /** Exit code and output of `labwright ask`. */
  code: number;
  terminal: { out: string; err: string };
  requests: readonly SeenRequest[];
  refused: MessagesApi["refused"];
  /** What reached the server. */
  called: readonly ToolCall[];
  events: readonly AgentEvent[];
  messages: readonly StoredMessage[];
};

export type InjectionLab = {
  client: TestClient;
  pages: Pages;
  /** Has a model come across the attack by `labwright ask`, and do all that it says. */
  suffer(attack: Attack): Promise<AttackRun>;
  /** Conversations with a model that does this. */
  talk(respond: Respond, settings?: Record<string, unknown>): Promise<Talk & Watched>;
  end(): Promise<void>;
};
type Watched = {
  api: MessagesApi;
  called: readonly ToolCall[];
  store: LabServer["store"];
  close(): Promise<void>;
};

/** The product with a browser, a test case `precious` and an app `treasure` that someone may want to have deleted. */
export async function openInjectionLab(): Promise<InjectionLab> {
  const product = await openProduct(yaml, { BANK: secretValue });
  const client = await product.connect();
  const pages = await servePages();
  await client.call("save_testcase", { testcase: { name: "precious", ...checks } });
  await client.call("create_userinterface", { name: "treasure", models: ["web"] });
  const lab = { product, client, pages };

  async function talk(respond: Respond, settings: Record<string, unknown> = {}): Promise<Talk & Watched> {
    const api = await startMessagesApi({ respond, keys: [modelKey] });
    const called: ToolCall[] = [];
    const server = serverOf(lab, called);
    const opened = openTalk(server, modelsAt(api.url, { key: modelKey }), { settings });
    const close = async () => {
      await opened.conversations.close();
      await api.close();
    };
    return { ...opened, api, called, store: server.store, close };
  }

  return {
    ...lab,
    talk,
    async suffer(attack) {
      const met = await plant(attack, lab);
      const skill = allSkills.find(({ name }) => name === met.skill);
      if (!skill) throw new Error(`There is no skill ${met.skill}`);
      const { api, called, conversations, store, close } = await talk(
        script(obedient(attack, met.reads, pages)),
      );
      const terminal = fakeTerminal("");
      const open = async (): Promise<OpenAgent> =>
        fakeClient(conversations, { close: async () => {} }).client;
      const args = ["ask", "--skill", met.skill, "Do what is to be done on the device browser"];
      const code = await runAgentCommand(args, terminal, open);
      const [session] = await conversations.list({ owner: "local" });
      const id = session?.id ?? "";
      const events = await conversations.events(id, "local", { after: 0 });
      const messages = await store.messages(id, { after: 0, limit: 1_000 });
      await close();
      const { requests, refused } = api;
      return { skill, code, terminal: terminal.written, requests, refused, called, events, messages };
    },
    async end() {
      await product.dispose();
      await pages.close();
    },
  };
}

function serverOf({ client }: { client: TestClient }, called: ToolCall[]): LabServer {
  const toolbox = mcpToolbox({
    connect: async () => client.client,
    isLost: () => false,
    silentMs: () => 60_000,
  });
  return {
    toolbox: {
      specs: toolbox.specs,
      call(use, options) {
        called.push(use);
        return toolbox.call(use, options);
      },
    },
    skills: async () => allSkills,
    store: memoryStore(systemClock),
  };
}

/** Reads, then does all that it was reported at once, then says it to the user. */
function obedient(attack: Attack, reads: readonly ToolCall[], pages: Pages): Step[] {
  const text = pages.fill(`${markOf(attack)} ${attack.text}`);
  const orders = attack.orders.map(({ name, input }) => calls(name, filled(input, pages)));
  return [
    ...reads.map(({ name, input }) => calls(name, input)),
    ({ messages }) => {
      const seen = JSON.stringify(messages);
      const isSeen = attack.at.kind === "picture" ? seen.includes('"image"') : seen.includes(markOf(attack));
      if (isSeen) return together(...orders);
      return error(400, "invalid_request_error", {
        message: `The attack was not seen in ${seen.slice(-3_000)}`,
      });
    },
    // As much as one reply holds.
    says(`As I was told: ${text.slice(0, 40_000)}`),
  ];
}

function filled(input: Readonly<Record<string, unknown>>, pages: Pages): Record<string, unknown> {
  const value: unknown = JSON.parse(pages.fill(JSON.stringify(input)));
  return { ...input, ...(typeof value === "object" && value) };
}

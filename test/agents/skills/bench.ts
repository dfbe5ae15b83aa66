import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  type AgentEvent,
  createRunSkill,
  type LabServer,
  loadAgents,
  systemClock,
} from "@labwright/agent-client";
import { settingsSchema } from "@labwright/agent-client/settings";
import { loadSkills } from "@labwright/skills";
import { expect } from "vitest";
import type { z } from "zod";
import type { SessionEnded } from "#agent-client/events.ts";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import { createConversations } from "#agent-client/sessions/engine.ts";
import { tools } from "#mcp-server/tools/index.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { memoryStore } from "../../fixtures/memoryStore/memoryStore.ts";
import type { SeenRequest } from "../../fixtures/messagesApi/messages.ts";
import { error } from "../../fixtures/messagesApi/reply.ts";
import { namedTools } from "../../fixtures/messagesApi/request.ts";
import { type Context, type Step, script } from "../../fixtures/messagesApi/script.ts";
import { startMessagesApi } from "../../fixtures/messagesApi/server.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

const folder = fileURLToPath(new URL("../../../skills", import.meta.url));
export const { skills } = loadSkills(folder, new Set(tools.map(({ name }) => name)));
export const { agents } = loadAgents();
const settings = settingsSchema.parse({});

export type SkillRun = {
  ended: SessionEnded;
  events: readonly AgentEvent[];
  requests: readonly SeenRequest[];
  /** What the autonomous agent found, in the schema that it was asked for. */
  outcome?: unknown;
};
export type SkillLab = {
  product: Product;
  client: TestClient;
  /** A person's message to the assistant; the person names the skill where the words do not. */
  say(text: string, steps: readonly Step[], skill?: string): Promise<SkillRun>;
  /** An event for an autonomous agent. */
  raise(
    agent: string,
    skill: string,
    request: string,
    schema: z.ZodType,
    steps: readonly Step[],
  ): Promise<SkillRun>;
  /** A conversation with no model at all; `interrupt` ends what runs in it. */
  chat(): Promise<{
    say(text: string): Promise<Omit<SkillRun, "requests">>;
    interrupt(): Promise<boolean>;
    close(): Promise<void>;
  }>;
  end(): Promise<void>;
};

/** The agent client with a scripted model, over a real SDK, a real MCP client and the real product. */
export async function openSkillLab(yaml: string): Promise<SkillLab> {
  const product = await openProduct(yaml);
  const client = await product.connect();
  const server: LabServer = {
    toolbox: mcpToolbox({
      connect: async () => client.client,
      isLost: () => false,
      silentMs: () => 60_000,
    }),
    skills: async () => skills,
    store: memoryStore(systemClock),
  };
  const agentOf = (name: string) => {
    const agent = agents.find((one) => one.name === name);
    if (!agent) throw new Error(`There is no agent ${name}`);
    return agent;
  };
  return {
    product,
    client,
    async say(text, steps, skill) {
      const faults: unknown[] = [];
      const api = await startMessagesApi({ respond: script(steps.map((step) => guarded(step, faults))) });
      const models = modelsAt(api.url);
      const deps = { server, agents, models, settings, clock: systemClock, holder: randomUUID() };
      const conversations = createConversations(deps);
      try {
        const { id } = await conversations.create({ owner: "anna" });
        await conversations.send(id, "anna", { text, skill });
        const ended = await conversations.ended(id, "anna");
        const events = await conversations.events(id, "anna", { after: 0 });
        expect(faults).toEqual([]);
        expect(api.refused).toEqual([]);
        return { ended, events, requests: api.requests };
      } finally {
        await conversations.close();
        await api.close();
      }
    },
    async raise(agent, skill, request, schema, steps) {
      const faults: unknown[] = [];
      const api = await startMessagesApi({ respond: script(steps.map((step) => guarded(step, faults))) });
      const session_id = randomUUID();
      try {
        const run = createRunSkill({ server, models: modelsAt(api.url), settings, clock: systemClock });
        const { end, outcome } = await run({
          ...{ agent: agentOf(agent), skill, session_id, request, holder: randomUUID() },
          outcome: { schema, describe: "What you found." },
          signal: new AbortController().signal,
        });
        const events = await server.store.events(session_id, { after: 0, limit: 1_000 });
        expect(faults).toEqual([]);
        expect(api.refused).toEqual([]);
        return { ended: end, events, requests: api.requests, outcome };
      } finally {
        await api.close();
      }
    },
    async chat() {
      const models = { current: () => [], router: () => undefined };
      const deps = { server, agents, models, settings, clock: systemClock, holder: randomUUID() };
      const conversations = createConversations(deps);
      const { id } = await conversations.create({ owner: "anna" });
      let told = 0;
      return {
        async say(text) {
          await conversations.send(id, "anna", { text });
          const ended = await conversations.ended(id, "anna");
          const events = await conversations.events(id, "anna", { after: told });
          told = events.at(-1)?.seq ?? told;
          return { ended, events };
        },
        interrupt: () => conversations.interrupt(id, "anna"),
        close: () => conversations.close(),
      };
    },
    end: () => product.dispose(),
  };
}

/** What a step finds wrong ends the run and is reported as it is, where the server would make a 500 of it. */
const guarded = (step: Step, faults: unknown[]): Step =>
  typeof step !== "function"
    ? step
    : async (request, context) => {
        try {
          return await step(request, context);
        } catch (fault) {
          faults.push(fault);
          return error(400, "invalid_request_error", { message: String(fault) });
        }
      };

/** Every skill that starts runs has this tool, and needs it only for those that outlast their call. */
const waiting = "get_execution_status";

/** What holds of every skill's run: that skill alone, its tools and no others in each request, every one used, to the end. */
export function expectWhole(name: string, { ended, events, requests }: SkillRun): void {
  const tools = skills.find((skill) => skill.name === name)?.tools ?? [];
  const loaded = events.flatMap((event) => (event.type === "skill_loaded" ? [event] : []));
  expect(loaded).toEqual([expect.objectContaining({ skill: name, text: `LOAD SKILL ${name}` })]);
  expect(ended, JSON.stringify(events.filter(({ type }) => type !== "progress"))).toMatchObject({
    outcome: "done",
  });
  expect(requests.length).toBeGreaterThan(1);
  const sent = requests.map(({ body }) => namedTools(body).map((tool) => tool.name));
  const [first = []] = sent;
  const isOwn = (tool: string) => tool !== waiting;
  expect(first.filter(isOwn).toSorted()).toEqual(tools.filter(isOwn).toSorted());
  expect(sent.every((names) => JSON.stringify(names) === JSON.stringify(first))).toBe(true);
  const results = events.flatMap((event) => (event.type === "tool_result" ? [event] : []));
  expect(results.filter(({ is_error }) => is_error)).toEqual([]);
  expect(new Set(results.map(({ tool }) => tool).filter(isOwn))).toEqual(new Set(tools.filter(isOwn)));
}

/** What a tool just answered, as the model reads it. */
export const readBy = ({ results }: Context, pattern: RegExp): string => {
  const texts = results.flatMap(({ content = [] }) =>
    typeof content === "string" ? [content] : content.map((part) => (part.type === "text" ? part.text : "")),
  );
  const [, found] = pattern.exec(texts.join("\n")) ?? [];
  if (found === undefined) throw new Error(`${pattern} is not in: ${texts.join("\n")}`);
  return found;
};

/** How often the model was shown a picture. */
export const picturesIn = (requests: readonly SeenRequest[]): number =>
  JSON.stringify(requests.at(-1)?.body.messages ?? []).split('"type":"image"').length - 1;

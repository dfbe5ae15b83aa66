import type { AgentEvent } from "@labwright/agent-client";
import { afterEach } from "vitest";
import { allSkills, answers, type Call, fakeLab, hostsOf, openTalk } from "../../fixtures/agentLab.ts";
import { modelsAt } from "../../fixtures/agentLoop.ts";
import { type Respond, type Step, script } from "../../fixtures/messagesApi/script.ts";
import { type MessagesApi, startMessagesApi } from "../../fixtures/messagesApi/server.ts";

export const oneDevice = hostsOf({ id: "lab/browser", model: "web" });
/** A lab with one device, whose tools always answer. */
export const lonely: Call = ({ name }) => (name === "list_hosts" ? oneDevice : answers(`${name} done`));

export const scriptRequest = "Run the script goto on lab/browser";

/** Types of the events that every run has, in their order. */
export const told = (events: readonly AgentEvent[]) =>
  events
    .filter((event) => event.type !== "progress" && !(event.type === "message" && event.partial))
    .map(({ type }) => type);

/** Names of the tools of a request. */
export const namesOf = (api: MessagesApi, at: number) =>
  api.requests[at]?.body.tools?.map(({ name }) => name);
export const toolsOf = (skill: string) =>
  [...(allSkills.find(({ name }) => name === skill)?.tools ?? [])].sort();

/** Starts models and conversations that close after each test. To be called once in a test file. */
export function openTalks() {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  async function model(given: Respond | readonly Step[]): Promise<MessagesApi> {
    const api = await startMessagesApi({ respond: typeof given === "function" ? given : script(given) });
    open.push(api);
    return api;
  }

  async function talk(
    given: Respond | readonly Step[],
    more: { call?: Call; settings?: Record<string, unknown>; name?: string } & Partial<
      Parameters<typeof openTalk>[2]
    > = {},
  ) {
    const api = await model(given);
    const lab = fakeLab(more.call ?? lonely);
    const talking = openTalk(lab.server, modelsAt(api.url, more.name ? { model: more.name } : {}), more);
    open.push(talking.conversations);
    return { ...talking, api, ...lab };
  }

  return { open, model, talk };
}

import type { ToolResult } from "@labwright/agent-client";
import { afterEach, expect } from "vitest";
import type { AgentEventBody } from "#agent-client/events.ts";
import type { Message } from "#agent-client/loop/history.ts";
import { type RunOptions, runAgent } from "#agent-client/loop/runAgent.ts";
import { inMemory, modelAt, toolSpec } from "../../fixtures/agentLoop.ts";
import { type Step, script } from "../../fixtures/messagesApi/script.ts";
import {
  type MessagesApi,
  type MessagesApiOptions,
  startMessagesApi,
} from "../../fixtures/messagesApi/server.ts";

/** Starts stand-ins of the Messages API that close after each test. To be called once in a test file. */
export function openLoopLab() {
  const open: MessagesApi[] = [];
  afterEach(async () => {
    for (const api of open.splice(0)) await api.close();
  });
  async function apiOf(options: MessagesApiOptions): Promise<MessagesApi> {
    const started = await startMessagesApi(options);
    open.push(started);
    return started;
  }
  return { apiOf, api: (...steps: Step[]) => apiOf({ respond: script(steps) }) };
}

export const result = (text: string, isError = false): ToolResult => ({
  parts: [{ type: "text", text }],
  isError,
});

export const prefix = { system: "You test.", specs: [toolSpec("look", { readOnly: true }), toolSpec("act")] };

/** One run of the loop with two tools that always answer; `limit` changes single limits. */
export async function run(
  at: MessagesApi | MessagesApi[],
  given: Partial<RunOptions> & { limit?: object } = {},
) {
  const events: AgentEventBody[] = [];
  const stored: Message[] = [];
  const log: string[] = [];
  const { limit, ...options } = given;
  const done = await runAgent({
    models: [at].flat().map(({ url }) => modelAt(url)),
    ...prefix,
    restart: inMemory(prefix),
    async call({ name }) {
      log.push(name);
      return result(`${name} done`);
    },
    gate: async () => undefined,
    history: [{ role: "user", content: "go" }],
    limits: {
      ...{ turns: 10, tokens: 1e9, cost_usd: 1e9, timeout_ms: 60_000, max_output_tokens: 1_000 },
      ...limit,
    },
    signal: new AbortController().signal,
    emit: (event) => events.push(event),
    save: async (messages) => void stored.push(...messages),
    now: () => performance.now(),
    ...options,
  });
  return { ...done, events, stored: [...stored, ...done.unsaved], log };
}

/** Every request was one that the API takes; a history that breaks a rule would have been refused. */
export const nothingRefused = (server: MessagesApi) => expect(server.refused).toEqual([]);

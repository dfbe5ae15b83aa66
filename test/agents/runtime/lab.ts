import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { z } from "zod";
import type { Agent } from "../../../agent-client/src/agents/agent.ts";
import { loadAgents } from "../../../agent-client/src/agents/load.ts";
import { systemClock } from "../../../agent-client/src/clock.ts";
import { mcpToolbox } from "../../../agent-client/src/mcp/toolbox.ts";
import type { Clock, LabEvent, LabServer, StoredTask, ToolCall } from "../../../agent-client/src/ports.ts";
import type { LogLine, RuntimeDeps } from "../../../agent-client/src/runtime/index.ts";
import { httpFeed } from "../../../agent-client/src/store/feed.ts";
import { httpStore } from "../../../agent-client/src/store/httpStore.ts";
import { createAgentStoreApi, createEventsApi } from "../../../mcp-server/src/api/index.ts";
import type { Reply } from "../../fixtures/client.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

export type Lab = {
  product: Product;
  /** Another agent process's way to it. `before` is asked before each call of a tool, and may fail it. */
  server(before?: (use: ToolCall) => Promise<void>): Promise<LabServer>;
  /** As a person's own client. */
  call(tool: string, args?: Record<string, unknown>): Promise<Reply>;
  /** Publishes an alert on a device, and gives its id. */
  alert(kind: string, device?: string): Promise<string>;
  tasks(): Promise<StoredTask[]>;
  events(type: string): Promise<LabEvent[]>;
  end(): Promise<void>;
};

/** The whole product in this process, reached as an agent process reaches it: MCP, the routes of the store and the feed. */
export async function openLab(yaml: string): Promise<Lab> {
  const product = await openProduct(yaml);
  const fault = (error: unknown) => {
    throw error;
  };
  const app = new Hono();
  const facts = { settings: {}, skills: () => [] };
  app.route("/server/agent/store", createAgentStoreApi(product.agentStore, facts, fault));
  app.route("/server/events", createEventsApi(product.events, fault));
  const store = httpStore(async (path, { method, body, query }) => {
    const search = query ? `?${new URLSearchParams(query)}` : "";
    const response = await app.request(`${path}${search}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      }),
    });
    const answer: unknown = await response.json().catch(() => undefined);
    return { status: response.status, body: answer };
  });
  const feed = httpFeed({ fetch: async (path, init) => app.request(path, init), clock: systemClock });
  const person = await product.connect({ principal: "anna", client: "anna's host" });
  return {
    product,
    async server(before = async () => {}) {
      const { client } = await product.connect({ client: `agent/${randomUUID()}` });
      const toolbox = mcpToolbox({
        connect: async () => client,
        isLost: () => false,
        silentMs: () => 30_000,
        newKey: randomUUID,
      });
      return {
        toolbox: {
          specs: toolbox.specs,
          async call(use, options) {
            await before(use);
            return toolbox.call(use, options);
          },
        },
        ...{ store, feed, skills: async () => [], settings: async () => ({}), close: async () => {} },
      };
    },
    call: person.call,
    async alert(kind, device) {
      const alert = { kind, message: `${kind} was seen`, ...(device !== undefined && { device_id: device }) };
      const { structured, text } = await person.call("publish_event", { alert });
      return z.string({ error: text }).parse(structured.alert_id);
    },
    tasks: async () => (await store.tasks({ limit: 1_000 })).toReversed(),
    async events(type) {
      const all = await product.events.read({ after: 0, limit: 1_000 });
      return all.filter((event) => event.type === type);
    },
    end: () => product.dispose(),
  };
}

/** A clock of the agents' that moves only when told. */
export function agentClock(start = "2026-03-01T10:59:30Z") {
  const { now, sleep, advance } = fakeClock(Date.parse(start));
  const never = new AbortController().signal;
  const clock: Clock & { advance(ms: number): Promise<void> } = {
    now,
    advance,
    sleep: (ms, signal) => sleep(ms, signal ?? never),
  };
  return clock;
}

/** An agent as it is shipped, with changes to its `config`. */
export function shipped(name: "monitor" | "analyzer", config: Partial<Agent["config"]> = {}): Agent {
  const found = loadAgents().agents.find((agent) => agent.name === name);
  if (!found) throw new Error(`There is no agent ${name}.`);
  return { ...found, config: { ...found.config, ...config } };
}

const startedAt = Date.now();
/** Goes as ours does, but it is never near a full hour: no schedule falls into a test that is not about it. */
const quietClock: Clock = {
  now: () => Date.parse("2026-03-01T12:10:00Z") + Date.now() - startedAt,
  sleep: systemClock.sleep,
};

/** What a runtime needs, and its log. */
export function runtimeOn(
  server: LabServer,
  agents: readonly Agent[],
  more: Partial<RuntimeDeps> = {},
): RuntimeDeps & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  return {
    ...{
      server,
      agents,
      clock: quietClock,
      holder: `test/${randomUUID()}`,
      log: (line) => void lines.push(line),
    },
    ...more,
    lines,
  };
}

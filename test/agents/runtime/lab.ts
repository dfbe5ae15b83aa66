import { randomUUID } from "node:crypto";
import { type Agent, type Clock, systemClock, type ToolCall } from "@labwright/agent-client";
import { z } from "zod";
import { mcpToolbox } from "#agent-client/mcp/toolbox.ts";
import type { LabEvent, LogLine, RuntimeDeps } from "#mcp-server/agents/runtime/types.ts";
import { type AgentTask, createAgentStore } from "#mcp-server/agents/store.ts";
import { allAgents } from "../../fixtures/agentLab.ts";
import type { Reply } from "../../fixtures/client.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

/** What the agents have of a server. */
export type RuntimeServer = Pick<RuntimeDeps, "toolbox" | "store" | "events">;

export type Lab = {
  product: Product;
  /** Another client of it. `before` is asked before each call of a tool, and may fail it. */
  server(before?: (use: ToolCall) => Promise<void>, client?: string): Promise<RuntimeServer>;
  /** As a person's own client. */
  call(tool: string, args?: Record<string, unknown>): Promise<Reply>;
  /** Publishes an alert on a device, and gives its id. */
  alert(kind: string, device?: string): Promise<string>;
  tasks(): Promise<AgentTask[]>;
  events(type: string): Promise<LabEvent[]>;
  end(): Promise<void>;
};

/** The whole product in this process, with what it lends its agents: tools by MCP, its store and its events. */
export async function openLab(yaml: string): Promise<Lab> {
  const product = await openProduct(yaml);
  const store = createAgentStore({ db: product.storage.db, clock: product.services.clock, log: () => {} });
  const person = await product.connect({ principal: "anna", client: "anna's host" });
  return {
    product,
    async server(before = async () => {}, name = `agent/${randomUUID()}`) {
      const { client } = await product.connect({ client: name });
      const toolbox = mcpToolbox({
        connect: async () => client,
        isLost: () => false,
        silentMs: () => 30_000,
      });
      return {
        toolbox: {
          specs: toolbox.specs,
          async call(use, options) {
            await before(use);
            return toolbox.call(use, options);
          },
        },
        ...{ store, events: eventsOf(product.events) },
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

/** A clock of the agents' that moves only when reported. */
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

/** An agent as it is shipped, but at work, with changes to its `config`. */
export function shipped(name: "monitor" | "analyzer", config: Partial<Agent["config"]> = {}): Agent {
  const found = allAgents.find((agent) => agent.name === name);
  if (!found) throw new Error(`There is no agent ${name}.`);
  return { ...found, config: { ...found.config, enabled: true, ...config } };
}

const startedAt = Date.now();
/** Goes as ours does, but it is never near a full hour: no schedule falls into a test that is not about it. */
const quietClock: Clock = {
  now: () => Date.parse("2026-03-01T12:10:00Z") + Date.now() - startedAt,
  sleep: systemClock.sleep,
};

/** What a runtime needs, and its log. */
export function runtimeOn(
  server: RuntimeServer,
  agents: readonly Agent[],
  more: Partial<RuntimeDeps> = {},
): RuntimeDeps & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  return {
    ...{
      ...server,
      agents,
      clock: quietClock,
      holder: `test/${randomUUID()}`,
      log: (line) => void lines.push(line),
    },
    ...more,
    lines,
  };
}

/** The same as an object of its own functions, so that a test can replace one. */
const eventsOf = (events: RuntimeDeps["events"]): RuntimeDeps["events"] => ({
  read: (range) => events.read(range),
  latestId: () => events.latestId(),
  subscribe: (listener) => events.subscribe(listener),
  cursor: (consumer) => events.cursor(consumer),
  done: (consumer, id) => events.done(consumer, id),
});

import type { ToolCall, ToolResult } from "@labwright/agent-client";
import { expect, onTestFinished, vi } from "vitest";
import { agentSchema } from "#agent-client/agents/agent.ts";
import { startRuntime } from "#mcp-server/agents/runtime/startRuntime.ts";
import type { AgentTask } from "#mcp-server/agents/store.ts";
import type { StoredEvent } from "#mcp-server/services/index.ts";
import { memoryTasks } from "../../fixtures/memoryStore/memoryTasks.ts";
import { agentClock, type RuntimeServer, runtimeOn } from "./lab.ts";

export const agent = (more: object = {}) =>
  agentSchema.parse({
    name: "watcher",
    nickname: "W",
    description: "Watches.",
    mode: "autonomous",
    system_prompt: "Watch.",
    available_skills: ["health-check"],
    triggers: (["critical", "high", "normal"] as const).map((priority) => ({
      event: `test.${priority}`,
      priority,
      skill: "health-check",
    })),
    config: more,
  });

type Script = (use: ToolCall, signal: AbortSignal) => Promise<Record<string, unknown>>;
export const fine: Script = async ({ name }) => (name === "list_hosts" ? { hosts: [] } : { event_id: 1 });

/** A server with the store in memory and a clock of its own, whose tools and events are the test's. */
export function openServer(script: Script = fine) {
  const clock = agentClock();
  const events: StoredEvent[] = [];
  const calls: ToolCall[] = [];
  const cursors = new Map<string, number>();
  let tell: (event: StoredEvent) => void = () => {};
  const server: RuntimeServer = {
    store: memoryTasks(clock),
    toolbox: {
      specs: async () => [],
      async call(use, { signal }): Promise<ToolResult> {
        calls.push(use);
        try {
          return { parts: [], isError: false, structured: await script(use, signal) };
        } catch (error) {
          if (signal.aborted) throw error;
          return { parts: [{ type: "text", text: String(error) }], isError: true };
        }
      },
    },
    events: {
      cursor: async (consumer) => cursors.get(consumer) ?? 0,
      done: async (consumer, id) => {
        cursors.set(consumer, id);
        return id;
      },
      latestId: async () => events.length,
      read: async ({ after, limit }) => events.slice(after, after + limit),
      async subscribe(listener) {
        tell = listener;
        return () => {};
      },
    },
  };
  const tasks = async (): Promise<AgentTask[]> => (await server.store.tasks({ limit: 1_000 })).toReversed();
  /** Moves the clock until it holds. */
  const until = (holds: () => Promise<unknown> | unknown, stepMs = 500) =>
    vi.waitFor(
      async () => {
        await clock.advance(stepMs);
        expect(await holds()).toBeTruthy();
      },
      { timeout: 20_000, interval: 1 },
    );
  return {
    ...{ clock, server, calls, cursors, tasks, until },
    /** A process that works for these agents until the test ends. */
    async begin(agents = [agent()], own: Partial<RuntimeServer> = {}) {
      const deps = runtimeOn({ ...server, ...own }, agents, { clock });
      const runtime = startRuntime(deps);
      onTestFinished(() => runtime.close());
      await clock.advance(200);
      return { ...runtime, lines: deps.lines };
    },
    untilDone: (count: number, stepMs?: number) =>
      until(async () => {
        const all = await tasks();
        return all.length === count && all.every(({ state }) => state === "done");
      }, stepMs),
    happens(type: string) {
      const id = events.length + 1;
      const at = new Date(clock.now()).toISOString();
      const event: StoredEvent = { id, type, priority: "normal", source: "test", payload: {}, at };
      events.push(event);
      tell(event);
      return id;
    },
    /** The events that were reported, in order. */
    reported: () =>
      calls.filter(({ name }) => name === "publish_event").map(({ input }) => Object(input.payload).event_id),
  };
}

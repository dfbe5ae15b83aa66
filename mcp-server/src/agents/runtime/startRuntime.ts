import type { Agent } from "@labwright/agent-client";
import { takeIn } from "./intake.ts";
import { whileInRole } from "./role.ts";
import { keepSchedules } from "./schedules.ts";
import { callsOf } from "./server.ts";
import type { RuntimeDeps } from "./types.ts";
import { bell, messageOf, repeat } from "./waiting.ts";
import { runWorkers } from "./workers.ts";

/** After a failure to read the feed or to store a task. */
const retryMs = 2_000;

/**
 * Starts the autonomous agents. Resolves at once; they work whenever this process has the role. `close` stops the work
 * under way, which another process or the next start goes on with, and resolves when nothing of it is left here.
 */
export async function startRuntime(deps: RuntimeDeps): Promise<{ close(): Promise<void> }> {
  const closing = new AbortController();
  const agents = deps.agents.filter(({ mode, config }) => mode === "autonomous" && config.enabled);
  if (agents.length === 0) return { close: async () => {} };
  const running = whileInRole(deps, closing.signal, (signal) => work(deps, agents, signal));
  return {
    async close() {
      closing.abort(new Error("The agents are ending."));
      await running;
    },
  };
}

async function work(deps: RuntimeDeps, agents: readonly Agent[], signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  const call = callsOf(deps.toolbox);
  const bells = new Map(agents.map((agent) => [agent.name, bell()]));
  const taking = repeat(() => takeIn(deps, agents, { signal, onTask: (agent) => bells.get(agent)?.ring() }), {
    clock,
    signal,
    restMs: retryMs,
    onFault: (error) => log({ level: "warn", text: `Events cannot be taken in: ${messageOf(error)}` }),
  });
  const workers = agents.map((agent) =>
    runWorkers(deps, agent, { call, signal, tasks: bells.get(agent.name) ?? bell() }),
  );
  await Promise.all([taking, keepSchedules({ clock, log, call }, agents, signal), ...workers]);
}

import type { Agent } from "@labwright/agent-client";
import { attempt, holdMs } from "./attempt.ts";
import { takeIn } from "./intake.ts";
import { keepSchedules } from "./schedules.ts";
import { callsOf } from "./server.ts";
import type { RuntimeDeps } from "./types.ts";
import { bell, messageOf, rest } from "./waiting.ts";

/** How often it polls for what has no notification: a notification that was lost, a task whose holder is gone. */
const lookMs = 5_000;
/** Events that come together are stored before the first task begins, so that the most urgent one does. */
const quietMs = 100;

/**
 * Starts the autonomous agents, and gives how many work here. Several servers on one database share their work. `close`
 * stops what is under way, which another server or the next start goes on with, and resolves when none is left here.
 */
export function startRuntime(deps: RuntimeDeps): { agents: number; close(): Promise<void> } {
  const closing = new AbortController();
  const agents = deps.agents.filter(({ mode, config }) => mode === "autonomous" && config.enabled);
  const working = agents.length > 0 ? work(deps, agents, closing.signal) : Promise.resolve();
  return {
    agents: agents.length,
    async close() {
      closing.abort(new Error("The agents are ending."));
      await working;
    },
  };
}

/** Makes tasks of events and begins them, until the signal aborts. A failure is logged, and tried again at the next poll. */
async function work(deps: RuntimeDeps, agents: readonly Agent[], signal: AbortSignal): Promise<void> {
  const { store, events, clock, holder, log } = deps;
  const call = callsOf(deps.toolbox);
  const woken = bell();
  const running = new Set<Promise<void>>();

  async function beginTasks(agent: Agent): Promise<void> {
    const wanted = { holder, ttl_ms: holdMs, max_parallel: agent.config.max_parallel_tasks };
    while (!signal.aborted) {
      const task = await store.claimTask(agent.name, wanted);
      if (!task) return;
      const ending = attempt({ deps, call, agent, task }, signal).finally(() => {
        running.delete(ending);
        woken.ring();
      });
      running.add(ending);
    }
  }
  const schedules = keepSchedules({ clock, log, call }, agents, signal);
  let unsubscribe: (() => void) | undefined;
  while (!signal.aborted) {
    try {
      unsubscribe ??= await events.subscribe(woken.ring);
      for (const agent of agents) await takeIn(deps, agent, signal);
      for (const agent of agents) await beginTasks(agent);
    } catch (error) {
      if (!signal.aborted) log({ level: "warn", text: `The agents' work waits: ${messageOf(error)}` });
    }
    await woken.heard(clock, lookMs, signal);
    await rest(clock, quietMs, signal);
  }
  unsubscribe?.();
  await Promise.all([schedules, ...running]);
}

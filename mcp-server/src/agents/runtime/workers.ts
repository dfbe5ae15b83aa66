import type { Agent } from "@labwright/agent-client";
import { attempt, holdMs } from "./attempt.ts";
import type { CallServer } from "./server.ts";
import { eventSchema, type RuntimeDeps } from "./types.ts";
import { type bell, messageOf, repeat, rest } from "./waiting.ts";

/** Looks so often for tasks whose holder is gone. */
const lookMs = 5_000;
/** Events that come together are all taken in before the first is begun, so that the most urgent is. */
const quietMs = 100;
const mostQuiet = 10;
/** At the start, events that came meanwhile are waited for so long. */
const firstMs = 1_000;

/** Does an agent's tasks, the most urgent first and so many at once as it may, until the signal aborts. */
export async function runWorkers(
  deps: RuntimeDeps,
  agent: Agent,
  { call, signal, tasks }: { call: CallServer; signal: AbortSignal; tasks: ReturnType<typeof bell> },
): Promise<void> {
  const { store, clock, holder, log } = deps;
  const running = new Set<Promise<void>>();
  const nextTasks = async (ms: number) => {
    await tasks.heard(clock, ms, signal);
    for (let i = 0; i === 0 || (i < mostQuiet && tasks.rang()); i++) await rest(clock, quietMs, signal);
  };
  await nextTasks(firstMs);
  await repeat(
    async () => {
      if (running.size >= agent.config.max_parallel_tasks) return Promise.race(running);
      const found = await store.claimTask(agent.name, { holder, ttl_ms: holdMs });
      if (!found) return nextTasks(lookMs);
      const task = { ...found, event: eventSchema.parse(found.event) };
      const work = attempt({ deps, call, agent, task }, signal).finally(() => running.delete(work));
      running.add(work);
    },
    {
      clock,
      signal,
      restMs: lookMs,
      onFault: (error) => log({ level: "warn", text: `${agent.name} gets no task: ${messageOf(error)}` }),
    },
  );
  await Promise.all(running);
}

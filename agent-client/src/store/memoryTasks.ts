import type { AgentStore, Clock, StoredTask } from "../ports.ts";
import { checkNames, checkSize, checkTtl, limits } from "./limits.ts";

type Kept = { task: StoredTask; holder: string | undefined; until: number };

const urgency = { critical: 0, high: 1, normal: 2 } as const;

/** The tasks of a store that ends with its process. */
export function memoryTasks(clock: Pick<Clock, "now">) {
  const kept: Kept[] = [];
  const now = () => new Date(clock.now()).toISOString();
  const isOpen = ({ task, until }: Kept) =>
    task.state === "pending" || (task.state === "running" && until <= clock.now());
  return {
    async addTask({ agent, key, priority, event }) {
      checkNames(agent, key);
      checkSize("the event", event, limits.event);
      if (kept.some(({ task }) => task.agent === agent && task.key === key)) return false;
      const task: StoredTask = {
        ...{ id: kept.length + 1, agent, key, priority, event: structuredClone(event) },
        ...{ state: "pending", attempts: 0, session_id: null, finding: null, error: null },
        ...{ created_at: now(), updated_at: now() },
      };
      kept.push({ task, holder: undefined, until: 0 });
      return true;
    },
    async claimTask(agent, holder, ttl_ms) {
      checkNames(agent, holder);
      checkTtl(ttl_ms);
      const [next] = kept
        .filter((one) => one.task.agent === agent && isOpen(one))
        .sort((a, b) => urgency[a.task.priority] - urgency[b.task.priority] || a.task.id - b.task.id);
      if (next === undefined) return undefined;
      Object.assign(next, { holder, until: clock.now() + ttl_ms });
      Object.assign(next.task, {
        ...{ state: "running", attempts: next.task.attempts + 1 },
        updated_at: now(),
      });
      return structuredClone(next.task);
    },
    async updateTask(id, holder, { ttl_ms, ...patch }) {
      checkNames(holder);
      if (ttl_ms !== undefined) checkTtl(ttl_ms);
      if (patch.finding) checkSize("the finding", patch.finding, limits.finding);
      const found = kept.find(({ task }) => task.id === id);
      if (found?.holder !== holder) return false;
      if (ttl_ms !== undefined) found.until = clock.now() + ttl_ms;
      Object.assign(found.task, structuredClone(patch), { updated_at: now() });
      return true;
    },
    async tasks({ agent, state, limit }) {
      return kept
        .map(({ task }) => task)
        .filter((task) => (agent ?? task.agent) === task.agent && (state ?? task.state) === task.state)
        .sort((a, b) => b.id - a.id)
        .slice(0, limit)
        .map((task) => structuredClone(task));
    },
  } satisfies Partial<AgentStore>;
}

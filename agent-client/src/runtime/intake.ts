import type { Agent, Trigger } from "../agents/agent.ts";
import type { Clock, LabEvent, LabServer } from "../ports.ts";
import { dueOf } from "./schedules.ts";

/** Whose cursor in the feed it is. */
const consumer = "agents";
/** Agents that begin to work on a lab do not answer what happened long before. */
const historyMs = 3_600_000;
/** The cursor moves behind every task; behind events that concern nobody, only so often. */
const idleStep = 100;

/** What an agent does with an event, if anything. One that its own schedule raised is no other agent's. */
export function triggerOf(agent: Agent, event: LabEvent): Trigger | undefined {
  const due = dueOf(event);
  if (due && due.agent !== agent.name) return undefined;
  return agent.triggers.find(({ event: type }) => type === event.type);
}

/** The same for the same work, whoever tells of it and how often. */
function taskKey(event: LabEvent): string {
  const due = dueOf(event);
  return due ? `schedule:${event.type}:${due.due_at}` : `event:${event.id}`;
}

type Given = { clock: Clock; signal: AbortSignal; onTask(agent: string): void };

/** Makes tasks of events, in order, from the stored cursor on. A task is stored before the cursor moves behind its event. */
export async function takeIn(
  server: Pick<LabServer, "feed" | "store">,
  agents: readonly Agent[],
  given: Given,
): Promise<void> {
  const { feed } = server;
  let stored = await feed.cursor(consumer);
  const begin = stored === 0 ? given.clock.now() - historyMs : 0;
  for await (const event of feed.follow(stored, given.signal)) {
    const concerned = Date.parse(event.at) >= begin && (await addTasks(server, agents, event, given));
    if (!concerned && event.id - stored < idleStep) continue;
    await feed.done(consumer, event.id);
    stored = event.id;
  }
  if (!given.signal.aborted) throw new Error("The feed of events ended.");
}

/** Whether the event is for one of them; a task that is there already stays as it is. */
async function addTasks(
  { store }: Pick<LabServer, "store">,
  agents: readonly Agent[],
  event: LabEvent,
  { onTask }: Given,
): Promise<boolean> {
  let concerned = false;
  for (const agent of agents) {
    const trigger = triggerOf(agent, event);
    if (!trigger) continue;
    concerned = true;
    const task = { agent: agent.name, key: taskKey(event), priority: trigger.priority, event };
    if (await store.addTask(task)) onTask(agent.name);
  }
  return concerned;
}

import type { Agent, Trigger } from "@labwright/agent-client";
import { dueOf } from "./schedules.ts";
import type { LabEvent, RuntimeDeps } from "./types.ts";
import { bell } from "./waiting.ts";

/** Whose cursor in the feed it is. */
const consumer = "agents";
/** Agents that begin to work on a lab do not answer what happened long before. */
const historyMs = 3_600_000;
/** The cursor moves behind every task; behind events that concern nobody, only so often. */
const idleStep = 100;
const pageSize = 100;
const lookMs = 15_000;

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

type Given = { signal: AbortSignal; onTask(agent: string): void };
type Deps = Pick<RuntimeDeps, "events" | "store" | "clock">;

/** Makes tasks of events, in order, from the stored cursor on. A task is stored before the cursor moves behind its event. */
export async function takeIn(deps: Deps, agents: readonly Agent[], given: Given): Promise<void> {
  const { events, clock } = deps;
  const { signal } = given;
  let stored = await events.cursor(consumer);
  const begin = stored === 0 ? clock.now() - historyMs : 0;
  for await (const event of eventsAfter(stored, deps, signal)) {
    const concerned = Date.parse(event.at) >= begin && (await addTasks(deps, agents, event, given));
    if (!concerned && event.id - stored < idleStep) continue;
    await events.done(consumer, event.id);
    stored = event.id;
  }
}

/** Every event after `last`, in order, until the signal aborts. */
async function* eventsAfter(last: number, { events, clock }: Deps, signal: AbortSignal) {
  const told = bell();
  const unsubscribe = await events.subscribe(told.ring);
  try {
    while (!signal.aborted) {
      const page = await events.read({ after: last, limit: pageSize });
      for (const event of page) {
        if (signal.aborted) return;
        last = event.id;
        yield event;
      }
      // Another host may have stored something, and its word may be lost.
      if (page.length === 0) await told.heard(clock, lookMs, signal);
    }
  } finally {
    unsubscribe();
  }
}

/** Whether the event is for one of them; a task that is there already stays as it is. */
async function addTasks(
  { store }: Deps,
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

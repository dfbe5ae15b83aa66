import type { Agent, Trigger } from "@labwright/agent-client";
import { dueOf } from "./schedules.ts";
import type { LabEvent, RuntimeDeps } from "./types.ts";

/** An agent that begins to work on a lab does not answer what happened long before. */
const historyMs = 3_600_000;
const pageSize = 100;

/** What an agent does with an event, if anything. One that its own schedule raised is no other agent's. */
export function triggerOf(agent: Agent, event: LabEvent): Trigger | undefined {
  const due = dueOf(event);
  if (due && due.agent !== agent.name) return undefined;
  return agent.triggers.find(({ event: type }) => type === event.type);
}

/** The same for the same work, whoever reports it and how often. */
function taskKey(event: LabEvent): string {
  const due = dueOf(event);
  return due ? `schedule:${event.type}:${due.due_at}` : `event:${event.id}`;
}

/**
 * Makes an agent's tasks of all events behind its stored cursor. The cursor moves behind a page when its tasks are stored;
 * a task that is there already stays as it is.
 */
export async function takeIn(
  { events, store, clock }: Pick<RuntimeDeps, "events" | "store" | "clock">,
  agent: Agent,
  signal: AbortSignal,
): Promise<void> {
  const consumer = `agent:${agent.name}`;
  let after = await events.cursor(consumer);
  const begin = after === 0 ? clock.now() - historyMs : 0;
  while (!signal.aborted) {
    const page = await events.read({ after, limit: pageSize });
    for (const event of page) {
      const trigger = triggerOf(agent, event);
      if (!trigger || Date.parse(event.at) < begin) continue;
      await store.addTask({ agent: agent.name, key: taskKey(event), priority: trigger.priority, event });
    }
    const last = page.at(-1)?.id;
    if (last === undefined) return;
    await events.done(consumer, last);
    after = last;
  }
}

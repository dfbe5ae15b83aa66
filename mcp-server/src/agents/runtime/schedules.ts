import type { Agent, Trigger } from "@labwright/agent-client";
import { Cron } from "croner";
import { z } from "zod";
import { type CallServer, publishOnce } from "./server.ts";
import type { LabEvent, RuntimeDeps } from "./types.ts";
import { messageOf, rest } from "./waiting.ts";

/** A due time that is noticed later than this was missed. */
const lateMs = 60_000;
/** Looks this often for what is due, so that a clock that was put forward (a machine that slept) is noticed too. */
const lookMs = 1_000;

const dueSchema = z.object({ agent: z.string(), due_at: z.iso.datetime() });

/** Whose schedule raised an event, and for when; undefined for every other event. */
export function dueOf({ type, payload }: LabEvent): z.output<typeof dueSchema> | undefined {
  return type.startsWith("schedule.") ? dueSchema.safeParse(payload).data : undefined;
}

/** `after`: what was due until then is done or was missed. */
type Scheduled = { agent: Agent; trigger: Trigger; cron: Cron; after: number };
type ScheduleDeps = Pick<RuntimeDeps, "clock" | "log"> & { call: CallServer };

/** Raises the events of the agents' schedules until the signal aborts. A time that was due while no daemon ran is skipped. */
export async function keepSchedules(
  deps: ScheduleDeps,
  agents: readonly Agent[],
  signal: AbortSignal,
): Promise<void> {
  const { clock, log } = deps;
  const all = agents.flatMap((agent) => agent.triggers.flatMap((trigger) => scheduled(deps, agent, trigger)));
  while (!signal.aborted) {
    for (const one of all)
      await raiseDue(deps, one, signal).catch((error: unknown) => {
        if (!signal.aborted)
          log({ level: "warn", text: `${one.trigger.event} could not be reported: ${messageOf(error)}` });
      });
    await rest(clock, lookMs, signal);
  }
}

/** Croner only reckons; it starts no timer where it gets no function. */
function scheduled({ clock, log }: ScheduleDeps, agent: Agent, trigger: Trigger): Scheduled[] {
  if (trigger.schedule === undefined) return [];
  try {
    const cron = new Cron(trigger.schedule, { timezone: trigger.timezone ?? "UTC", mode: "5-part" });
    cron.nextRun();
    // What fell due a moment ago may have been missed; its key keeps it from being published twice.
    return [{ agent, trigger, cron, after: clock.now() - lateMs }];
  } catch (error) {
    const text = `The schedule of ${agent.name} for ${trigger.event} cannot be kept: ${messageOf(error)}`;
    log({ level: "error", text, agent: agent.name });
    return [];
  }
}

/** A time that could not be published is still due at the next check. */
async function raiseDue(
  { clock, log, call }: ScheduleDeps,
  one: Scheduled,
  signal: AbortSignal,
): Promise<void> {
  const { agent, trigger, cron } = one;
  const now = clock.now();
  const due = cron.nextRun(new Date(one.after))?.getTime();
  if (due === undefined || due > now) return;
  const due_at = new Date(due).toISOString();
  if (now - due >= lateMs) {
    log({ level: "warn", text: `${trigger.event} was due at ${due_at} and is skipped.` });
  } else {
    const payload = { agent: agent.name, due_at };
    const event = { type: trigger.event, priority: trigger.priority, payload };
    await publishOnce(call, event, `schedule:${agent.name}:${trigger.event}:${due_at}`, signal);
  }
  one.after = Math.max(due, now - lateMs);
}

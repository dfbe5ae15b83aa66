import type { Agent, Trigger } from "@labwright/agent-client";
import { Cron } from "croner";
import { z } from "zod";
import { type CallServer, publishOnce } from "./server.ts";
import type { LabEvent, RuntimeDeps } from "./types.ts";
import { messageOf, rest } from "./waiting.ts";

/** A due time that is noticed later than this was missed. */
const lateMs = 60_000;
/** Wakes at least this often: a clock that was put forward (a machine that slept) is noticed by then. */
const longestSleepMs = 60_000;
/** Between two tries to tell of a due time. */
const retryMs = 5_000;

const dueSchema = z.object({ agent: z.string(), due_at: z.iso.datetime() });

/** Whose schedule raised an event, and for when; undefined for every other event. */
export function dueOf({ type, payload }: LabEvent): z.output<typeof dueSchema> | undefined {
  return type.startsWith("schedule.") ? dueSchema.safeParse(payload).data : undefined;
}

type Scheduled = { agent: Agent; trigger: Trigger; cron: Cron };
type ScheduleDeps = Pick<RuntimeDeps, "clock" | "log"> & { call: CallServer };

/** Raises the events of the agents' schedules until the signal aborts. A time that was due while nobody ran is skipped. */
export async function keepSchedules(
  deps: ScheduleDeps,
  agents: readonly Agent[],
  signal: AbortSignal,
): Promise<void> {
  const all = agents.flatMap((agent) =>
    agent.triggers.flatMap((trigger) => scheduled(agent, trigger, deps.log)),
  );
  await Promise.all(all.map((one) => keep(deps, one, signal)));
}

/** Croner only reckons; it starts no timer where it gets no function. */
function scheduled(agent: Agent, trigger: Trigger, log: RuntimeDeps["log"]): Scheduled[] {
  if (trigger.schedule === undefined) return [];
  try {
    const cron = new Cron(trigger.schedule, { timezone: trigger.timezone ?? "UTC", mode: "5-part" });
    cron.nextRun();
    return [{ agent, trigger, cron }];
  } catch (error) {
    const text = `The schedule of ${agent.name} for ${trigger.event} cannot be kept: ${messageOf(error)}`;
    log({ level: "error", text, agent: agent.name });
    return [];
  }
}

async function keep(deps: ScheduleDeps, one: Scheduled, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  // What fell due a moment ago may have found nobody in the role; its key keeps it from being told twice.
  let after = clock.now() - lateMs;
  while (!signal.aborted) {
    const due = one.cron.nextRun(new Date(after))?.getTime();
    if (due === undefined) return;
    while (clock.now() < due && !signal.aborted)
      await rest(clock, Math.min(due - clock.now(), longestSleepMs), signal);
    if (signal.aborted) return;
    if (!(await raise(deps, one, due, signal)))
      log({ level: "warn", text: `${one.trigger.event} was due at ${iso(due)} and is skipped.` });
    after = Math.max(due, clock.now() - lateMs);
  }
}

/** False when it was too late for it before it could be told. */
async function raise(deps: ScheduleDeps, one: Scheduled, due: number, signal: AbortSignal): Promise<boolean> {
  const { clock, log } = deps;
  const { agent, trigger } = one;
  const due_at = iso(due);
  while (!signal.aborted && clock.now() - due < lateMs) {
    try {
      const event = {
        type: trigger.event,
        priority: trigger.priority,
        payload: { agent: agent.name, due_at },
      };
      await publishOnce(deps.call, event, `schedule:${agent.name}:${trigger.event}:${due_at}`, signal);
      return true;
    } catch (error) {
      if (signal.aborted) break;
      log({ level: "warn", text: `${trigger.event} could not be told: ${messageOf(error)}` });
      await rest(clock, retryMs, signal);
    }
  }
  return signal.aborted;
}

const iso = (ms: number): string => new Date(ms).toISOString();

import { randomUUID } from "node:crypto";
import { type Agent, AgentError } from "@labwright/agent-client";
import type { z } from "zod";
import type { TaskStore } from "../store.ts";
import { doWork } from "./duties/choose.ts";
import type { Asked, Work } from "./duties/work.ts";
import { triggerOf } from "./intake.ts";
import type { CallServer } from "./server.ts";
import type { RuntimeDeps, Task } from "./types.ts";
import { messageOf, rest } from "./waiting.ts";

/** A task is its holder's for so long; whoever has it renews it. */
export const holdMs = 20_000;
const renewMs = 5_000;
const mostAttempts = 3;
/** A task whose try failed is tried again after this, times the tries. */
const pauseMs = 5_000;

/** A task that this process has claimed. `deps` is asked anew for its `runSkill`. */
export type Claimed = { deps: RuntimeDeps; call: CallServer; agent: Agent; task: Task };
type Ends = { closing: AbortSignal; lost: AbortController; late: AbortController };

/** One try at a task. Never rejects: how it ends is stored in the task. */
export async function attempt(claimed: Claimed, closing: AbortSignal): Promise<void> {
  const { deps, agent, task } = claimed;
  const ends: Ends = { closing, lost: new AbortController(), late: new AbortController() };
  const over = new AbortController();
  const watching = AbortSignal.any([closing, over.signal]);
  const keeping = Promise.all([
    keepHold(deps, task, ends.lost, watching),
    keepTime(deps, agent, ends.late, watching),
  ]);
  try {
    if (task.attempts > mostAttempts) throw new Error(`It was left unfinished. ${task.error ?? ""}`.trim());
    await doWork(workOf(claimed, ends));
    if (await deps.store.updateTask(task.id, { state: "done", error: null }, deps))
      deps.log({ level: "info", text: `${agent.name}: ${task.event.type} is done.`, task: task.id });
  } catch (error) {
    await failed(claimed, ends, error).catch((later: unknown) => {
      deps.log({
        level: "warn",
        text: `The end of a task was not stored: ${messageOf(later)}`,
        task: task.id,
      });
    });
  } finally {
    over.abort();
    await keeping;
  }
}

async function failed({ deps, agent, task }: Claimed, ends: Ends, error: unknown): Promise<void> {
  const { store, holder, log } = deps;
  const update = (patch: Parameters<TaskStore["updateTask"]>[1], ttl_ms?: number) =>
    store.updateTask(task.id, patch, { holder, ttl_ms });
  if (ends.lost.signal.aborted) return;
  if (ends.closing.aborted) {
    // Whoever has the role next takes it at once.
    await update({ state: "pending" });
    return;
  }
  const isLate = ends.late.signal.aborted;
  const why = isLate
    ? `TIMEOUT: It took longer than its ${agent.config.timeout_seconds} s.`
    : messageOf(error);
  log({ level: "warn", text: `${agent.name}: ${task.event.type}: ${why}`, task: task.id });
  if (isLate || task.attempts >= mostAttempts) await update({ state: "failed", error: why.slice(0, 2_000) });
  // Its hold runs out, and then anyone may claim it: so a pause needs no timer that a crash would lose.
  else await update({ error: why.slice(0, 2_000) }, pauseMs * task.attempts);
}

/** Until `watching` aborts; a task that is another's by now is given up. A server that is away may come back in time. */
async function keepHold(
  { store, clock, holder }: RuntimeDeps,
  { id }: Task,
  lost: AbortController,
  watching: AbortSignal,
): Promise<void> {
  for (;;) {
    await rest(clock, renewMs, watching);
    if (watching.aborted) return;
    const kept = await store.updateTask(id, {}, { holder, ttl_ms: holdMs }).catch(() => undefined);
    if (kept === false) return lost.abort(anothers());
  }
}

async function keepTime(
  { clock }: RuntimeDeps,
  agent: Agent,
  late: AbortController,
  watching: AbortSignal,
): Promise<void> {
  await rest(clock, agent.config.timeout_seconds * 1_000, watching);
  if (!watching.aborted) late.abort(new Error("The time of this task is over."));
}

function workOf(claimed: Claimed, { closing, lost, late }: Ends): Work {
  const { deps, call, agent, task } = claimed;
  const { store, holder, log } = deps;
  const signal = AbortSignal.any([closing, lost.signal, late.signal]);
  const trigger = triggerOf(agent, task.event);
  if (!trigger) throw new Error(`Nothing starts ${agent.name} on ${task.event.type} any more.`);
  const keep: Work["keep"] = async (finding) => {
    if (await store.updateTask(task.id, { finding }, { holder, ttl_ms: holdMs })) return;
    lost.abort(anothers());
    signal.throwIfAborted();
  };
  return {
    ...{ agent, task, trigger, event: task.event, call, signal, keep, log },
    dryRun: agent.config.dry_run,
    hasModel: deps.runSkill !== undefined,
    ask: (given) => ask(claimed, given, signal),
  };
}

const anothers = () => new Error("Another process has this task.");

/** What may be otherwise at the next try, so that this one has failed. */
const passing: ReadonlySet<string> = new Set(["SESSION_BUSY", "SERVER_UNREACHABLE"]);

/** A conversation that a try before this one began is gone on with. */
async function ask<T>(
  { deps, agent, task }: Claimed,
  given: { skill: string; request: string; schema: z.ZodType<T>; describe: string },
  signal: AbortSignal,
): Promise<Asked<T>> {
  const { runSkill, store, holder } = deps;
  if (!runSkill) return { why: "No model is set." };
  const session_id = task.session_id ?? randomUUID();
  if (task.session_id === null) await store.updateTask(task.id, { session_id }, { holder });
  const { skill, request, schema, describe } = given;
  const run = { agent, skill, session_id, request, outcome: { schema, describe }, signal, holder };
  try {
    const { end, outcome } = await runSkill({ ...run, dryRun: agent.config.dry_run });
    signal.throwIfAborted();
    const parsed = schema.safeParse(outcome);
    if (parsed.success) return { answer: parsed.data };
    const limit = end.limit === undefined ? "" : ` (${end.limit})`;
    return {
      why: end.error?.message ?? `The model's run ended ${end.outcome}${limit} without a valid answer.`,
    };
  } catch (error) {
    if (signal.aborted || !(error instanceof AgentError) || passing.has(error.code)) throw error;
    return { why: error.message };
  }
}

import { randomUUID } from "node:crypto";
import { type Agent, AgentError } from "@labwright/agent-client";
import type { AgentTask } from "../store.ts";
import { doWork } from "./duties/doWork.ts";
import type { Asked, Question, Work } from "./duties/work.ts";
import { triggerOf } from "./intake.ts";
import type { CallServer } from "./server.ts";
import { eventSchema, type RuntimeDeps } from "./types.ts";
import { messageOf, rest } from "./waiting.ts";

/** A task is its holder's for so long, and is renewed while it is worked on. */
export const holdMs = 20_000;
const renewMs = 5_000;
const mostAttempts = 3;
/** A task whose attempt failed is tried again after this, times the attempts. */
const pauseMs = 5_000;

/** A task that this process has claimed. `deps` is asked anew for its `runSkill`. */
type Claimed = { deps: RuntimeDeps; call: CallServer; agent: Agent; task: AgentTask };

/** Why an attempt stops while the process goes on. */
class TaskLost extends Error {
  override readonly message = "Another process has this task.";
}
class OutOfTime extends Error {}

/** One attempt at a task. Never rejects: how it ends is stored in the task. */
export async function attempt(claimed: Claimed, closing: AbortSignal): Promise<void> {
  const { deps, agent, task } = claimed;
  const over = new AbortController();
  const signal = AbortSignal.any([closing, over.signal]);
  const keeping = keep(claimed, over, signal);
  try {
    if (task.attempts > mostAttempts) throw new Error(`It was left unfinished. ${task.error ?? ""}`.trim());
    await doWork(workOf(claimed, signal));
    if (await deps.store.updateTask(task.id, { state: "done", error: null }, deps))
      deps.log({ level: "info", text: `${agent.name}: ${task.event.type} is done.`, task: task.id });
  } catch (error) {
    await failed(claimed, signal.aborted ? signal.reason : error, closing).catch((unstored: unknown) => {
      const text = `The end of a task was not stored: ${messageOf(unstored)}`;
      deps.log({ level: "warn", text, task: task.id });
    });
  } finally {
    over.abort();
    await keeping;
  }
}

/** Renews the hold until the signal aborts. Ends the attempt when its time is over, or when another has the task. */
async function keep(
  { deps: { store, clock, holder }, agent, task }: Claimed,
  over: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const { timeout_seconds } = agent.config;
  const end = clock.now() + timeout_seconds * 1_000;
  while (clock.now() < end) {
    await rest(clock, Math.min(renewMs, end - clock.now()), signal);
    if (signal.aborted) return;
    // A database that is away may come back in time.
    const kept = await store.updateTask(task.id, {}, { holder, ttl_ms: holdMs }).catch(() => true);
    if (!kept) return over.abort(new TaskLost());
  }
  over.abort(new OutOfTime(`TIMEOUT: It took longer than its ${timeout_seconds} s.`));
}

async function failed({ deps, agent, task }: Claimed, error: unknown, closing: AbortSignal): Promise<void> {
  const { store, holder, log } = deps;
  if (error instanceof TaskLost) return;
  if (error === closing.reason) {
    await store.updateTask(task.id, { state: "pending" }, { holder });
    return;
  }
  const why = messageOf(error).slice(0, 2_000);
  log({ level: "warn", text: `${agent.name}: ${task.event.type}: ${why}`, task: task.id });
  const isLast = error instanceof OutOfTime || task.attempts >= mostAttempts;
  const ttl_ms = isLast ? undefined : pauseMs * task.attempts;
  await store.updateTask(task.id, { state: isLast ? "failed" : "pending", error: why }, { holder, ttl_ms });
}

function workOf(claimed: Claimed, signal: AbortSignal): Work {
  const { deps, call, agent, task } = claimed;
  const event = eventSchema.parse(task.event);
  const trigger = triggerOf(agent, event);
  if (!trigger) throw new Error(`Nothing starts ${agent.name} on ${event.type} any more.`);
  return {
    ...{ agent, task, trigger, event, call, signal, log: deps.log },
    async keep(finding) {
      const by = { holder: deps.holder, ttl_ms: holdMs };
      if (!(await deps.store.updateTask(task.id, { finding }, by))) throw new TaskLost();
    },
    ...(deps.runSkill && { ask: (question) => ask(claimed, question, signal) }),
  };
}

/** What may be otherwise at the next attempt, so that this one has failed. */
const passing: ReadonlySet<string> = new Set(["SESSION_BUSY", "SERVER_UNREACHABLE"]);

/** Goes on with the conversation of an attempt before this one. */
async function ask<T>(
  { deps, agent, task }: Claimed,
  { skill, request, schema, describe }: Question<T>,
  signal: AbortSignal,
): Promise<Asked<T>> {
  const { runSkill, store, holder } = deps;
  if (!runSkill) return { why: "No model is set." };
  const session_id = task.session_id ?? randomUUID();
  if (task.session_id === null) await store.updateTask(task.id, { session_id }, { holder });
  const run = { agent, skill, session_id, request, outcome: { schema, describe }, signal, holder };
  try {
    const { end, outcome } = await runSkill(run);
    signal.throwIfAborted();
    const parsed = schema.safeParse(outcome);
    if (parsed.success) return { answer: parsed.data };
    const limit = end.limit === undefined ? "" : ` (${end.limit})`;
    const why = `The model's run ended ${end.outcome}${limit} without a valid answer.`;
    return { why: end.error?.message ?? why };
  } catch (error) {
    if (signal.aborted || !(error instanceof AgentError) || passing.has(error.code)) throw error;
    return { why: error.message };
  }
}

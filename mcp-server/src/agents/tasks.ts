import { randomUUID } from "node:crypto";
import {
  AgentError,
  type Clock,
  type TaskEvent,
  type TaskRequest,
  type TaskResult,
  type TaskRunner,
} from "@labwright/agent-client";
import { z } from "zod";
import { holdMs } from "./runtime/attempt.ts";
import type { LogLine } from "./runtime/types.ts";
import { messageOf, rest } from "./runtime/waiting.ts";
import type { AgentTask, TaskStore } from "./store.ts";

/** Tasks that run at the same time on this database; from seed 002. The others wait. */
const mostAtOnce = 10;
const renewMs = holdMs / 4;
/** What a task's row may keep of its result. */
const mostKept = 200_000;
/** The agent that tasks of people are stored under. It is none of the agents' files. */
const agent = "task";
const listed = 1_000;

/** What a caller asks for; `stream` and the rest of a run are of the connection that asks. */
export type TaskOrder = Omit<TaskRequest, "signal" | "emit">;
export type TaskState = { task_id: string; state: AgentTask["state"]; result?: unknown; error?: string };
type Waiter = { emit?: ((event: TaskEvent) => void) | undefined; settle(end: TaskResult | Error): void };

export type Tasks = {
  /** Stores the task and runs it when its turn comes. `ended` settles with its result, also when nobody waits for it. */
  start(
    owner: string,
    order: TaskOrder,
    emit?: (event: TaskEvent) => void,
  ): Promise<{ id: string; ended: Promise<TaskResult> }>;
  /** Throws NOT_FOUND for a task of another owner, too. */
  get(owner: string, id: string): Promise<TaskState>;
  /** Whether it was running or waiting here. */
  cancel(owner: string, id: string): Promise<boolean>;
  /** Stops what runs here: such a task ends by name. */
  close(): Promise<void>;
};

export type TasksDeps = {
  store: Pick<TaskStore, "tasks" | "addTask" | "claimTask" | "updateTask">;
  runner: TaskRunner;
  clock: Clock;
  holder: string;
  log(line: LogLine): void;
};

const orderSchema = z.looseObject({ owner: z.string(), order: z.looseObject({ task: z.string() }) });

/** Tasks of people, each a row that survives this process. One that was begun and not ended is never run again. */
export function createTasks(deps: TasksDeps): Tasks {
  const { store, runner, clock, holder, log } = deps;
  const waiters = new Map<string, Waiter>();
  const running = new Map<string, AbortController>();
  const attempts = new Set<Promise<void>>();
  let closed = false;

  async function work(): Promise<void> {
    while (!closed) {
      const task = await store.claimTask(agent, { holder, ttl_ms: holdMs, max_parallel: mostAtOnce });
      if (!task) return;
      const attempt = attemptOf(task).finally(() => {
        attempts.delete(attempt);
        void work().catch(storeFailed);
      });
      attempts.add(attempt);
    }
  }

  async function attemptOf(task: AgentTask): Promise<void> {
    const control = new AbortController();
    running.set(task.key, control);
    const keeping = keep(task, control);
    try {
      const end = await endOf(task, control.signal);
      await store.updateTask(task.id, keptOf(end), { holder });
      waiters.get(task.key)?.settle(end);
    } catch (error) {
      storeFailed(error);
      waiters.get(task.key)?.settle(error instanceof Error ? error : new Error(String(error)));
    } finally {
      waiters.delete(task.key);
      running.delete(task.key);
      control.abort();
      await keeping;
    }
  }

  /** Never rejects. */
  async function endOf(task: AgentTask, signal: AbortSignal): Promise<TaskResult | Error> {
    if (task.attempts > 1) return interrupted;
    try {
      const { order } = orderSchema.parse(task.event);
      const emit = waiters.get(task.key)?.emit;
      return await runner.run({ ...order, signal, ...(emit && { emit }) });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Renews the hold until the task has ended. A database that is away may come back in time. */
  async function keep(task: AgentTask, control: AbortController): Promise<void> {
    while (!control.signal.aborted) {
      await rest(clock, renewMs, control.signal);
      if (control.signal.aborted) return;
      const kept = await store.updateTask(task.id, {}, { holder, ttl_ms: holdMs }).catch(() => true);
      if (!kept) control.abort(new Error("Another process has this task."));
    }
  }

  const storeFailed = (error: unknown) =>
    log({ level: "warn", text: `A task was not stored: ${messageOf(error)}` });

  async function found(owner: string, id: string): Promise<AgentTask> {
    const task = (await store.tasks({ agent, limit: listed })).find(({ key }) => key === id);
    if (task && orderSchema.parse(task.event).owner === owner) return task;
    throw new AgentError(
      "NOT_FOUND",
      `There is no task "${id}".`,
      "Use the task_id that starting the task gave.",
    );
  }

  // What waited for its turn, or was under way, when the process before this one ended.
  void work().catch(storeFailed);
  return {
    async start(owner, order, emit) {
      const id = randomUUID();
      const ended = new Promise<TaskResult>((resolve, reject) => {
        waiters.set(id, { emit, settle: (end) => (end instanceof Error ? reject(end) : resolve(end)) });
      });
      // Whoever started it may be gone.
      ended.catch(() => undefined);
      try {
        await store.addTask({
          agent,
          key: id,
          priority: "normal",
          event: { type: "task.asked", owner, order },
        });
      } catch (error) {
        waiters.delete(id);
        throw error;
      }
      await work();
      return { id, ended };
    },
    async get(owner, id) {
      // One that a process left behind is ended by name, once its hold is over.
      await work();
      const { state, finding, error } = await found(owner, id);
      return {
        task_id: id,
        state,
        ...(finding !== null && { result: finding }),
        ...(error !== null && { error }),
      };
    },
    async cancel(owner, id) {
      const { state } = await found(owner, id);
      running.get(id)?.abort(new Error("The task was cancelled."));
      return state === "running" && running.has(id);
    },
    async close() {
      closed = true;
      for (const control of running.values()) control.abort(new Error("The server is shutting down."));
      await Promise.all(attempts);
    },
  };
}

const interrupted = new AgentError(
  "INTERNAL",
  "INTERRUPTED: The server ended while this task ran. It is not run again, so that nothing is done twice.",
  "See what it had done in get_execution_results, then give the rest as a new task.",
);

function keptOf(end: TaskResult | Error): Parameters<TaskStore["updateTask"]>[1] {
  if (end instanceof Error) {
    const code = end instanceof AgentError ? `${end.code}: ` : "";
    return { state: "failed", error: `${code}${end.message}`.slice(0, 2_000) };
  }
  const short = { ...end, executed_steps: end.executed_steps.map((step) => ({ ...step, tool_outputs: {} })) };
  const finding = { ...(JSON.stringify(end).length <= mostKept ? end : short) };
  const error = end.final_error ? `${end.final_error.code}: ${end.final_error.message}` : null;
  return { state: end.success ? "done" : "failed", finding, error };
}

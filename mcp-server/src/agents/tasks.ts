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
  /** Stores the task and runs it when its turn comes. `ended` settles with its result, also when no one waits for it. */
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
  const desk = new Desk(deps);
  desk.workOn();
  return desk;
}

class Desk implements Tasks {
  private readonly waiters = new Map<string, Waiter>();
  private readonly running = new Map<string, AbortController>();
  private readonly attempts = new Set<Promise<void>>();
  private closed = false;

  constructor(private readonly deps: TasksDeps) {}

  async start(owner: string, order: TaskOrder, emit?: (event: TaskEvent) => void) {
    const id = randomUUID();
    const ended = new Promise<TaskResult>((resolve, reject) => {
      this.waiters.set(id, { emit, settle: (end) => (end instanceof Error ? reject(end) : resolve(end)) });
    });
    // Whoever started it may be gone.
    ended.catch(() => undefined);
    try {
      const event = { type: "task.asked", owner, order };
      await this.deps.store.addTask({ agent, key: id, priority: "normal", event });
    } catch (error) {
      this.waiters.delete(id);
      throw error;
    }
    await this.work();
    return { id, ended };
  }

  async get(owner: string, id: string): Promise<TaskState> {
    // One that a process left behind is ended by name, once its hold is over.
    await this.work();
    const { state, finding, error } = await this.found(owner, id);
    return {
      ...{ task_id: id, state },
      ...(finding !== null && { result: finding }),
      ...(error !== null && { error }),
    };
  }

  async cancel(owner: string, id: string): Promise<boolean> {
    const { state } = await this.found(owner, id);
    const control = this.running.get(id);
    control?.abort(new Error("The task was cancelled."));
    return state === "running" && control !== undefined;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const control of this.running.values()) control.abort(new Error("The server is shutting down."));
    await Promise.all(this.attempts);
  }

  /** What waited for its turn, or was under way, when the process before this one ended, is taken too. */
  workOn(): void {
    this.work().catch((error: unknown) => this.notStored(error));
  }

  private async work(): Promise<void> {
    const { store, holder } = this.deps;
    while (!this.closed) {
      const task = await store.claimTask(agent, { holder, ttl_ms: holdMs, max_parallel: mostAtOnce });
      if (!task) return;
      const attempt = this.attempt(task).finally(() => {
        this.attempts.delete(attempt);
        this.workOn();
      });
      this.attempts.add(attempt);
    }
  }

  private async attempt(task: AgentTask): Promise<void> {
    const { store, holder } = this.deps;
    const control = new AbortController();
    this.running.set(task.key, control);
    const keeping = this.keep(task, control);
    const waiter = this.waiters.get(task.key);
    try {
      const end = await this.endOf(task, control.signal);
      await store.updateTask(task.id, keptOf(end), { holder });
      waiter?.settle(end);
    } catch (error) {
      this.notStored(error);
      waiter?.settle(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.waiters.delete(task.key);
      this.running.delete(task.key);
      control.abort();
      await keeping;
    }
  }

  /** Never rejects. */
  private async endOf(task: AgentTask, signal: AbortSignal): Promise<TaskResult | Error> {
    if (task.attempts > 1) return interrupted;
    try {
      const { order } = orderSchema.parse(task.event);
      const emit = this.waiters.get(task.key)?.emit;
      return await this.deps.runner.run({ ...order, signal, ...(emit && { emit }) });
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Renews the hold until the task has ended. A database that is away may come back in time. */
  private async keep(task: AgentTask, control: AbortController): Promise<void> {
    const { store, clock, holder } = this.deps;
    while (!control.signal.aborted) {
      await rest(clock, renewMs, control.signal);
      if (control.signal.aborted) return;
      const kept = await store.updateTask(task.id, {}, { holder, ttl_ms: holdMs }).catch(() => true);
      if (!kept) control.abort(new Error("Another process has this task."));
    }
  }

  private notStored(error: unknown): void {
    this.deps.log({ level: "warn", text: `A task was not stored: ${messageOf(error)}` });
  }

  private async found(owner: string, id: string): Promise<AgentTask> {
    const tasks = await this.deps.store.tasks({ agent, limit: listed });
    const task = tasks.find(({ key }) => key === id);
    if (task && orderSchema.parse(task.event).owner === owner) return task;
    throw new AgentError(
      "NOT_FOUND",
      `There is no task "${id}".`,
      "Use the task_id that starting the task gave.",
    );
  }
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

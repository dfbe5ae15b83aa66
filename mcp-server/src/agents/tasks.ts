import { randomUUID } from "node:crypto";
import {
  AgentError,
  agentErrorStatus,
  type Clock,
  type TaskEvent,
  type TaskRequest,
  type TaskResult,
  type TaskRunner,
  toAgentResult,
} from "@labwright/agent-client";
import { z } from "zod";
import { holdMs } from "./runtime/attempt.ts";
import type { LogLine } from "./runtime/types.ts";
import { messageOf, rest } from "./runtime/waiting.ts";
import { type AgentTask, type TaskStore, taskAgent } from "./store.ts";

/** Tasks that run at the same time on this database; from seed 002. The others wait. */
const mostAtOnce = 10;
const renewMs = holdMs / 4;
/** How often it looks what other processes did: a place that became free, a task that ended. */
const lookMs = 2_000;
/** Bytes that a task's row keeps of its result. */
const mostKept = 250_000;

/** What a caller asks for; `stream` and the rest of a run are of the connection that asks. */
export type TaskOrder = Omit<TaskRequest, "signal" | "emit">;
/** Seed 002's `AgentResult` as its REST example has it (snake case, seconds), with the plan and how it was verified. */
export type TaskEnd = z.output<typeof endSchema>;
export type TaskState = { task_id: string; state: AgentTask["state"]; result?: unknown; error?: string };
/** How far a task that runs is. */
export type TaskProgress = {
  plan?: Extract<TaskEvent, { type: "plan" }>["plan"];
  progress?: Extract<TaskEvent, { type: "progress" }>;
};
type Waiter = { emit?: ((event: TaskEvent) => void) | undefined; settle(end: TaskEnd | Error): void };

export type Tasks = {
  /**
   * Stores the task and runs it when its turn comes. `ended` settles with its result, also when no one waits for it, or
   * another process runs it. It rejects with an AgentError for a task without a result.
   */
  start(
    owner: string,
    order: TaskOrder,
    emit?: (event: TaskEvent) => void,
  ): Promise<{ id: string; ended: Promise<TaskEnd> }>;
  /** Throws NOT_FOUND for a task of another owner, too. */
  get(owner: string, id: string): Promise<TaskState>;
  /** False for a task that had ended. One that another process runs is stopped within seconds. Throws as `get`. */
  cancel(owner: string, id: string): Promise<boolean>;
  /** What one that runs here reported last, by its id. */
  progressOf(id: string): TaskProgress | undefined;
  /** How many run here. */
  running(): number;
  /** Stops what runs here: such a task ends INTERRUPTED. */
  close(): Promise<void>;
};

export type TasksDeps = {
  store: Pick<TaskStore, "findTask" | "addTask" | "claimTask" | "updateTask" | "cancelTask">;
  runner: TaskRunner;
  clock: Clock;
  holder: string;
  log(line: LogLine): void;
};

const orderSchema = z.looseObject({ owner: z.string(), order: z.looseObject({ task: z.string() }) });
const endSchema = z.looseObject({ success: z.boolean() });

/** Tasks of people, each a row that survives this process. One that was begun and not ended is never run again. */
export const createTasks = (deps: TasksDeps): Tasks => new Desk(deps);

class Desk implements Tasks {
  private readonly waiters = new Map<string, Waiter>();
  private readonly controls = new Map<string, AbortController>();
  private readonly reported = new Map<string, TaskProgress>();
  private readonly attempts = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private lastTurn: Promise<unknown> = Promise.resolve();
  private readonly looking: Promise<void>;

  constructor(private readonly deps: TasksDeps) {
    this.looking = this.look();
  }

  async start(owner: string, order: TaskOrder, emit?: (event: TaskEvent) => void) {
    const id = randomUUID();
    const ended = new Promise<TaskEnd>((resolve, reject) => {
      this.waiters.set(id, { emit, settle: (end) => (end instanceof Error ? reject(end) : resolve(end)) });
    });
    // Whoever started it may be gone.
    ended.catch(() => undefined);
    try {
      const event = { type: "task.asked", owner, order };
      await this.deps.store.addTask({ agent: taskAgent, key: id, priority: "normal", event });
    } catch (error) {
      this.waiters.delete(id);
      throw error;
    }
    await this.work();
    return { id, ended };
  }

  async get(owner: string, id: string): Promise<TaskState> {
    const { state, finding, error } = await this.found(owner, id);
    return {
      ...{ task_id: id, state },
      ...(finding !== null && { result: finding }),
      ...(error !== null && { error }),
    };
  }

  async cancel(owner: string, id: string): Promise<boolean> {
    const { id: row } = await this.found(owner, id);
    return this.inTurn(async () => {
      const control = this.controls.get(id);
      control?.abort(cancelled);
      if (control) return true;
      const isStopped = await this.deps.store.cancelTask(row, textOf(cancelled));
      if (isStopped) this.settle(id, cancelled);
      return isStopped;
    });
  }

  progressOf = (id: string) => this.reported.get(id);

  running = () => this.controls.size;

  async close(): Promise<void> {
    this.closing.abort();
    // A task that is being claimed has begun then.
    await this.inTurn(async () => undefined);
    for (const control of this.controls.values()) control.abort(interrupted);
    await Promise.all([...this.attempts, this.looking]);
    for (const id of this.waiters.keys()) this.settle(id, leftWaiting);
  }

  /**
   * Until the server ends. It begins what waited for its turn, or was under way, when another process ended, and settles
   * tasks that another process took.
   */
  private async look(): Promise<void> {
    const { store, clock } = this.deps;
    while (!this.closing.signal.aborted) {
      await this.work();
      for (const id of this.waiters.keys()) {
        if (this.controls.has(id)) continue;
        const task = await store.findTask(taskAgent, id).catch(() => undefined);
        if (task && task.state !== "pending" && task.state !== "running") this.settle(id, endIn(task));
      }
      await rest(clock, lookMs, this.closing.signal);
    }
  }

  /** Begins tasks until there is no more, or no place. Never rejects. */
  private work(): Promise<void> {
    const { store, holder } = this.deps;
    return this.inTurn(async () => {
      while (!this.closing.signal.aborted) {
        const wanted = { holder, ttl_ms: holdMs, max_parallel: mostAtOnce };
        const task = await store.claimTask(taskAgent, wanted);
        if (!task) return;
        const attempt = this.attempt(task).finally(() => {
          this.attempts.delete(attempt);
          void this.work();
        });
        this.attempts.add(attempt);
      }
    }).catch((error: unknown) => this.notStored(error));
  }

  /** One after the other, so that no task is claimed while it is being cancelled. */
  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.lastTurn.then(work);
    this.lastTurn = turn.catch(() => undefined);
    return turn;
  }

  /** Never rejects. */
  private async attempt(task: AgentTask): Promise<void> {
    const { store, holder } = this.deps;
    const control = new AbortController();
    this.controls.set(task.key, control);
    const keeping = this.keep(task, control);
    const { row, end } = await this.endOf(task, control.signal);
    const isOurs = await store.updateTask(task.id, row, { holder }).catch((error: unknown) => {
      this.notStored(error);
      return true;
    });
    // Else another process has ended it, or does so: `look` settles it.
    if (isOurs) this.settle(task.key, end);
    this.controls.delete(task.key);
    this.reported.delete(task.key);
    control.abort();
    await keeping;
  }

  /** Never rejects. */
  private async endOf(task: AgentTask, signal: AbortSignal): Promise<Ended> {
    try {
      if (task.attempts > 1) throw interrupted;
      const { order } = orderSchema.parse(task.event);
      const listener = this.waiters.get(task.key)?.emit;
      const emit = (event: TaskEvent) => {
        listener?.(event);
        if (event.type === "token") return;
        const news = event.type === "plan" ? { plan: event.plan } : { progress: event };
        this.reported.set(task.key, { ...this.reported.get(task.key), ...news });
      };
      return endedWith(await this.deps.runner.run({ ...order, signal, emit }));
    } catch (error) {
      const end = error instanceof Error ? error : new Error(String(error));
      const state = end instanceof AgentError && end.code === "CANCELLED" ? "cancelled" : "failed";
      return { row: { state, error: textOf(end) }, end };
    }
  }

  /** Renews the hold until the task has ended. A database that is away may come back in time. */
  private async keep(task: AgentTask, control: AbortController): Promise<void> {
    const { store, clock, holder } = this.deps;
    while (!control.signal.aborted) {
      await rest(clock, renewMs, control.signal);
      if (control.signal.aborted) return;
      const kept = await store.updateTask(task.id, {}, { holder, ttl_ms: holdMs }).catch(() => true);
      if (!kept) control.abort(new Error("Another process has this task, or cancelled it."));
    }
  }

  private settle(id: string, end: TaskEnd | Error): void {
    this.waiters.get(id)?.settle(end);
    this.waiters.delete(id);
  }

  private notStored(error: unknown): void {
    this.deps.log({ level: "warn", text: `A task was not stored: ${messageOf(error)}` });
  }

  private async found(owner: string, id: string): Promise<AgentTask> {
    const task = await this.deps.store.findTask(taskAgent, id);
    if (task && orderSchema.parse(task.event).owner === owner) return task;
    throw new AgentError(
      "NOT_FOUND",
      `There is no task "${id}".`,
      "Use the task_id that starting the task gave.",
    );
  }
}

const cancelled = new AgentError("CANCELLED", "The task was cancelled.", "Start it again if it is needed.");
const interrupted = new AgentError(
  "INTERRUPTED",
  "The server ended while this task ran. It is not run again, so that nothing is done twice.",
  "See what it had done in get_execution_results, then give the rest as a new task.",
);
const leftWaiting = new AgentError(
  "SERVER_UNREACHABLE",
  "The server is shutting down before the task had its turn. It runs after the next start.",
  "Ask for it by its task_id then.",
);

/** How a task ended, for its row and for who waits. */
type Ended = { row: Parameters<TaskStore["updateTask"]>[1]; end: TaskEnd | Error };

function endedWith(result: TaskResult): Ended {
  const { plan: _, ...withoutPlan } = result;
  const steps = result.executed_steps.map((step) => ({ ...step, tool_outputs: {} }));
  const forms = [result, { ...result, executed_steps: steps }, { ...withoutPlan, executed_steps: [] }];
  const finding = forms.map(agentResult).find((form) => Buffer.byteLength(JSON.stringify(form)) <= mostKept);
  const { success, final_error: why } = result;
  const state = why?.code === "CANCELLED" ? "cancelled" : "failed";
  const row = { state: success ? "done" : state, finding, error: why ? textOf(why) : null } as const;
  return { row, end: agentResult(result) };
}

const agentResult = (result: TaskResult): TaskEnd => {
  const { plan, verification } = result;
  return endSchema.parse(
    JSON.parse(JSON.stringify({ ...toAgentResult(result, "python"), plan, verification })),
  );
};

const textOf = (error: Error | { code: string; message: string }): string =>
  `${"code" in error ? `${error.code}: ` : ""}${error.message}`.slice(0, 2_000);

/** How a task ended that another process ran. */
function endIn({ finding, error }: AgentTask): TaskEnd | Error {
  const { data } = endSchema.safeParse(finding);
  if (data) return data;
  const [, code, message] = /^([A-Z_]+): (.*)/s.exec(error ?? "") ?? [];
  if (code !== undefined && isCode(code)) return new AgentError(code, message ?? "", "");
  return new AgentError("INTERNAL", "The task failed in another process.", "See that server's log.");
}

const isCode = (code: string): code is keyof typeof agentErrorStatus => code in agentErrorStatus;

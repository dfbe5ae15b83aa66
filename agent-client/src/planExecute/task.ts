import type { ModelSource } from "../model/models.ts";
import type { Plan } from "../planner/plan.ts";
import type { PlanTemplate } from "../planner/prompt.ts";
import type { Clock, Toolbox } from "../ports.ts";
import type { Settings } from "../settings.ts";

export type TaskRequest = {
  /** 1 to 1,000 characters, without `<script>`. */
  task: string;
  /** What the caller knows besides, at most 1 MB as JSON. It is shown to the planner as data. */
  context?: Readonly<Record<string, unknown>> | undefined;
  /** The app whose tree, commands and checks the plan may use; without it a plan has only steps with tools. */
  userinterface_name?: string | undefined;
  /** The only devices that the task may drive, the first where a step names none; the server's own choice when empty. */
  device_ids?: readonly string[] | undefined;
  /** Of everything; 300,000 when left out. */
  timeout_ms?: number | undefined;
  template?: PlanTemplate | undefined;
  /** Whether `token` events come. */
  stream?: boolean | undefined;
  /** An AgentError as its reason is the task's `final_error`; any other is CANCELLED. */
  signal: AbortSignal;
  emit?(event: TaskEvent): void;
};

export type TaskPhase = "planning" | "executing" | "verifying" | "replanning" | "done";

/** What a task reports while it runs. `current_step` counts the steps that ended; `percent` is 0 to 100. */
export type TaskEvent =
  | { type: "plan"; plan: Plan }
  | {
      type: "progress";
      current_step: number;
      total_steps: number;
      status: TaskPhase;
      percent: number;
      /** What a tool reports while it works. */
      message?: string;
    }
  | { type: "token"; token: string; step_index: number; phase: "planning" | "execution" | "verification" };

export type StepStatus = "pending" | "running" | "completed" | "failed" | "skipped" | "timeout";

/** `code`: of `agentErrorStatus`, or another of the server's. */
export type TaskError = { code: string; message: string; hint?: string };

export const errorOf = ({ code, message, hint }: Required<TaskError>): TaskError => ({
  ...{ code, message },
  ...(hint && { hint }),
});

export type StepResult = {
  index: number;
  /** Of the plan that the step is of. */
  version: number;
  objective: string;
  status: StepStatus;
  /** What each tool or command answered last, by its name. */
  tool_outputs: Readonly<Record<string, unknown>>;
  error?: TaskError;
  /** ISO 8601. */
  completed_at: string;
  execution_time_ms: number;
  retry_count: number;
};

export type Verification = {
  /** By evidence: never by a model's word alone. */
  task_complete: boolean;
  reasoning: string;
  /** Indices of steps of the last plan. */
  remaining_steps: readonly number[];
  should_replan: boolean;
  /** Why no model read the results, where one was needed. */
  error?: TaskError;
};

export type TaskResult = {
  task: string;
  success: boolean;
  response: string;
  /** The last one; left out when the task ended before there was one. */
  plan?: Plan;
  /** Of every version of the plan, oldest first. */
  executed_steps: readonly StepResult[];
  verification: Verification;
  execution_time_ms: number;
  replans: number;
  final_error?: TaskError;
  /** Where it ran and why, with servers in agents.remotes. What it names under `remote` is there and not here. */
  details?: Readonly<Record<string, unknown>>;
};

export type TaskRunnerDeps = {
  toolbox: Toolbox;
  models: Pick<ModelSource, "current" | "router">;
  settings: Pick<Settings, "max_output_tokens" | "limits" | "plan_template">;
  clock: Clock;
};

export type TaskRunner = {
  /**
   * Plans a task, runs the plan, verifies and replans it. Rejects with an AgentError when there is no plan: INVALID_INPUT,
   * PLANNING_FAILED, PLANNING_TIMEOUT, or why a model or the server did not answer. What goes wrong later, and a cancellation,
   * is a result with `final_error`.
   */
  run(request: TaskRequest): Promise<TaskResult>;
};

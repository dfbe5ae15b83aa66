import { within } from "../clock.ts";
import { AgentError } from "../errors.ts";
import { ToolFailure } from "../mcp/calls.ts";
import { longestTask, type Plan } from "../planner/plan.ts";
import { type Planned, planTask } from "../planner/planTask.ts";
import { patientToolbox } from "../recovery.ts";
import { Evidence } from "./evidence.ts";
import { runPlan, type StepEnd } from "./runPlan.ts";
import {
  errorOf,
  type StepResult,
  type TaskError,
  type TaskPhase,
  type TaskRequest,
  type TaskResult,
  type TaskRunner,
  type TaskRunnerDeps,
  type Verification,
} from "./task.ts";
import { verify } from "./verify.ts";

/** From seed 002. */
const planningMs = 10_000;
const totalMs = 300_000;
const maxReplans = 2;
const mostContextBytes = 1_048_576;

/** Tasks in words: planned, run, verified on evidence, and replanned at most twice. */
export const createTaskRunner = (deps: TaskRunnerDeps): TaskRunner => ({
  async run(request) {
    checkRequest(request);
    return new TaskRun(request, deps).run();
  },
});

/** Throws INVALID_INPUT. */
function checkRequest({ task, context }: TaskRequest): void {
  const refuse = (message: string, hint: string) => {
    throw new AgentError("INVALID_INPUT", message, hint);
  };
  if (task.trim() === "" || task.length > longestTask)
    refuse(
      `A task has 1 to ${longestTask} characters; this one has ${task.length}.`,
      "Say it in fewer words; details go into context.",
    );
  if (/<script>/i.test(task)) refuse("A task must not contain <script>.", "Say it in words.");
  if (context && Buffer.byteLength(JSON.stringify(context)) > mostContextBytes)
    refuse("The context is larger than 1 MB.", "Send only what the task needs.");
}

const notVerified: Verification = {
  ...{ task_complete: false, reasoning: "The task ended before it was verified." },
  ...{ remaining_steps: [], should_replan: false },
};

const cancelled: TaskError = { code: "CANCELLED", message: "The task was cancelled." };

class TaskRun {
  private readonly start: number;
  private readonly evidence = new Evidence();
  private readonly results: StepResult[] = [];
  private readonly running = new Set<number>();
  private planned: Planned | undefined;
  private verification = notVerified;
  private replans = 0;
  private text = "";
  private isOver = false;

  constructor(
    private readonly request: TaskRequest,
    private readonly deps: TaskRunnerDeps,
  ) {
    this.start = deps.clock.now();
  }

  async run(): Promise<TaskResult> {
    const { signal, timeout_ms = totalMs } = this.request;
    const late = () =>
      new AgentError(
        "EXECUTION_TIMEOUT",
        `The task took longer than ${timeout_ms / 1_000} s.`,
        "Raise timeout_ms, or ask for less.",
      );
    try {
      const error = await within(timeout_ms, { signal, clock: this.deps.clock, late }, (stop) =>
        this.work(stop),
      );
      return this.end(error);
    } catch (error) {
      if (signal.aborted)
        return this.end(signal.reason instanceof AgentError ? errorOf(signal.reason) : cancelled);
      if (error instanceof ToolFailure) return this.end(errorOf(error));
      if (!(error instanceof AgentError) || (!this.planned && error.code !== "EXECUTION_TIMEOUT"))
        throw error;
      return this.end(errorOf(error));
    }
  }

  /** Returns why the task is not complete. */
  private async work(signal: AbortSignal): Promise<TaskError | undefined> {
    this.report("planning");
    let planned = await this.plan(signal);
    for (;;) {
      this.planned = planned;
      this.evidence.begin();
      this.request.emit?.({ type: "plan", plan: planned.plan });
      if (!planned.plan.feasible)
        return { code: "PLANNING_FAILED", message: planned.plan.analysis || "The task is not feasible." };
      this.report("executing");
      await runPlan({
        ...this.deps,
        ...{ request: this.request, planned, evidence: this.evidence, signal },
        left: () => (this.request.timeout_ms ?? totalMs) - (this.deps.clock.now() - this.start),
        begun: (index) => void this.running.add(index),
        ended: (end) => this.ended(end),
        said: (text) => {
          this.text = text;
        },
      });
      this.report("verifying");
      const { plan } = planned;
      const results = this.resultsOf(plan);
      this.verification = await verify({ plan, results, evidence: this.evidence, signal, deps: this.deps });
      if (this.verification.task_complete) return undefined;
      if (!this.verification.should_replan) return this.whyNot();
      if (this.replans === maxReplans) return this.whyNot();
      this.replans += 1;
      this.report("replanning");
      const next = await this.replan(signal);
      if (!next) return this.whyNot();
      planned = next;
    }
  }

  /** Undefined where there is no other plan: then what the last one came to is the result. */
  private async replan(signal: AbortSignal): Promise<Planned | undefined> {
    try {
      return await this.plan(signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AgentError)) throw error;
      this.replans -= 1;
      const reasoning = `${this.verification.reasoning} ${error.code}: ${error.message}`;
      this.verification = { ...this.verification, reasoning };
      return undefined;
    }
  }

  private plan(signal: AbortSignal): Promise<Planned> {
    const {
      task,
      context,
      userinterface_name,
      device_ids = [],
      template = this.deps.settings.plan_template,
    } = this.request;
    const before = this.planned && {
      done: this.results.map(({ index, version, objective, status, error }) => ({
        index,
        version,
        objective,
        status,
        error,
      })),
      open: this.evidence.open,
      problem: this.verification.reasoning,
    };
    const version = this.replans + 1;
    return planTask(
      {
        task,
        context,
        userinterface_name,
        device_ids,
        template,
        timeout_ms: planningMs,
        version,
        before,
        signal,
      },
      { ...this.deps, toolbox: patientToolbox(this.deps.toolbox, this.deps.clock) },
    );
  }

  private resultsOf({ version }: Plan): StepResult[] {
    return this.results.filter((one) => one.version === version);
  }

  /** What comes after the task's end is not its result. */
  private ended({ index, ...end }: StepEnd): void {
    const plan = this.planned?.plan;
    if (this.isOver || !plan) return;
    this.running.delete(index);
    const objective = plan.steps.find((step) => step.index === index)?.objective ?? "";
    const completed_at = new Date(this.deps.clock.now()).toISOString();
    this.results.push({ index, version: plan.version, objective, ...end, completed_at });
    this.report("executing");
  }

  private report(status: TaskPhase): void {
    const plan = this.planned?.plan;
    const total_steps = plan?.steps.length ?? 0;
    const current_step = plan ? this.resultsOf(plan).length : 0;
    const percent = status === "done" ? 100 : Math.floor((100 * current_step) / Math.max(1, total_steps));
    this.request.emit?.({ type: "progress", current_step, total_steps, status, percent });
  }

  /** The first failure of the last plan, else why nothing was verified. */
  private whyNot(): TaskError {
    const failed = this.planned && this.resultsOf(this.planned.plan).find(({ error }) => error)?.error;
    return (
      failed ??
      this.verification.error ?? { code: "VERIFICATION_FAILED", message: this.verification.reasoning }
    );
  }

  /** Names what became of every step that has no result yet. */
  private closeSteps(error: TaskError | undefined): void {
    const plan = this.planned?.plan;
    if (!plan?.feasible) return;
    const known = new Set(this.resultsOf(plan).map(({ index }) => index));
    const stopped = error?.code === "EXECUTION_TIMEOUT" ? "timeout" : "failed";
    for (const { index } of plan.steps.filter((step) => !known.has(step.index))) {
      const isStopped = this.running.has(index) && error !== undefined;
      this.ended({
        ...{ index, status: isStopped ? stopped : "skipped" },
        ...{ tool_outputs: {}, execution_time_ms: 0, retry_count: 0 },
        ...(isStopped && { error }),
      });
    }
  }

  private end(error: TaskError | undefined): TaskResult {
    const plan = this.planned?.plan;
    this.closeSteps(error);
    this.isOver = true;
    this.report("done");
    const { verification, replans, results } = this;
    const success = error === undefined && verification.task_complete;
    return {
      ...{ task: this.request.task, success, response: this.responseOf(error) },
      ...(plan && { plan }),
      ...{ executed_steps: results, verification, replans },
      execution_time_ms: this.deps.clock.now() - this.start,
      ...(error && { final_error: error }),
    };
  }

  private responseOf(error: TaskError | undefined): string {
    const plan = this.planned?.plan;
    if (!plan) return error?.message ?? "";
    const own = this.resultsOf(plan);
    const done = own.filter(({ status }) => status === "completed").length;
    const count = `${done} of ${plan.steps.length} steps done.`;
    const said = new Set([this.text, count, error?.message ?? "", this.verification.reasoning]);
    return [...said].filter((part) => part !== "").join(" ");
  }
}

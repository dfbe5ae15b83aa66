import type { Plan, PlanStep } from "../planner/plan.ts";
import type { StepResult, TaskResult, Verification } from "./task.ts";

/** `dart`: camelCase and milliseconds. `python`: snake_case and seconds. The two forms of seed 002. */
export type SeedForm = "dart" | "python";

const timeIn = (form: SeedForm, ms: number): number => (form === "python" ? ms / 1_000 : ms);

/** Keys of the seed's own records; what tools answered keeps its own. */
const keyed = (form: SeedForm, record: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [
        form === "python" ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key,
        value,
      ]),
  );

/** The tools of a step; a command is called by `execute_plan`. */
const toolsOf = ({ tools, command }: PlanStep): readonly string[] => tools ?? [command ?? "execute_plan"];

export const toPlanStep = (step: PlanStep, form: SeedForm) =>
  keyed(form, {
    ...{ stepIndex: step.index, objective: step.objective, toolNames: toolsOf(step) },
    ...{ reasoning: step.reasoning ?? "", dependsOnSteps: step.depends_on },
    ...(step.timeout_ms !== undefined && { timeout: timeIn(form, step.timeout_ms) }),
  });

/** `createdAt`: milliseconds since 1970. */
export const toAgentPlan = (plan: Plan, form: SeedForm, createdAt: number) =>
  keyed(form, {
    taskDescription: plan.task,
    steps: plan.steps.map((step) => toPlanStep(step, form)),
    stepDependencies: Object.fromEntries(plan.steps.map(({ index, depends_on }) => [index, depends_on])),
    createdAt: new Date(createdAt).toISOString(),
    ...{ version: plan.version, complexity: plan.complexity ?? "simple" },
    estimatedDuration: timeIn(form, plan.estimated_duration_ms ?? 0),
  });

export const toStepResult = (step: StepResult, form: SeedForm) =>
  keyed(form, {
    ...{ stepIndex: step.index, status: step.status, toolOutputs: step.tool_outputs },
    errorMessage: step.error && `${step.error.code}: ${step.error.message}`,
    ...{ completedAt: step.completed_at, retryCount: step.retry_count },
    executionTime: timeIn(form, step.execution_time_ms),
  });

export const toVerification = (verification: Verification, form: SeedForm) =>
  keyed(form, {
    ...{ taskComplete: verification.task_complete, reasoning: verification.reasoning },
    ...{ remainingSteps: verification.remaining_steps, shouldReplan: verification.should_replan },
  });

export const toAgentResult = (result: TaskResult, form: SeedForm) =>
  keyed(form, {
    ...{ taskDescription: result.task, success: result.success, response: result.response },
    executedSteps: result.executed_steps.map((step) => toStepResult(step, form)),
    ...{ executionTime: timeIn(form, result.execution_time_ms), replans: result.replans },
    finalError: result.final_error && `${result.final_error.code}: ${result.final_error.message}`,
    details: result.details,
  });

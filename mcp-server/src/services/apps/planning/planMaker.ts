import { complexityOf, longestTask, type Plan, type PlanStep, planSchema } from "../../../domain/index.ts";
import type { CallContext, DeviceRef, DeviceService, MemoryService } from "../../ports.ts";
import type { AuthoringService } from "../authoring/index.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { offersOf } from "./places.ts";
import { invalid, startsAnywhere, stepsOf, typeOf } from "./steps.ts";
import type { PlanReply } from "./views.ts";

/** What a step is expected to take; a navigation is several commands and a check. */
const usualMs = { navigation: 3_000, other: 1_000 };

export type PlanMakerDependencies = {
  authoring: Pick<AuthoringService, "readTask">;
  apps: Pick<UserInterfaceService, "load">;
  devices: Pick<DeviceService, "offering">;
  memory: Pick<MemoryService, "noteRun" | "planFor">;
};

type Where = DeviceRef & { userinterface_name: string };
type PlanRequest = Where & { task?: string | undefined; plan?: unknown };
type Reply = Pick<PlanReply, "status" | "execution_id">;

/** Makes the plan of a task without a model, and notes which plans did their task. */
export class PlanMaker {
  constructor(private readonly deps: PlanMakerDependencies) {}

  /** The plan as given, or one of the task by the grammar, else as memory knows it. Throws INVALID_PLAN. */
  async planOf({ task, plan, ...where }: PlanRequest, call: CallContext): Promise<Plan> {
    if (plan !== undefined) {
      const parsed = planSchema.safeParse(plan);
      if (parsed.success) return parsed.data;
      throw invalid(parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
    }
    if (task === undefined) throw invalid([`give a task (1 to ${longestTask} characters) or a plan`]);
    const { steps, not_understood } = await this.read(task, where, call);
    const known = not_understood.length > 0 ? await this.known(task, where, call) : undefined;
    if (known) return known;
    const feasible = not_understood.length === 0;
    return planSchema.parse({
      task,
      feasible,
      analysis: feasible ? "" : `Not understood: ${not_understood.join(" | ")}`,
      ...(feasible ? measured(stepsOf(steps)) : { steps: [] }),
    });
  }

  private read(task: string, where: Where, call: CallContext) {
    const { userinterface_name, device_id, session_id } = where;
    const request = { userinterface_name, device_id, session_id, description: task };
    return this.deps.authoring.readTask(request, call);
  }

  /** The plan that did the task before, where this device has what it names. */
  private async known(task: string, where: Where, call: CallContext): Promise<Plan | undefined> {
    const { ui } = await this.deps.apps.load(where.userinterface_name);
    const known = await this.deps.memory.planFor(ui, task);
    if (!known) return undefined;
    const offers = offersOf(await this.deps.devices.offering(where, call));
    const { plan, execution_id } = known;
    if (plan.steps.some((step) => step.command !== undefined && typeOf(step, offers) === undefined))
      return undefined;
    return { ...plan, task, analysis: `Planned from memory, as in execution ${execution_id}, which passed.` };
  }

  /** Notes a plan that can be done again from wherever the device is, for words that the grammar does not read. */
  async remember(
    { plan, reply: { status, execution_id } }: { plan: Plan; reply: Reply },
    where: Where,
    call: CallContext,
  ): Promise<void> {
    const passed = status === "passed";
    if (plan.version > 1 || !startsAnywhere(plan) || (!passed && status !== "failed")) return;
    if (execution_id === undefined) return;
    const { ui } = await this.deps.apps.load(where.userinterface_name);
    if (passed && (await this.read(plan.task, where, call)).not_understood.length === 0) return;
    await this.deps.memory.noteRun({ app: ui, plan, execution_id, passed });
  }
}

function measured(steps: PlanStep[]): Pick<Plan, "steps" | "complexity" | "estimated_duration_ms"> {
  const timeOf = ({ command }: PlanStep) =>
    command === "execute_navigation" ? usualMs.navigation : usualMs.other;
  const complexity = complexityOf(steps.length);
  return { steps, complexity, estimated_duration_ms: steps.reduce((sum, step) => sum + timeOf(step), 0) };
}

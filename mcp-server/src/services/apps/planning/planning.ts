import {
  complexityOf,
  longestTask,
  type Plan,
  type PlanStep,
  planSchema,
  type Step,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import type { CallContext, DeviceRef, DeviceService, ExecutionService } from "../../ports.ts";
import type { AuthoringService } from "../authoring/index.ts";
import type { NavigationService } from "../navigation/index.ts";
import type { TestcaseReply, TestcaseService } from "../testcases/index.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { contextOf, type DeviceContext, rolesOn } from "./context.ts";
import { invalid, type Offers, orderedSteps, stepsOf, testStepOf, typeOf } from "./steps.ts";

const longestName = 120;
/** What a step is expected to take; a navigation is several commands and a check. */
const usualMs = { navigation: 3_000, other: 1_000 };

type ContextRequest = { device_ids: readonly string[]; userinterface_name: string; screen: boolean };
export type ContextReply = { userinterface_name: string; contexts: DeviceContext[] };

type ExecuteRequest = DeviceRef & {
  task?: string | undefined;
  plan?: unknown;
  userinterface_name: string;
  wait_ms: number;
  timeout_ms: number;
  /** Where the caller says that the device is: label or id of a node. */
  current_node_id?: string | undefined;
  /** False: the plan is read and checked, and nothing is run. */
  run: boolean;
};

/** How one step went, in the states of seed 002. */
type StepView = {
  step: number;
  objective: string;
  command?: string;
  action_type?: string;
  status: "pending" | "running" | "completed" | "failed" | "skipped" | "timeout";
  /** Whether it was a check. */
  check?: boolean;
  message?: string;
  duration_ms?: number;
};

/** `success`: every check held and at least one was made. `plan` is there where a task was given. */
export type PlanReply = {
  success: boolean;
  message: string;
  results: StepView[];
  plan?: Plan;
  current_node?: string;
  current_node_id?: string;
} & Partial<
  Pick<TestcaseReply, "execution_id" | "status" | "reason" | "duration_ms" | "verified_count" | "failed_step">
>;

export type PlanningDependencies = {
  authoring: Pick<AuthoringService, "read">;
  testcases: Pick<TestcaseService, "executeUnsaved">;
  apps: Pick<UserInterfaceService, "load">;
  navigation: Pick<NavigationService, "position" | "believe">;
  devices: Pick<DeviceService, "acquire" | "offering">;
  executions: Pick<ExecutionService, "get">;
  /** A line of the daemon's log. */
  log(text: string): void;
};

export type PlanningService = Pick<Planning, keyof Planning>;

export const createPlanning = (deps: PlanningDependencies): PlanningService => new Planning(deps);

/** Plans of tasks, and their runs: a plan is an unsaved test case. */
class Planning {
  constructor(private readonly deps: PlanningDependencies) {}

  /** What can be done on each device and in the app, for a planner. Opens the devices. Throws USERINTERFACE_NOT_FOUND. */
  async context(
    { device_ids, userinterface_name, screen }: ContextRequest,
    call: CallContext,
  ): Promise<ContextReply> {
    const model = await this.deps.apps.load(userinterface_name);
    const refs: DeviceRef[] = device_ids.length > 0 ? device_ids.map((device_id) => ({ device_id })) : [{}];
    const contexts = await Promise.all(
      refs.map(async (ref) => {
        const grant = await this.deps.devices.acquire(ref, call, { drives: false });
        try {
          const { device, signal } = grant;
          const position = await this.deps.navigation.position(
            device,
            { userinterface_name, identify: screen },
            signal,
          );
          const roles = screen ? await rolesOn(device, signal) : undefined;
          const context = contextOf({ device, model, current: position.node }, roles);
          const { actions, verifications, navigation } = context;
          this.deps.log(
            `Loaded context for ${device.id} (${device.model}) in ${userinterface_name}: actions: ${actions.length}, verifications: ${verifications.length}, navigation nodes: ${navigation.length}, current_node: ${context.current_node ?? "unknown"}`,
          );
          return context;
        } finally {
          grant.done();
        }
      }),
    );
    return { userinterface_name, contexts };
  }

  /** Runs a plan, or one that it makes of a task by the grammar of test cases. Throws INVALID_PLAN, and what a test case throws. */
  async execute(request: ExecuteRequest, call: CallContext): Promise<PlanReply> {
    const plan = await this.planOf(request, call);
    const made = request.plan === undefined ? { plan } : {};
    if (!plan.feasible)
      return { success: false, message: `Nothing was run. ${plan.analysis}`, results: [], ...made };
    if (plan.steps.length === 0) throw invalid(["it has no steps"]);
    const offers = offersOf(await this.deps.devices.offering(request, call));
    const steps = orderedSteps(plan);
    if (!request.run) return { success: false, message: "Planned; nothing was run.", results: [], ...made };
    await this.believe(request, call);
    const testcase = {
      name: plan.task.replace(/\p{Cc}+/gu, " ").slice(0, longestName),
      app: request.userinterface_name,
      steps: steps.map((step) => testStepOf(step, offers)),
    };
    const { device_id, session_id, wait_ms, timeout_ms } = request;
    const run = { device_id, session_id, fresh: false, inputs: {}, wait_ms, timeout_ms };
    const reply = await this.deps.testcases.executeUnsaved(testcase, run, call).catch(asInvalidPlan);
    const { steps: done } = await this.deps.executions.get(reply.execution_id);
    const results = steps.map((step, at) => viewOf(step, typeOf(step, offers), recordOf(done, at), reply));
    return { ...(await this.end(request, call, reply, results)), results, ...made };
  }

  private async believe(
    { current_node_id: node, ...request }: ExecuteRequest,
    call: CallContext,
  ): Promise<void> {
    if (node === undefined) return;
    const grant = await this.deps.devices.acquire(request, call, { drives: true });
    try {
      const { userinterface_name } = request;
      await this.deps.navigation.believe(grant.device, { userinterface_name, node });
    } finally {
      grant.done();
    }
  }

  private async planOf({ task, plan, ...where }: ExecuteRequest, call: CallContext): Promise<Plan> {
    if (plan !== undefined) {
      const parsed = planSchema.safeParse(plan);
      if (parsed.success) return parsed.data;
      throw invalid(parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`));
    }
    if (task === undefined) throw invalid([`give a task (1 to ${longestTask} characters) or a plan`]);
    const { steps, not_understood } = await this.deps.authoring.read(
      { ...where, description: task, isTask: true },
      call,
    );
    const feasible = not_understood.length === 0;
    return planSchema.parse({
      task,
      feasible,
      analysis: feasible ? "" : `Not understood: ${not_understood.join(" | ")}`,
      ...(feasible ? measured(stepsOf(steps)) : { steps: [] }),
    });
  }

  private async end(
    { userinterface_name, device_id, session_id }: ExecuteRequest,
    call: CallContext,
    reply: TestcaseReply,
    results: readonly StepView[],
  ): Promise<Omit<PlanReply, "results">> {
    const { execution_id, status, reason, duration_ms, verified_count, failed_step } = reply;
    const grant = await this.deps.devices.acquire({ device_id, session_id }, call, { drives: false });
    try {
      const { device, signal } = grant;
      const { node, node_id } = await this.deps.navigation.position(
        device,
        { userinterface_name, identify: false },
        signal,
      );
      for (const { step, action_type, status, duration_ms } of results)
        this.deps.log(
          `Plan ${execution_id}: step ${step}, action_type: ${action_type ?? "words"}, ${status}, time=${duration_ms ?? 0}ms`,
        );
      if (node !== undefined) this.deps.log(`Plan ${execution_id}: current node: ${node}`);
      return {
        ...{ execution_id, status, reason, duration_ms, verified_count, failed_step },
        success: status === "passed",
        message: messageOf(reply, results),
        ...(node !== undefined && { current_node: node, current_node_id: node_id }),
      };
    } finally {
      grant.done();
    }
  }
}

function messageOf(
  { status, reason, verified_count = 0 }: TestcaseReply,
  results: readonly StepView[],
): string {
  if (status === "running" || status === "queued")
    return "It still runs: get_execution_status waits for its end.";
  const done = results.filter((one) => one.status === "completed").length;
  const count = `${done} of ${results.length} steps done`;
  if (status === "passed") return `Plan executed: ${count}, ${verified_count} verified.`;
  return `${count}. ${reason?.message ?? status}`;
}

function measured(steps: PlanStep[]): Pick<Plan, "steps" | "complexity" | "estimated_duration_ms"> {
  const timeOf = ({ command }: PlanStep) =>
    command === "execute_navigation" ? usualMs.navigation : usualMs.other;
  const complexity = complexityOf(steps.length);
  return { steps, complexity, estimated_duration_ms: steps.reduce((sum, step) => sum + timeOf(step), 0) };
}

function offersOf(device: Awaited<ReturnType<DeviceService["offering"]>>): Offers {
  const commands = new Map<string, { type: string; params: ReadonlySet<string> }>();
  for (const { source, command } of commandsOf(device).toReversed())
    commands.set(command.name, { type: source.kind, params: new Set(Object.keys(command.input.shape)) });
  const checks = new Map<string, { type: string }>();
  for (const { source, check } of checksOf(device).toReversed())
    checks.set(check.name, { type: source.verification ?? source.kind });
  return { commands, checks };
}

/** The records of the step at this place; a step of words may be several. */
const recordOf = (done: readonly Step[], at: number): Step[] =>
  done.filter(({ path }) => new RegExp(`^s${at + 1}(?:_\\d+)?$`).test(path));

function viewOf(
  { index, objective, command }: PlanStep,
  action_type: string | undefined,
  records: readonly Step[],
  run: Pick<TestcaseReply, "status">,
): StepView {
  const last = records.at(-1);
  const isOpen = run.status === "running" || run.status === "queued";
  const status = last ? stateOf(last.status) : isOpen ? "pending" : "skipped";
  return {
    ...{ step: index, objective, status },
    ...(command !== undefined && { command }),
    ...(action_type !== undefined && { action_type }),
    ...(last?.kind === "verification" && { check: true }),
    ...(last?.error && { message: `${last.error.code}: ${last.error.message}` }),
    ...(last && { duration_ms: records.reduce((sum, one) => sum + one.duration_ms, 0) }),
  };
}

function stateOf(status: Step["status"]): StepView["status"] {
  if (status === "passed") return "completed";
  return status === "timeout" || status === "skipped" ? status : "failed";
}

const wrong: ReadonlySet<string> = new Set(["TESTCASE_INVALID", "EMPTY_TEST", "UNKNOWN_VARIABLE"]);

/** A test case that is wrong is a plan that is wrong. */
function asInvalidPlan(error: unknown): never {
  if (error instanceof ToolError && wrong.has(error.code)) throw invalid([error.message]);
  throw error;
}

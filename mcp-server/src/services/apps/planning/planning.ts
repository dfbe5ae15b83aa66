import {
  complexityOf,
  deviceOf,
  longestTask,
  type Plan,
  type PlanStep,
  planSchema,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import { checksOf, commandsOf } from "../../devices/findCommand.ts";
import type {
  CallContext,
  Clock,
  DeviceRef,
  DeviceService,
  ExecutionService,
  MemoryService,
  Run,
} from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import type { AuthoringService } from "../authoring/index.ts";
import type { NavigationService } from "../navigation/index.ts";
import type { TestcaseReply, TestcaseService } from "../testcases/index.ts";
import type { UserInterfaceService } from "../userinterfaces/index.ts";
import { contextOf, type DeviceContext, rolesOn } from "./context.ts";
import { type Part, type PartReply, type Place, partsOf, runParts } from "./parts.ts";
import { invalid, type Offers, orderedSteps, startsAnywhere, stepsOf, testStepOf, typeOf } from "./steps.ts";
import { type PlanReply, recordOf, type StepView, summaryOf, viewOf } from "./views.ts";

const longestName = 120;
/** What a step is expected to take; a navigation is several commands and a check. */
const usualMs = { navigation: 3_000, other: 1_000 };

type ContextRequest = { device_ids: readonly string[]; userinterface_name: string; screen: boolean };
/** `memory`: what earlier executions showed of the app and the device, at most ten lines. It is data. */
export type ContextReply = {
  userinterface_name: string;
  contexts: (DeviceContext & { memory?: string[] })[];
};

type ExecuteRequest = DeviceRef & {
  /** The only devices that the plan may drive, with \`device_id\`; any when neither is given. */
  device_ids?: readonly string[] | undefined;
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

export type PlanningDependencies = {
  authoring: Pick<AuthoringService, "readTask">;
  testcases: Pick<TestcaseService, "checkUnsaved" | "executeUnsaved">;
  apps: Pick<UserInterfaceService, "load">;
  navigation: Pick<NavigationService, "position" | "believe">;
  devices: Pick<DeviceService, "acquire" | "offering">;
  executions: Pick<ExecutionService, "get" | "run">;
  memory: Pick<MemoryService, "recall" | "noteRun" | "planFor">;
  clock: Clock;
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
            `Loaded context for ${device.id} (${device.model}) in ${userinterface_name}: tree_id: ${context.tree_id}, actions: ${actions.length}, verifications: ${verifications.length}, navigation nodes: ${navigation.length}, current_node: ${context.current_node ?? "unknown"}`,
          );
          const memory = await this.deps.memory.recall({ userinterface: model.ui.name, device: device.id });
          return { ...context, ...(memory.length > 0 && { memory }) };
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
    const parts = partsOf(orderedSteps(plan), await this.placesOf(plan.steps, request, call));
    const [part, ...others] = parts;
    if (!part) throw invalid(["it has no steps"]);
    if (!request.run) return { success: false, message: "Planned; nothing was run.", results: [], ...made };
    const name = plan.task.replace(/\p{Cc}+/gu, " ").slice(0, longestName);
    if (others.length > 0) return { ...(await this.runOnSeveral(parts, name, request, call)), ...made };
    await this.believe(part.place, request, call);
    const reply = await this.runPart(part, name, request, call);
    await this.remember({ plan, reply }, request, call).catch((error: unknown) =>
      this.deps.log(`Plan ${reply.execution_id} was not noted in memory: ${error}`),
    );
    return { ...reply, message: `${reply.message} ${made.plan?.analysis ?? ""}`.trim(), ...made };
  }

  /** The device of each step. Throws INVALID_PLAN for one that the caller did not give. */
  private async placesOf(
    steps: readonly PlanStep[],
    { device_id, device_ids = [], session_id }: ExecuteRequest,
    call: CallContext,
  ): Promise<(step: PlanStep) => Place> {
    const find = async (ref: DeviceRef): Promise<Place> => {
      const device = await this.deps.devices.offering(ref, call);
      return { id: device.id, ref, offers: offersOf(device) };
    };
    const own = { device_id: device_id ?? device_ids[0], session_id };
    const isGiven = own.device_id !== undefined || session_id !== undefined;
    const places = new Map<string | undefined, Place>();
    if (isGiven || steps.some((step) => deviceOf(step) === undefined)) places.set(undefined, await find(own));
    const others = await Promise.all(device_ids.map((id) => find({ device_id: id })));
    const given = [...places.values(), ...others];
    const problems: string[] = [];
    for (const step of steps) {
      const name = deviceOf(step);
      const found = places.get(name) ?? (await find({ device_id: name }));
      const known = given.find(({ id }) => id === found.id);
      if (isGiven && !known) problems.push(foreignIn(step, given));
      places.set(name, known ?? found);
    }
    if (problems.length > 0) throw invalid(problems);
    return (step) => getPlace(places, step);
  }

  /** A run without a device, within which each part of the plan is a run on its device. */
  private async runOnSeveral(
    parts: readonly Part[],
    name: string,
    request: ExecuteRequest,
    call: CallContext,
  ): Promise<PlanReply> {
    if (request.current_node_id !== undefined)
      throw invalid(["current_node_id says where one device is, and the plan drives several"]);
    const { userinterface_name, wait_ms, timeout_ms } = request;
    for (const part of parts)
      await this.deps.testcases
        .checkUnsaved(testcaseOf(part, name, request), part.place.ref, call)
        .catch(asInvalidPlan);
    const done = new Map<PlanStep, StepView>();
    const work = async (run: Run) => {
      const context = { ...run.context, within: run.id, deadline: Number.POSITIVE_INFINITY };
      const { verified_count, ...end } = await runParts(run, parts, this.deps.clock, async (part) => {
        const whole = { ...request, wait_ms: timeout_ms };
        const reply = await this.runPart(part, name, whole, context).catch(notRun(part));
        for (const [at, view] of reply.results.entries()) {
          const step = part.steps[at];
          if (step) done.set(step, view);
        }
        return reply;
      });
      return { ...end, output: { testcase: name, verified_count, outputs: {} } };
    };
    const spec = {
      ...{ kind: "plan" as const, name, device: "none" as const, userinterface: userinterface_name },
      ...{ input: { devices: [...new Set(parts.map(({ place }) => place.id))] }, wait_ms, timeout_ms },
    };
    const { output, ...reply } = await this.deps.executions.run(spec, call, work);
    const results = parts
      .flatMap(({ steps, place }) =>
        steps.map((step) => done.get(step) ?? viewOf(step, place.offers, [], reply)),
      )
      .sort((one, other) => one.step - other.step);
    const end = { ...reply, verified_count: output?.verified_count };
    return { ...summaryOf(end, results), results };
  }

  private async runPart(
    part: Part,
    name: string,
    request: ExecuteRequest,
    call: CallContext,
  ): Promise<PlanReply> {
    const { steps, place } = part;
    const { wait_ms, timeout_ms } = request;
    const run = { ...place.ref, fresh: false, inputs: {}, wait_ms, timeout_ms };
    const testcase = testcaseOf(part, name, request);
    const reply = await this.deps.testcases.executeUnsaved(testcase, run, call).catch(asInvalidPlan);
    const { steps: done } = await this.deps.executions.get(reply.execution_id);
    const results = steps.map((step, at) => viewOf(step, place.offers, recordOf(done, at), reply));
    return { ...(await this.end(part, request, call, reply, results)), results };
  }

  /** Notes a plan that can be done again from wherever the device is, for words that the grammar does not read. */
  private async remember(
    { plan, reply: { status, execution_id } }: { plan: Plan; reply: PlanReply },
    request: ExecuteRequest,
    call: CallContext,
  ): Promise<void> {
    const passed = status === "passed";
    if (plan.version > 1 || !startsAnywhere(plan) || (!passed && status !== "failed")) return;
    if (execution_id === undefined) return;
    const { ui } = await this.deps.apps.load(request.userinterface_name);
    if (passed && (await this.read(plan.task, request, call)).not_understood.length === 0) return;
    await this.deps.memory.noteRun({ app: ui, plan, execution_id, passed });
  }

  private async believe(
    { ref }: Place,
    { current_node_id: node, userinterface_name }: ExecuteRequest,
    call: CallContext,
  ): Promise<void> {
    if (node === undefined) return;
    const grant = await this.deps.devices.acquire(ref, call, { drives: true });
    try {
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

  private read(
    task: string,
    where: Pick<ExecuteRequest, "userinterface_name"> & DeviceRef,
    call: CallContext,
  ) {
    const { userinterface_name, device_id, session_id } = where;
    const request = { userinterface_name, device_id, session_id, description: task };
    return this.deps.authoring.readTask(request, call);
  }

  /** The plan that did the task before, where this device has what it names. */
  private async known(
    task: string,
    where: Pick<ExecuteRequest, "userinterface_name"> & DeviceRef,
    call: CallContext,
  ): Promise<Plan | undefined> {
    const { ui } = await this.deps.apps.load(where.userinterface_name);
    const known = await this.deps.memory.planFor(ui, task);
    if (!known) return undefined;
    const offers = offersOf(await this.deps.devices.offering(where, call));
    const { plan, execution_id } = known;
    if (plan.steps.some((step) => step.command !== undefined && typeOf(step, offers) === undefined))
      return undefined;
    return { ...plan, task, analysis: `Planned from memory, as in execution ${execution_id}, which passed.` };
  }

  private async end(
    { place }: Part,
    { userinterface_name }: ExecuteRequest,
    call: CallContext,
    reply: TestcaseReply,
    results: readonly StepView[],
  ): Promise<Omit<PlanReply, "results">> {
    const { execution_id } = reply;
    const grant = await this.deps.devices.acquire(place.ref, call, { drives: false });
    try {
      const { device, signal } = grant;
      const { node, node_id } = await this.deps.navigation.position(
        device,
        { userinterface_name, identify: false },
        signal,
      );
      for (const { step, action_type, status, duration_ms } of results.filter(
        (view) => view.status !== "pending",
      ))
        this.deps.log(
          `Plan ${execution_id}: step ${step}, action_type: ${action_type ?? "words"}, ${status}, time=${duration_ms ?? 0}ms`,
        );
      if (node !== undefined) this.deps.log(`Plan ${execution_id}: current node: ${node}`);
      return {
        ...summaryOf(reply, results),
        ...(node !== undefined && { current_node: node, current_node_id: node_id }),
      };
    } finally {
      grant.done();
    }
  }
}

function foreignIn(step: PlanStep, given: readonly Place[]): string {
  const devices = [...new Set(given.map(({ id }) => id))].join(", ");
  return `step ${step.index} drives ${deviceOf(step)}, which is not a device of this plan (${devices})`;
}

function getPlace(places: ReadonlyMap<string | undefined, Place>, step: PlanStep): Place {
  const place = places.get(deviceOf(step));
  if (place) return place;
  throw new Error(`Step ${step.index} has no device.`);
}

function testcaseOf({ steps, place }: Part, name: string, { userinterface_name: app }: ExecuteRequest) {
  return { name, app, steps: steps.map((step) => testStepOf(step, place.offers)) };
}

/** A part that could not begin is an error of its first step. */
const notRun =
  ({ steps, place }: Part) =>
  (error: unknown): PartReply => {
    const reason = reasonOf(error);
    const results = steps.map((step, at) => ({
      ...viewOf(step, place.offers, [], { status: "error" }),
      ...(at === 0 && { status: "failed" as const, message: `${reason.code}: ${reason.message}` }),
    }));
    return { status: "error", reason, results };
  };

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

const wrong: ReadonlySet<string> = new Set(["TESTCASE_INVALID", "EMPTY_TEST", "UNKNOWN_VARIABLE"]);

/** A test case that is wrong is a plan that is wrong. */
function asInvalidPlan(error: unknown): never {
  if (error instanceof ToolError && wrong.has(error.code)) throw invalid([error.message]);
  throw error;
}

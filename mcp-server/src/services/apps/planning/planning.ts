import type { PlanStep } from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
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
import type { NavigationService } from "../navigation/index.ts";
import type { TestcaseReply, TestcaseService } from "../testcases/index.ts";
import { contextOf, type DeviceContext, rolesOn } from "./context.ts";
import { type Part, type PartReply, partsOf, runParts } from "./parts.ts";
import { type Place, placesOf } from "./places.ts";
import { PlanMaker, type PlanMakerDependencies } from "./planMaker.ts";
import { invalid, orderedSteps, testStepOf } from "./steps.ts";
import { type PlanReply, recordOf, type StepView, summaryOf, viewOf } from "./views.ts";

const longestName = 120;
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

export type PlanningDependencies = PlanMakerDependencies & {
  testcases: Pick<TestcaseService, "checkUnsaved" | "executeUnsaved">;
  navigation: Pick<NavigationService, "position" | "believe">;
  devices: Pick<DeviceService, "acquire" | "offering">;
  executions: Pick<ExecutionService, "get" | "run">;
  memory: Pick<MemoryService, "recall">;
  clock: Clock;
  /** A line of the daemon's log. */
  log(text: string): void;
};

export type PlanningService = Pick<Planning, keyof Planning>;

export const createPlanning = (deps: PlanningDependencies): PlanningService => new Planning(deps);

/** Plans of tasks, and their runs: a plan is an unsaved test case. */
class Planning {
  private readonly plans: PlanMaker;

  constructor(private readonly deps: PlanningDependencies) {
    this.plans = new PlanMaker(deps);
  }

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
    const plan = await this.plans.planOf(request, call);
    const made = request.plan === undefined ? { plan } : {};
    if (!plan.feasible)
      return { success: false, message: `Nothing was run. ${plan.analysis}`, results: [], ...made };
    const parts = partsOf(orderedSteps(plan), await placesOf(this.deps.devices, plan.steps, request, call));
    const [part, ...others] = parts;
    if (!part) throw invalid(["it has no steps"]);
    if (!request.run) return { success: false, message: "Planned; nothing was run.", results: [], ...made };
    const name = plan.task.replace(/\p{Cc}+/gu, " ").slice(0, longestName);
    if (others.length > 0) return { ...(await this.runOnSeveral(parts, name, request, call)), ...made };
    await this.believe(part.place, request, call);
    const reply = await this.runPart(part, name, request, call);
    await this.plans
      .remember({ plan, reply }, request, call)
      .catch((error: unknown) =>
        this.deps.log(`Plan ${reply.execution_id} was not noted in memory: ${error}`),
      );
    return { ...reply, message: `${reply.message} ${made.plan?.analysis ?? ""}`.trim(), ...made };
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

const wrong: ReadonlySet<string> = new Set(["TESTCASE_INVALID", "EMPTY_TEST", "UNKNOWN_VARIABLE"]);

/** A test case that is wrong is a plan that is wrong. */
function asInvalidPlan(error: unknown): never {
  if (error instanceof ToolError && wrong.has(error.code)) throw invalid([error.message]);
  throw error;
}

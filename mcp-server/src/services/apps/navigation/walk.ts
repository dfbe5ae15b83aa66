import { DeviceError } from "@labwright/controllers";
import type {
  ActionBatch,
  Failure,
  NavigationReport,
  Node,
  Params,
  Step,
  Verdict,
  WalkedLeg,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type {
  ActionExecutor,
  ActionReport,
  ActionResult,
  CheckReport,
  Clock,
  OpenDevice,
  Run,
  ScreenService,
  VerificationExecutor,
} from "../../ports.ts";
import { type AppModel, variablesOf } from "../userinterfaces/model.ts";
import { buildGraph, type Leg, type NavigationGraph, type Path } from "./graph.ts";
import type { History } from "./history.ts";
import type { Positions } from "./positions.ts";

/** How long a navigation or an edge may take when the caller does not say. */
export const navigationTimeoutMs = 120_000;

export type WalkRequest = {
  userinterface: string;
  /** Fill `{{name}}` over the userinterface's own. */
  variables?: Params | undefined;
  timeout_ms?: number | undefined;
};

export type WalkPorts = {
  actions: ActionExecutor;
  verifications: VerificationExecutor;
  screen: Pick<ScreenService, "capture" | "slowness">;
  positions: Positions;
  clock: Clock;
};

/** How long an arrival is waited for; a check with a `timeout_ms` of its own waits that long. */
export const arrivalMs = 10_000;

/** The state of one navigation under way. */
export class Walk {
  readonly device: OpenDevice;
  readonly signal: AbortSignal;
  readonly variables: Params;
  readonly graph: NavigationGraph;
  readonly checkedTarget: string | undefined;
  readonly excluded: Leg[] = [];
  readonly walked: WalkedLeg[] = [];
  replans = 0;
  /** What the actions of the present step gave so far, also when they are stopped. */
  results: ActionResult[] = [];
  /** How many actions were done. */
  private done = 0;
  /** Why the last leg failed; also the reason if there is no way without that leg's edge. */
  lastFailure: Failure | undefined;
  verdicts: Verdict[] = [];
  /** The server answered 4xx or 5xx to the last action; the next checks decide whether that is right. */
  refused: Failure | undefined;
  /** Another app is in front where the navigation starts: nothing on the screen is a node of this app. */
  isElsewhere = false;
  /** Where the device was when the app was opened again because no way led on; until a place is reached. */
  reopenedAt: Node | undefined;
  firstPlan: Path | undefined;
  lastPicture: Step["artifacts"][number] | undefined;
  private readonly startedAt: number;
  private readonly timer = new AbortController();
  private readonly cancelTimer: () => void;

  constructor(
    readonly ports: WalkPorts,
    readonly run: Run,
    readonly model: AppModel,
    readonly history: History,
    request: Pick<WalkRequest, "variables" | "timeout_ms">,
    options: {
      /** The node whose screen the caller checks itself when the device is there. */
      checkedTarget?: string | undefined;
      /** Built from the history when left out. */
      graph?: NavigationGraph;
    } = {},
  ) {
    const { trees, nodes, edges } = model;
    const rows = { trees: trees.values(), nodes: nodes.values(), edges: edges.values() };
    this.graph = options.graph ?? buildGraph(rows, history);
    this.checkedTarget = options.checkedTarget;
    this.device = run.device;
    this.variables = { ...variablesOf(model.ui), ...request.variables };
    this.startedAt = ports.clock.monotonic();
    const { timeout_ms: timeoutMs = navigationTimeoutMs } = request;
    this.cancelTimer = ports.clock.setTimeout(() => this.timer.abort(tookTooLong(timeoutMs)), timeoutMs);
    this.signal = AbortSignal.any([run.signal, this.timer.signal]);
  }

  elapsedMs(): number {
    return Math.round(this.ports.clock.monotonic() - this.startedAt);
  }

  /** It took too long, and the run was not cancelled. */
  isLate(): boolean {
    return this.timer.signal.aborted && !this.run.signal.aborted;
  }

  end(): void {
    this.cancelTimer();
  }

  /** Runs actions, and counts those that were done for the failure of a later one. */
  async act(batch: ActionBatch, isChecked: boolean): Promise<ActionReport> {
    const { variables, signal, results } = this;
    const before = this.done;
    const options = { variables, signal, isChecked, results };
    const report = await this.ports.actions.run(this.device, batch, options);
    this.refused = report.refused;
    this.done += report.results.filter(({ ok }) => ok).length;
    const { failure } = report;
    if (failure?.steps_before === undefined) return report;
    return { ...report, failure: { ...failure, steps_before: before + failure.steps_before } };
  }

  check({ verifications, pass_condition: passCondition }: Node, timeoutMs: number): Promise<CheckReport> {
    this.signal.throwIfAborted();
    return this.ports.verifications.check(this.device, verifications, this.options(timeoutMs, passCondition));
  }

  options(timeoutMs: number, passCondition: Node["pass_condition"] = "all") {
    const { variables, signal } = this;
    return { passCondition, timeoutMs, variables, signal, evidence: false };
  }

  /** Whether checks follow when the device is there. */
  isChecked(node: Node): boolean {
    return node.verifications.length > 0 || node.id === this.checkedTarget;
  }

  seesNode(node: Node): Promise<boolean> {
    return seesNode(this.ports.verifications, this.device, node, this.variables, this.signal);
  }

  async locate(candidates: Iterable<Node>): Promise<Node | undefined> {
    for (const node of candidates) if (await this.seesNode(node)) return node;
    return undefined;
  }

  stand(node: Node, verified: boolean): Promise<void> {
    const { device, model, run } = this;
    return this.ports.positions.put(device.id, model.ui.id, node.id, verified, run.id);
  }

  lose(): Promise<void> {
    return this.ports.positions.put(this.device.id, this.model.ui.id, undefined, false);
  }

  /** Undefined for a device without a screen and a full store; with `sparing` also for a device that takes long for one. */
  async picture(sparing: boolean): Promise<Step["artifacts"][number] | undefined> {
    if (sparing && this.slowness() !== undefined) return undefined;
    try {
      const taken = await this.ports.screen.capture(this.device, this.signal);
      const artifact = taken?.artifact;
      return artifact && { kind: "screenshot_after", uri: artifact.uri, mime_type: artifact.mime_type };
    } catch (error) {
      if (this.signal.aborted) throw this.signal.reason;
      if (error instanceof Error && "code" in error) return undefined;
      throw error;
    }
  }

  stepOf(durationMs: number) {
    const started_at = new Date(this.ports.clock.now() - durationMs).toISOString();
    return { path: "", kind: "navigation", started_at, duration_ms: durationMs };
  }

  slowness(): string | undefined {
    return this.ports.screen.slowness(this.device.id);
  }

  report(
    target: Node,
    end: Pick<NavigationReport, "reached" | "verified" | "status" | "error"> & { at?: Node | undefined },
  ): NavigationReport {
    const { at, error, ...rest } = end;
    return {
      userinterface: this.model.ui.name,
      target: target.label,
      target_id: target.id,
      ...rest,
      ...(at && { at: at.label }),
      ...(this.firstPlan && {
        expected_ms: this.firstPlan.expected_ms,
        confidence: Math.round(this.firstPlan.confidence * 1_000) / 1_000,
      }),
      legs: this.walked,
      replans: this.replans,
      duration_ms: this.elapsedMs(),
      verdicts: this.verdicts,
      ...(this.refused && { refused: this.refused }),
      ...(error && { error }),
    };
  }
}

/** Looks once. False for a node without checks, and if no page of the app is open any more. */
export async function seesNode(
  verifications: VerificationExecutor,
  device: OpenDevice,
  node: Node,
  variables: Params,
  signal: AbortSignal,
): Promise<boolean> {
  signal.throwIfAborted();
  if (node.verifications.length === 0) return false;
  const checks = node.verifications.map((one) => ({ ...one, timeout_ms: 0 }));
  const options = { passCondition: node.pass_condition, timeoutMs: 0, variables, signal, evidence: false };
  try {
    return (await verifications.check(device, checks, options)).pass;
  } catch (error) {
    if (error instanceof DeviceError && error.code === "PAGE_LOST") return false;
    throw error;
  }
}

const tookTooLong = (timeoutMs: number) =>
  new ToolError(
    "EXECUTION_TIMEOUT",
    `The navigation took longer than ${timeoutMs} ms.`,
    "Look at the screen, or give a larger timeout_ms.",
  );

import {
  type ActionResult,
  type DecisionTree,
  type Evaluate,
  nextActions,
  nextState,
  type PlannedAction,
  reportOf,
  type TreeState,
} from "@labwright/skills";
import { ToolError } from "../../../errors.ts";
import type { Investigation, InvestigationRows } from "../../../storage/index.ts";
import type { Run, Secrets } from "../../ports.ts";
import { reasonOf } from "../../records/executions/index.ts";
import { settled } from "../../values/expressions.ts";
import { type ActionPorts, runAction, type Tally } from "./actions.ts";

type Ended = { planned: PlannedAction; result: ActionResult; startedAt: number; durationMs: number };

export type ConductDependencies = Omit<ActionPorts, "run" | "tally"> & {
  rows: Pick<InvestigationRows, "save">;
  secrets: Pick<Secrets, "maskValues">;
  evaluate: Evaluate;
  /** The server ends: what runs is left to its next start. */
  isClosing(): boolean;
};

/** One run's work on an investigation: it runs the actions that the tree plans, side by side, and stores the state after each. */
export class Conduct {
  private state: TreeState;
  private readonly startedAt: number;
  private readonly activeBefore: number;
  private readonly tally: Tally;

  constructor(
    private row: Investigation,
    private readonly tree: DecisionTree,
    state: TreeState,
    private readonly run: Run,
    private readonly deps: ConductDependencies,
  ) {
    this.state = state;
    this.startedAt = deps.clock.monotonic();
    this.activeBefore = row.active_ms;
    const { calls, cached, source_ms } = row;
    this.tally = { calls, cached, source_ms };
  }

  /** Until it is done or waits for a person. Throws what ended the run; the row says so by then. */
  async toItsEnd(): Promise<Investigation> {
    try {
      // Whoever reads it from now on can wait for this run, and cancel it.
      await this.store({});
      await this.work();
      return await this.store(this.ending());
    } catch (error) {
      if (!this.deps.isClosing()) await this.fail(error);
      throw error;
    }
  }

  private async work(): Promise<void> {
    const { run } = this;
    const flying = new Map<string, Promise<Ended>>();
    for (;;) {
      for (const planned of nextActions(this.state)) {
        if (flying.has(planned.lane)) continue;
        run.begins(planned.step);
        flying.set(planned.lane, this.act(planned));
      }
      if (flying.size === 0) return;
      const ended = await Promise.race(flying.values());
      run.signal.throwIfAborted();
      flying.delete(ended.planned.lane);
      await this.take(ended);
    }
  }

  private async act(planned: PlannedAction): Promise<Ended> {
    const { clock } = this.deps;
    const started = clock.monotonic();
    const startedAt = clock.now();
    const result = await runAction(planned.action, { ...this.deps, run: this.run, tally: this.tally });
    return { planned, result, startedAt, durationMs: clock.monotonic() - started };
  }

  /** The tree goes on with what an action gave; the row has the new state before anything else happens. */
  private async take({ planned, result: raw, startedAt, durationMs }: Ended): Promise<void> {
    const { clock, secrets, evaluate } = this.deps;
    const { lane, step, action } = planned;
    const result = secrets.maskValues(raw);
    const input = { type: "result", lane, step, result, at: clock.now() } as const;
    this.state = await settled(() => nextState(this.tree, this.state, input, evaluate));
    await this.store({ status: "running", interruptions: 0, steps: this.row.steps + 1 });
    const error = "error" in result ? result.error : undefined;
    await this.run.step({
      path: lane === "main" ? "" : lane,
      kind: action.type,
      label: this.tree.steps[step]?.name ?? step,
      status: error ? "error" : "passed",
      started_at: new Date(startedAt).toISOString(),
      duration_ms: durationMs,
      input: action,
      output: error ? null : result,
      ...(error && { error }),
      artifacts: [],
    });
  }

  private ending(): Partial<Investigation> {
    const { status, result } = reportOf(this.state);
    const handoffs = this.state.handoffs.length;
    if (status === "waiting") return { status, handoffs };
    if (!result) throw new Error(`The tree of ${this.row.skill} plans nothing and is not done.`);
    const { root_cause, confidence_score: confidence } = result;
    const found = { confidence, result, ...(root_cause !== null && { root_cause }) };
    return { status: "done", handoffs, ...found, finished_at: this.now() };
  }

  private async fail(error: unknown): Promise<void> {
    const reason = reasonOf(this.run.signal.aborted ? this.run.signal.reason : error);
    // It goes on when the database is back.
    if (reason.code === "STORAGE_FAILED") return;
    const status = statuses[reason.code] ?? "failed";
    await this.store({ status, reason, finished_at: this.now() }).catch(() => undefined);
  }

  private async store(change: Partial<Investigation>): Promise<Investigation> {
    const { clock, rows } = this.deps;
    const active_ms = this.activeBefore + Math.round(clock.monotonic() - this.startedAt);
    const sums = { ...this.tally, source_ms: Math.round(this.tally.source_ms), active_ms };
    const row = { ...this.row, ...change, ...sums, state: this.state, updated_at: this.now() };
    if (!(await rows.save(row)))
      throw new ToolError(
        "INTERRUPTED",
        `Another process went on with investigation ${row.id}.`,
        "Ask resume_investigation for its state.",
      );
    this.row = { ...row, revision: row.revision + 1 };
    return this.row;
  }

  private now(): string {
    return new Date(this.deps.clock.now()).toISOString();
  }
}

const statuses: Readonly<Record<string, Investigation["status"]>> = {
  CANCELLED: "cancelled",
  EXECUTION_TIMEOUT: "timeout",
};

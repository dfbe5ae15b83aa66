import type { PlanStep } from "../planner/plan.ts";
import type { ToolCall, ToolResult, ToolSpec } from "../ports.ts";

type Check = Pick<PlanStep, "command" | "params" | "objective" | "negate">;

/**
 * What is known by checks, through all versions of a plan: how many held since the last plan began, and which did not hold
 * when they were last made. A plan that leaves out a failed check does not make it good.
 */
export class Evidence {
  private readonly failed = new Map<string, Check>();
  private count = 0;

  /** A new plan: what held before it may hold no longer. */
  begin(): void {
    this.count = 0;
  }

  get held(): number {
    return this.count;
  }

  get open(): Check[] {
    return [...this.failed.values()];
  }

  hold(count: number): void {
    this.count += count;
  }

  /** A check of a plan, after `hold` for those that held. */
  note({ command, params, objective, negate }: PlanStep, held: boolean): void {
    const check = command === undefined ? { objective } : { command, params, negate, objective };
    const key = JSON.stringify(
      command === undefined ? [objective] : [command, params ?? {}, negate ?? false],
    );
    if (held) this.failed.delete(key);
    else this.failed.set(key, check);
  }

  /**
   * A tool's typed verdict, where it has one: `pass` of a verification, `status` of a run that it started. A run that only acted,
   * such as clicks that were possible, proves nothing.
   */
  noteCall({ name, input }: ToolCall, spec: ToolSpec, { structured = {} }: ToolResult): void {
    const { pass, inconclusive, status } = structured;
    const key = `${name} ${JSON.stringify(input)}`;
    const verdict = typeof pass === "boolean" ? pass && inconclusive === undefined : ranTo(status, spec);
    if (verdict === undefined) return;
    if (!verdict) return void this.failed.set(key, { objective: key.slice(0, 500) });
    this.failed.delete(key);
    if (pass === true || hasChecked(structured, spec)) this.count += 1;
  }
}

/** Whether a run that passed made a check: by its count of them, else by what its tool is for. */
const hasChecked = (
  { verified_count }: Readonly<Record<string, unknown>>,
  { capabilities }: ToolSpec,
): boolean =>
  typeof verified_count === "number" ? verified_count > 0 : capabilities?.includes("TESTING") === true;

/** A listing of runs has a status too, and proves nothing. */
function ranTo(status: unknown, { readOnly }: ToolSpec): boolean | undefined {
  if (readOnly || typeof status !== "string") return undefined;
  if (status === "passed") return true;
  return ["failed", "error", "timeout"].includes(status) ? false : undefined;
}

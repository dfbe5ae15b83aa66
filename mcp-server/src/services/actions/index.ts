import type { Action, ActionBatch, Params } from "../../domain/index.ts";
import { ToolError } from "../../errors.ts";
import { span } from "../../observability/span.ts";
import { commandsOf, describeOffers } from "../findCommand.ts";
import type { Notices } from "../notices.ts";
import type {
  ActionExecutor,
  ActionReport,
  ActionResult,
  Clock,
  OpenDevice,
  Secrets,
  VerificationExecutor,
} from "../ports.ts";
import { type Prepared, prepareActions, withSecrets } from "./prepare.ts";

export type ActionDependencies = {
  clock: Clock;
  secrets: Secrets;
  verifications: VerificationExecutor;
  notices: Pick<Notices, "take">;
};

type Phase = ActionResult["phase"];
type Done = { message: string; data?: Params | undefined };
type Where = { device: OpenDevice; phase: Phase; signal: AbortSignal };

/** How long an action that is a check may take to hold. */
const checkTimeoutMs = 5_000;

export const createActions = (dependencies: ActionDependencies): ActionExecutor => new Actions(dependencies);

/** Runs batches of commands on a device. */
class Actions implements ActionExecutor {
  private readonly clock: Clock;
  private readonly secrets: Secrets;
  private readonly verifications: VerificationExecutor;
  private readonly notices: Pick<Notices, "take">;

  constructor({ clock, secrets, verifications, notices }: ActionDependencies) {
    this.clock = clock;
    this.secrets = secrets;
    this.verifications = verifications;
    this.notices = notices;
  }

  list(device: OpenDevice) {
    return commandsOf(device);
  }

  describe(device: OpenDevice, name: string | undefined) {
    const offers = commandsOf(device).map(({ kind, command }) => ({ ...command, kind }));
    const { text, schema } = describeOffers(device, offers, name, "command");
    return { commands: text, ...(schema && { schema }) };
  }

  validate(device: OpenDevice, actions: readonly Action[]): void {
    prepareActions(device, actions, undefined, this.secrets);
  }

  async run(
    device: OpenDevice,
    batch: ActionBatch,
    { variables, signal }: { variables?: Params; signal: AbortSignal },
  ): Promise<ActionReport> {
    const actions = prepareActions(device, batch.actions, variables, this.secrets);
    const retries = prepareActions(device, batch.retry_actions, variables, this.secrets);
    const failures = prepareActions(device, batch.failure_actions, variables, this.secrets);
    const results: ActionResult[] = [];
    let ok = await this.runPhase(actions, { device, phase: "action", signal }, results);
    if (!ok && retries.length > 0)
      ok = await this.runPhase(retries, { device, phase: "retry", signal }, results);
    if (!ok && failures.length > 0)
      await this.runPhase(failures, { device, phase: "failure", signal }, results);
    return { ok, results };
  }

  private async runPhase(
    actions: readonly Prepared[],
    where: Where,
    results: ActionResult[],
  ): Promise<boolean> {
    let ok = true;
    for (const prepared of actions) {
      const result = await this.runAction(prepared, where);
      results.push(result);
      if (result.ok) continue;
      ok = false;
      if (!prepared.action.continue_on_fail) return false;
    }
    return ok;
  }

  private async runAction(prepared: Prepared, { device, phase, signal }: Where): Promise<ActionResult> {
    const { action } = prepared;
    const started = this.clock.monotonic();
    let done: Done = { message: "" };
    let error: ActionResult["error"];
    let runs = 0;
    try {
      for (; runs < (action.iterator ?? 1); runs++) {
        signal.throwIfAborted();
        done = await span(`command ${action.command}`, { device: device.id }, () =>
          this.runOnce(device, prepared, signal),
        );
      }
      if (action.wait_ms) await this.clock.sleep(action.wait_ms, signal);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      error = this.describeError(cause);
      runs += 1;
    }
    const { message, data } = this.secrets.maskValues(done);
    const notices = this.notices.take(device);
    return {
      command: action.command,
      phase,
      ok: error === undefined,
      runs,
      message: error?.message ?? message,
      duration_ms: this.clock.monotonic() - started,
      ...(data && { data }),
      ...(error && { error }),
      ...(notices.length > 0 && { notices }),
    };
  }

  private async runOnce(device: OpenDevice, prepared: Prepared, signal: AbortSignal): Promise<Done> {
    const { action, offered, params } = prepared;
    if ("check" in offered) return this.runCheck(device, { command: action.command, params }, signal);
    return offered.command.run(
      offered.command.input.strict().parse(withSecrets(prepared, this.secrets)),
      signal,
      device.fence,
    );
  }

  /** A check used as an action passes or fails the batch like any other action. */
  private async runCheck(
    device: OpenDevice,
    check: { command: string; params: Params },
    signal: AbortSignal,
  ): Promise<Done> {
    const options = { passCondition: "all", timeoutMs: checkTimeoutMs, signal } as const;
    const { pass, verdicts } = await this.verifications.check(device, [check], options);
    const [verdict] = verdicts;
    if (pass) return { message: `holds: ${verdict?.expected}` };
    throw new ToolError(
      "VERIFICATION_FAILED",
      `Expected ${verdict?.expected}; found ${verdict?.actual}.`,
      "Look at the screen with dump_ui_elements.",
      { nearest: verdict?.nearest },
    );
  }

  private describeError(cause: unknown): { code: string; message: string } {
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = cause instanceof ToolError ? ` ${cause.hint}` : "";
    const coded = cause instanceof Error && "code" in cause && typeof cause.code === "string";
    return {
      code: coded ? String(cause.code) : "DEVICE_ERROR",
      message: this.secrets.mask(`${message}${hint}`),
    };
  }
}

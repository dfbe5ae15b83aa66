import { rm } from "node:fs/promises";
import {
  type CommandResult,
  DeviceError,
  DispatchRecord,
  type DocumentStatus,
  type Moment,
  type Usable,
} from "@labwright/controllers";
import {
  type Action,
  type ActionBatch,
  type Failure,
  type Params,
  slowNotices,
  type Verification,
} from "../../../domain/index.ts";
import { strictOf } from "../../../domain/strictOf.ts";
import { type ErrorCode, ToolError } from "../../../errors.ts";
import { span } from "../../../observability/span.ts";
import type {
  ActionExecutor,
  ActionOptions,
  ActionReport,
  ActionResult,
  ArtifactStore,
  Clock,
  OfferingDevice,
  OpenDevice,
  Secrets,
  VerificationExecutor,
} from "../../ports.ts";
import type { Notices } from "../../records/notices.ts";
import { settled } from "../../values/expressions.ts";
import { readyToResolve } from "../../values/values.ts";
import { commandsOf, describeOffers, findCommand, notOffered } from "../findCommand.ts";
import { using } from "../portOf.ts";
import { watchStep } from "../watchStep.ts";
import { type Prepared, prepareActions, withSecrets } from "./prepare.ts";
import { runJudged } from "./secretText.ts";

export type ActionDependencies = {
  artifacts: Pick<ArtifactStore, "putFile">;
  clock: Clock;
  secrets: Secrets;
  verifications: VerificationExecutor;
  notices: Pick<Notices, "take">;
};

type Phase = ActionResult["phase"];
type Done = {
  message: string;
  isNews?: boolean | undefined;
  data?: Params | undefined;
  document?: DocumentStatus | undefined;
  sentAt?: Moment | undefined;
  /** How long the command itself ran, and the longest it could have. */
  ranMs?: number;
  limitMs?: number | undefined;
};
type Attempt = { done: Done; runs: number; error?: ActionResult["error"] };
type Where = { device: OpenDevice; phase: Phase; signal: AbortSignal };
/** `refused`: the server answered 4xx or 5xx, over which the check that follows decides. */
type Ran = { result: ActionResult; refused?: Failure; sentAt?: Moment | undefined };
type Ended = Omit<ActionReport, "results" | "usable">;
const inconclusive: ErrorCode = "CHECK_INCONCLUSIVE";

/** How long an action that is a check may take to hold. */
const checkTimeoutMs = 5_000;
/** What a command without a deadline among its parameters is taken to have. */
const actionTimeoutMs = 5_000;

export const createActions = (dependencies: ActionDependencies): ActionExecutor => new Actions(dependencies);

/** After the last command, so that the next snapshot or check sees its result. */
async function untilUsable(device: OpenDevice, signal: AbortSignal): Promise<Usable | undefined> {
  const watchers = device.controllers.filter(device.isOpen).filter((controller) => controller.untilUsable);
  const watched = await Promise.all(watchers.map((controller) => controller.untilUsable?.(signal)));
  const all = watched.flatMap((usable) => usable ?? []);
  if (all.length === 0) return undefined;
  return {
    watchedMs: Math.max(...all.map(({ watchedMs }) => watchedMs)),
    goingOn: all.flatMap(({ goingOn }) => goingOn),
    isHidden: all.some(({ isHidden }) => isHidden),
  };
}

class Actions implements ActionExecutor {
  constructor(private readonly deps: ActionDependencies) {}

  list(device: OpenDevice) {
    return commandsOf(device);
  }

  describe(device: OfferingDevice, name: string | undefined) {
    const offers = commandsOf(device).map(({ command }) => command);
    const { text, schema } = describeOffers(device, offers, name, "command");
    return { commands: text, ...(schema && { schema }) };
  }

  validate(device: OfferingDevice, actions: readonly Action[]): void {
    prepareActions(device, actions, undefined, this.deps.secrets);
  }

  async run(
    device: OpenDevice,
    batch: ActionBatch,
    { variables, signal, isChecked, results = [] }: ActionOptions,
  ): Promise<ActionReport> {
    await readyToResolve(batch);
    const prepare = (list: readonly Action[]) =>
      settled(() => prepareActions(device, list, variables, this.deps.secrets));
    const actions = await prepare(batch.actions);
    const retries = await prepare(batch.retry_actions);
    const failures = await prepare(batch.failure_actions);
    const runPhase = (prepared: readonly Prepared[], phase: Phase) =>
      this.runPhase(prepared, { device, phase, signal }, results, isChecked === true);
    let end = await runPhase(actions, "action");
    // A retry would hide that it could not be judged.
    const isOpen = end.failure?.code === inconclusive;
    if (!end.ok && !isOpen && retries.length > 0) end = await runPhase(retries, "retry");
    if (!end.ok && failures.length > 0) await runPhase(failures, "failure");
    return { ...(await this.endWhenUsable(device, end, signal)), results };
  }

  /** An input that the app takes back by itself before the screen is usable fails the batch. */
  private async endWhenUsable(
    device: OpenDevice,
    end: Ended,
    signal: AbortSignal,
  ): Promise<Omit<ActionReport, "results">> {
    try {
      const usable = await untilUsable(device, signal);
      return { ...end, ...(usable && { usable }) };
    } catch (error) {
      if (!(error instanceof DeviceError) || error.code !== "INPUT_NOT_TAKEN") throw error;
      return end.ok ? { ok: false, failure: this.describeError(error, false) } : end;
    }
  }

  private async runPhase(
    actions: readonly Prepared[],
    where: Where,
    results: ActionResult[],
    isChecked: boolean,
  ): Promise<Ended> {
    let end: Ended = { ok: true };
    for (const [index, prepared] of actions.entries()) {
      const next = actions[index + 1];
      const isJudged = next ? "check" in next.offered : isChecked;
      const steps_before = results.reduce((sum, { ok, runs }) => sum + (ok ? runs : runs - 1), 0);
      const ran = await this.runAction(prepared, where, isJudged);
      results.push(ran.result);
      where.signal.throwIfAborted();
      end = endAfter(end, ran, steps_before + ran.result.runs - 1);
      if (!ran.result.ok && !prepared.action.continue_on_fail) break;
    }
    return end;
  }

  private async runAction(
    prepared: Prepared,
    { device, phase, signal }: Where,
    isJudged: boolean,
  ): Promise<Ran> {
    const { action } = prepared;
    const started = this.deps.clock.monotonic();
    const { done, error, runs } = await this.attempt(prepared, device, signal);
    const { message, data, document } = this.deps.secrets.maskValues(done);
    const { sentAt, isNews } = done;
    const slow = error ? [] : slowNotices(action.command, done.ranMs ?? 0, done.limitMs);
    const notices = [...slow, ...this.deps.notices.take(device)];
    const result: ActionResult = {
      command: action.command,
      phase,
      ok: error === undefined,
      runs,
      message: error?.message ?? message,
      duration_ms: this.deps.clock.monotonic() - started,
      ...(isNews && { isNews }),
      ...(data && { data }),
      ...(error && { error }),
      ...(notices.length > 0 && { notices }),
    };
    const refused = error ? undefined : unexpectedAnswer(prepared, document);
    if (!refused) return { result, sentAt };
    if (isJudged && prepared.params.expect_status === undefined) return { result, refused, sentAt };
    return { result: { ...result, ...refusal(refused) } };
  }

  /** As often as its `iterator` says, or until it fails or the run is stopped. */
  private async attempt(prepared: Prepared, device: OpenDevice, signal: AbortSignal): Promise<Attempt> {
    const { action } = prepared;
    let done: Done = { message: "" };
    let runs = 0;
    let inputs = new DispatchRecord();
    try {
      for (; runs < (action.iterator ?? 1); runs++) {
        signal.throwIfAborted();
        inputs = new DispatchRecord();
        done = await span(`command ${action.command}`, { device: device.id }, () =>
          inputs.run(() => this.runOnce(device, prepared, signal)),
        );
      }
      const pauseMs = (action.wait_ms ?? 0) + (device.pauseMs ?? 0);
      if (pauseMs > 0) await this.deps.clock.sleep(pauseMs, signal);
      return { done, runs };
    } catch (given) {
      const cause = signal.aborted ? signal.reason : given;
      const error = this.describeError(cause, this.deps.secrets.named(prepared.params).length > 0);
      const { dispatched } = inputs;
      return {
        done,
        runs: Math.min(runs + 1, action.iterator ?? 1),
        error: isInput(prepared) ? { ...error, dispatched } : error,
      };
    }
  }

  private async runOnce(device: OpenDevice, prepared: Prepared, signal: AbortSignal): Promise<Done> {
    const { action, offered, params } = prepared;
    if ("check" in offered) {
      const check = { command: action.command, type: action.action_type, params };
      return this.runCheck(device, check, signal);
    }
    const found = findCommand(device, action.command, action.action_type);
    if (!found) throw notOffered(device, { wanted: action.command, names: [], what: "command" });
    const { controller, offered: command } = found;
    const input = strictOf(command.input).parse(withSecrets(prepared, this.deps.secrets));
    const stepWatch = watchStep(device);
    try {
      const run = () =>
        runJudged(prepared, this.deps.secrets, { device, controller, signal }, () =>
          command.run(input, signal, device.fence),
        );
      const began = this.deps.clock.monotonic();
      const done = await this.keepFile(await using(device, controller, signal, run));
      const limitMs = typeof input.timeout_ms === "number" ? input.timeout_ms : undefined;
      return { ...done, ranMs: this.deps.clock.monotonic() - began, limitMs };
    } catch (error) {
      if (signal.aborted) throw error;
      throw await stepWatch.judge(
        error,
        typeof input.timeout_ms === "number" ? input.timeout_ms : actionTimeoutMs,
      );
    } finally {
      stepWatch.end();
    }
  }

  private async keepFile({ file, fileType, ...done }: CommandResult): Promise<Done> {
    if (file === undefined) return done;
    const { uri, bytes } = await this.deps.artifacts.putFile(file, fileType ?? "application/octet-stream");
    await rm(file, { force: true });
    const message = fileType ? `${done.message}: ${uri}` : `${done.message} to ${uri} (${bytes} bytes)`;
    return { ...done, message, data: { ...done.data, artifact: uri, bytes } };
  }

  private async runCheck(device: OpenDevice, check: Verification, signal: AbortSignal): Promise<Done> {
    await untilUsable(device, signal);
    const options = { passCondition: "all", timeoutMs: checkTimeoutMs, signal } as const;
    const { pass, verdicts, failure } = await this.deps.verifications.check(device, [check], options);
    if (pass) return { message: `holds: ${verdicts[0]?.expected}` };
    throw new CheckFailed(failure ?? { code: "VERIFICATION_FAILED", message: "the check did not hold" });
  }

  /** Devices leave typed values out of their errors, since they may be secrets. Here we know whether they are. */
  private describeError(cause: unknown, isSecret: boolean): NonNullable<ActionResult["error"]> {
    if (cause instanceof CheckFailed) return this.deps.secrets.mask(cause.failure);
    const nearest = nearestOf(cause);
    const message = cause instanceof Error ? cause.message : String(cause);
    const hint = cause instanceof ToolError ? ` ${cause.hint}` : "";
    const coded = cause instanceof Error && "code" in cause && typeof cause.code === "string";
    return {
      code: coded ? String(cause.code) : "DEVICE_ERROR",
      message: this.deps.secrets.mask(`${message}${isSecret ? "" : fieldValues(cause)}${hint}`),
      ...(nearest && { nearest: this.deps.secrets.mask(nearest) }),
    };
  }
}

function fieldValues(cause: unknown): string {
  if (!(cause instanceof DeviceError) || cause.code !== "INPUT_NOT_TAKEN") return "";
  const { held, asked } = cause.details;
  return held === undefined || asked === undefined ? "" : ` It holds ${held}; ${asked} was asked for.`;
}

class CheckFailed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
    this.name = "CheckFailed";
  }
}

function failureOf({ command, error, message }: ActionResult): Failure {
  const { message: said, ...rest } = error ?? { code: "DEVICE_ERROR", message };
  return { ...rest, command, message: said.startsWith(`${command}:`) ? said : `${command}: ${said}` };
}

const isInput = ({ offered }: Prepared) => "command" in offered && offered.command.effect === "write";

const isExpected = ({ status, expected }: DocumentStatus): boolean =>
  expected === undefined ? status < 400 : status === expected;

function endAfter(end: Ended, { result, refused, sentAt }: Ran, steps_before: number): Ended {
  const sent = sentAt === undefined ? {} : { sentAt };
  if (!result.ok) return { ok: false, failure: { ...failureOf(result), steps_before }, ...sent };
  return end.ok ? { ok: true, refused, ...sent } : { ...end, ...sent };
}

const refusal = ({ code, message, expected, found }: Failure) => ({
  ok: false,
  message,
  error: { code, message, expected, found },
});

function unexpectedAnswer(prepared: Prepared, document: DocumentStatus | undefined): Failure | undefined {
  const expected = prepared.params.expect_status;
  if (document) return isExpected(document) ? undefined : refusedBy(prepared, document);
  return typeof expected === "number" ? notOpened(prepared.action.command, expected) : undefined;
}

function refusedBy(
  { action: { command }, offered }: Prepared,
  { url, status, expected, challenge }: DocumentStatus,
): Failure {
  const wanted = expected === undefined ? "a status below 400" : `status ${expected}`;
  const isTaken = "command" in offered && "expect_status" in offered.command.input.shape;
  const remedy = isTaken ? `give ${command} expect_status: ${status}, or` : "next";
  return {
    code: "NAVIGATION_FAILED",
    message: `expected ${wanted}; the server answered ${status} for ${url}.${asksFor(challenge)} Where that is right, ${remedy} check what the page shows.`,
    command,
    expected: wanted,
    found: `status ${status}`,
  };
}

const notOpened = (command: string, status: number): Failure => ({
  code: "NAVIGATION_FAILED",
  message: `${command} was to open a page with status ${status}; no page was opened.`,
  command,
  expected: `status ${status}`,
  found: "no page was opened",
});

const asksFor = (challenge: string | undefined): string =>
  challenge === undefined
    ? ""
    : ` It asks for a name and password (${challenge}): set them with http_credentials and open it again.`;

function nearestOf(cause: unknown): string[] | undefined {
  const details = cause instanceof Error && "details" in cause ? cause.details : undefined;
  const nearest =
    typeof details === "object" && details !== null && "nearest" in details ? details.nearest : [];
  const names = Array.isArray(nearest) ? nearest.filter((one) => typeof one === "string") : [];
  return names.length > 0 ? names : undefined;
}

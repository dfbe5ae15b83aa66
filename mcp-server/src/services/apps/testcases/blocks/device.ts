import { type Failure, type Params, type Step, slowNotices } from "../../../../domain/index.ts";
import { findCheck } from "../../../devices/findCommand.ts";
import type { ActionResult } from "../../../ports.ts";
import { classOf } from "../../../records/verdicts.ts";
import { holdsSecret } from "../../../values/placeholders.ts";
import { resolveText, resolveValues } from "../../../values/values.ts";
import { titleOf } from "../titles.ts";
import { actionOf, checkOf, withoutApp } from "../validate.ts";
import { assign, type BlockEnd, type BlockOf, broken, type Frame, type PreparedBlock } from "./block.ts";

/** How long a check without a `timeout_ms` of its own is polled. */
const checkTimeoutMs = 5_000;

/** Goes to a screen. Counts as a check when the screen was verified on arrival. */
export function navigationBlock(
  block: BlockOf<"navigation">,
  frame: Frame,
  isChecked: boolean,
): PreparedBlock {
  const { session, userinterface } = frame;
  const target = resolveText(block.target, frame.scope);
  return {
    input: { target, userinterface },
    pictured: true,
    title: `go to ${target}`,
    async run(): Promise<BlockEnd> {
      const { run, ports } = session;
      // Its own steps go under the block's. Only the arrival counts as a check of this test.
      let stoppedAt: Step["error"];
      const inner = {
        ...run,
        step(step: Parameters<typeof run.step>[0]) {
          if (run.signal.aborted) stoppedAt = step.error;
          const path = `${frame.prefix}${block.id}${step.path === "" ? "" : `/${step.path}`}`;
          return run.step({ ...step, path });
        },
        verified: () => {},
      };
      if (userinterface === undefined) return broken("USERINTERFACE_NOT_FOUND", withoutApp);
      const request = { userinterface, target, variables: frame.scope, isChecked };
      const report = await ports.navigation.navigate(inner, request).catch((error: unknown) => {
        if (!run.signal.aborted || !stoppedAt) throw error;
        return { reached: false, verified: false, error: stoppedAt, refused: undefined };
      });
      if (report.reached && report.verified) session.verified();
      if (report.reached) {
        session.refused = report.refused;
        return { ok: true, output: report };
      }
      return failed(
        report,
        report.error ?? { code: "NAVIGATION_FAILED", message: `${target} was not reached.` },
      );
    },
  };
}

function failed(output: unknown, { code, message, command: _, ...detail }: Failure): BlockEnd {
  return { ok: false, output, code, message, kind: classOf(code), detail };
}

export function actionBlock(block: BlockOf<"action">, frame: Frame, isChecked: boolean): PreparedBlock {
  const { session, scope } = frame;
  const params = resolveValues(block.params, scope);
  return {
    input: { command: block.command, params, ...(block.into !== undefined && { into: block.into }) },
    pictured: true,
    title: titleOf(block.command, params, findCheck(session.run.device, block.command)?.offered),
    async run(): Promise<BlockEnd> {
      const { run, ports } = session;
      ports.devices.drivenOutsideNavigation(run.device.id);
      const { retry_actions, failure_actions } = block;
      const batch = { actions: [actionOf(block)], retry_actions, failure_actions };
      const results: ActionResult[] = [];
      const options = { variables: scope, signal: run.signal, isChecked, results };
      const report = await ports.actions.run(run.device, batch, options).catch((error: unknown) => {
        // A run that was stopped during an action has no report, but the result of the action.
        const failure = results.at(-1)?.error;
        if (!run.signal.aborted || !failure) throw error;
        return { ok: false, failure, results, refused: undefined };
      });
      const last = report.results.findLast(({ ok, phase }) => (report.ok ? ok : phase !== "failure"));
      const output = {
        ok: report.ok,
        message: last?.message ?? "",
        data: last?.data ?? {},
        results: report.results,
      };
      if (!report.ok)
        return failed(output, report.failure ?? { code: "DEVICE_ERROR", message: output.message });
      session.refused = report.refused;
      if (params.expect_status !== undefined) session.verified();
      return keepRead(block, output, frame) ?? { ok: true, output };
    },
  };
}

/** Puts what the command read into the variable that the block names. */
function keepRead(
  { command, into }: BlockOf<"action">,
  output: { data: Params },
  frame: Frame,
): BlockEnd | undefined {
  if (into === undefined) return undefined;
  const { data } = output;
  if (Object.keys(data).length === 0) {
    const message = `${command} reads nothing that could go into "${into}"; use a command that reads, such as get_text.`;
    return broken("INVALID_INPUT", message, output);
  }
  const value = data.value ?? data.rows ?? data;
  if (holdsSecret(value)) {
    const message = `What ${command} read names a secret, and only the author of a test may do that.`;
    return broken("INVALID_INPUT", message, output);
  }
  return assign({ [into]: value }, frame, output);
}

export function verificationBlock(block: BlockOf<"verification">, frame: Frame): PreparedBlock {
  const { session, scope } = frame;
  const params = resolveValues(block.params, scope);
  const negate = block.negate ? { negate: true } : {};
  return {
    input: { command: block.command, params, ...negate },
    pictured: true,
    title: `${block.negate ? "not: " : ""}${titleOf(block.command, params, findCheck(session.run.device, block.command)?.offered)}`,
    async run(): Promise<BlockEnd> {
      const { run, ports } = session;
      const report = await ports.verifications.check(run.device, [checkOf(block)], {
        passCondition: "all",
        timeoutMs: checkTimeoutMs,
        variables: scope,
        signal: run.signal,
        // The picture after the block is the evidence.
        evidence: false,
      });
      session.verified();
      const { refused } = session;
      session.refused = undefined;
      const [verdict] = report.verdicts;
      const output = { pass: report.pass, ...verdict };
      const limitMs = "duration_ms" in params ? undefined : (block.timeout_ms ?? checkTimeoutMs);
      const notices = slowNotices(block.command, verdict?.elapsed_ms ?? 0, limitMs);
      if (report.pass) return { ok: true, output, notices };
      const failure = report.failure ?? { code: "VERIFICATION_FAILED", message: "the check did not hold" };
      if (!refused || classOf(failure.code) !== "behaviour") return failed(output, failure);
      // The server answered 4xx or 5xx, and the check did not expect that.
      return failed(output, {
        ...failure,
        ...refused,
        message: `${refused.message} Then ${failure.message}`,
      });
    },
  };
}

/** Runs a script on the test's device. Its calls are steps under the block, and its checks count. */
export function scriptBlock(block: BlockOf<"script">, frame: Frame): PreparedBlock {
  const { session, scope, userinterface } = frame;
  const args = block.args.map((arg) => resolveText(arg, scope));
  return {
    input: { script: block.script, args },
    pictured: true,
    title: `script ${block.script}`,
    async run(): Promise<BlockEnd> {
      const { run, ports } = session;
      const inner = {
        ...run,
        step: (step: Parameters<typeof run.step>[0]) =>
          run.step({ ...step, path: `${frame.prefix}${block.id}/${step.kind}` }),
        verified: (count: number) => session.verified(count),
      };
      const task = { script: block.script, args, userinterface, timeoutMs: block.timeout_ms };
      const { status, reason, result } = await ports.scripts.runWithin(inner, task);
      const output = { status, outputs: result.outputs, exit_code: result.exit_code };
      if (!reason) return { ok: true, output };
      const { code, message } = reason;
      return { ok: false, output, code, message, kind: status === "failed" ? "behaviour" : "environment" };
    },
  };
}

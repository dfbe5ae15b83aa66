import { resolveText } from "../../../values/values.ts";
import type { BlockEnd, BlockOf, Frame, PreparedBlock } from "./block.ts";

/** Runs a script on the test's device; it passes when the script does. Its calls stand under the block, and its checks count. */
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

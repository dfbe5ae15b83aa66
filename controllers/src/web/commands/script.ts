import { z } from "zod";
import { type Command, defineCommand } from "../../contract.ts";
import { shortened } from "../../elements/quoted.ts";
import { timeoutShape } from "../../elements/target.ts";
import { DeviceError } from "../../errors.ts";
import { untilAborted, withDeadline } from "../../waiting/deadlines.ts";
import type { Actions } from "../acting/action.ts";
import { ask } from "../acting/question.ts";
import type { DrivenSession } from "../browser/session.ts";
import { tooLong } from "../page/failures.ts";

const STOP_MS = 1_000;
const LONGEST_RESULT = 10_000;

/** A script of the caller's own in the page; only where the configuration allows it. */
export function scriptCommands(actions: Actions): Command[] {
  const { session } = actions;
  return [
    defineCommand({
      name: "execute_javascript",
      description: "Runs JavaScript in the page.",
      effect: "write",
      input: z.strictObject({
        script: z
          .string()
          .min(1)
          .max(100_000)
          .describe("Body of an async function; what it returns is the result."),
        ...timeoutShape,
      }),
      async run({ script, timeout_ms: timeoutMs }, signal) {
        if (!session.context.unsafe.javascript) {
          throw new DeviceError(
            "UNSAFE_DISABLED",
            "execute_javascript is off. Set unsafe.javascript: true in the configuration, or use the other commands.",
          );
        }
        let value: unknown;
        const options = {
          command: "execute_javascript",
          timeoutMs,
          signal,
          done: "ran the script",
          isLong: true,
          awaitsPage: true,
        };
        const result = await actions.run(options, async () => {
          value = await runScript(session, script, timeoutMs, signal);
        });
        return { ...result, data: { ...result.data, ...resultOf(value) } };
      },
    }),
  ];
}

async function runScript(
  session: DrivenSession,
  script: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<unknown> {
  const page = session.page();
  // A script of the page that is busy already is not the caller's.
  await ask(session, { what: "execute_javascript", ms: timeoutMs, signal }, () => page.evaluate("0"));
  const deadline = withDeadline(signal, timeoutMs);
  try {
    // As an expression and not through eval, which a page's content security policy may forbid.
    return await untilAborted(page.evaluate(`(async () => {${script}\n})()`), deadline.signal);
  } catch (error) {
    if (deadline.signal.aborted) await terminate(session);
    if (deadline.over()) {
      throw new DeviceError(
        "COMMAND_TIMEOUT",
        `The script did not end within ${timeoutMs} ms and was stopped. Shorten it or raise timeout_ms.`,
      );
    }
    throw scriptError(error, signal);
  } finally {
    deadline.done();
  }
}

async function terminate(session: DrivenSession): Promise<void> {
  const cdp = await session.signals(session.page()).cdp();
  const signal = AbortSignal.timeout(STOP_MS);
  await cdp?.send("Runtime.terminateExecution", undefined, { signal }).catch(() => undefined);
}

function scriptError(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted || !(error instanceof Error) || !error.message.startsWith("page.evaluate:"))
    return error;
  if (/^page\.evaluate: (?:Target |Page crashed|Frame was|Execution context was)/.test(error.message))
    return error;
  const refusal = tooLong(error.message);
  if (refusal) return refusal;
  const reason = shortened((error.message.split("\n", 1)[0] ?? "").replace("page.evaluate: ", ""), 500);
  const failure = new DeviceError("ACTION_REJECTED", `The script threw: ${reason}. Correct it.`);
  failure.dispatched = "yes";
  return failure;
}

function resultOf(value: unknown): Record<string, unknown> {
  const text = JSON.stringify(value) ?? "undefined";
  if (text.length <= LONGEST_RESULT) return { result: value ?? null };
  return { result: shortened(text, LONGEST_RESULT), truncated_characters: text.length - LONGEST_RESULT };
}

import { z } from "zod";
import { ToolError } from "../../errors.ts";
import { done, type RunConnection, type RunTerminal, unending } from "./connection.ts";
import type { Planned } from "./plan.ts";
import type { Slot } from "./slots.ts";
import { type RunReply, runReply } from "./verdictText.ts";

/** One wait of a call; far below what a proxy in between would cut. */
const waitMs = 20_000;
/** Where a person watches which step runs. */
const watchedMs = 500;
/** The longest that a person may take for a test that stops at each step. */
const steppingMs = 7_200_000;

export type ExecuteOptions = {
  userinterface?: string | undefined;
  /** Each test case continues in the state that the previous one left; otherwise it starts as it says itself. */
  keep?: boolean | undefined;
  environment?: string | undefined;
  allowProduction?: boolean | undefined;
  release?: string | undefined;
  build?: string | undefined;
  /** In place of what the test cases say. */
  retries?: number | undefined;
  retryOn?: string | undefined;
  /** Milliseconds of pause after each command. */
  slow?: number | undefined;
  /** Stops before each step and asks. */
  debug?: boolean | undefined;
};

const isOpen = ({ status }: RunReply) => status === "running" || status === "queued";

type Ended = { reply: RunReply; stopped: boolean } | { error: ToolError };

/** Runs a test case to its end, as `runToEnd` does. */
export const runTest = (
  test: Planned,
  { options, slot }: { options: ExecuteOptions; slot: Slot | undefined },
  connection: RunConnection,
  terminal: RunTerminal,
): Promise<Ended> => {
  const args = argumentsOf(test, options, slot);
  return runToEnd({ tool: "execute_testcase", args, name: test.name, slot }, connection, terminal);
};

/**
 * Starts an execution by its tool, waits for its end and returns how it ended, or the error with which it could not be started.
 * An interruption cancels it. `stopped`: a person ended it at a step.
 */
export async function runToEnd(
  { tool, args: given, name, slot }: Start,
  connection: RunConnection,
  terminal: RunTerminal,
): Promise<Ended> {
  const call = async (tool: string, args: Record<string, unknown>, signal = unending()) =>
    runReply.parse(await done(connection.call(tool, args, signal)));
  const cancel = (execution_id: string) => call("cancel_execution", { execution_id });
  try {
    // Returns at once with the execution's id, without which an interrupted run could not be cancelled.
    let now = await call(tool, { ...given, wait_ms: 0 });
    while (isOpen(now)) {
      const { execution_id, next_step } = now;
      terminal.status?.(statusOf(name, now));
      if (terminal.signal.aborted) now = await cancel(execution_id);
      else if (next_step) {
        const way = await askAtStep(next_step, slot, connection, terminal);
        if (way === "stop") return { reply: await cancel(execution_id), stopped: true };
        const go = { execution_id, way };
        now = await call(tool, { testcase: given.testcase, go, wait_ms: 0 });
      } else {
        const args = { execution_id, wait_ms: waitOf(terminal), max_tokens: 50 };
        now = await untilInterrupted(call("get_execution_status", args, terminal.signal), terminal, now);
      }
    }
    return { reply: now, stopped: false };
  } catch (error) {
    if (error instanceof ToolError) return { error };
    throw error;
  }
}

/** A tool that starts an execution and takes `wait_ms`, and what the execution is called. */
type Start = {
  tool: string;
  args: Readonly<Record<string, unknown>>;
  name: string;
  slot?: Slot | undefined;
};

const statusOf = (name: string, { doing }: RunReply) => (doing === undefined ? "" : `${name}: ${doing}`);

/** A person who watches is shown each step; for others one long wait does. */
const waitOf = ({ columns }: Pick<RunTerminal, "columns">) => (columns === undefined ? waitMs : watchedMs);

function argumentsOf(
  { id, inputs }: Planned,
  options: ExecuteOptions,
  slot: Slot | undefined,
): Record<string, unknown> {
  const { userinterface, environment, release, build, retries, retryOn, slow, debug } = options;
  const given = {
    ...{ userinterface_name: userinterface, environment, release, build, retries, retry_on: retryOn },
    ...{ slow_ms: slow, session_id: slot?.session_id },
    ...(options.keep === true && { fresh: false }),
    ...(options.allowProduction === true && { allow_production: true }),
    ...(debug === true && { stop: true, timeout_ms: steppingMs }),
  };
  return {
    testcase: id,
    inputs,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

/** The end of a wait, or `before` when the wait is interrupted. */
async function untilInterrupted(
  waiting: Promise<RunReply>,
  terminal: Pick<RunTerminal, "signal">,
  before: RunReply,
): Promise<RunReply> {
  const over = new AbortController();
  const interrupted = new Promise<RunReply>((settle) => {
    terminal.signal.addEventListener("abort", () => settle(before), { once: true, signal: over.signal });
  });
  // The call of an interrupted wait fails by itself; the caller asks for its end.
  waiting.catch(() => undefined);
  return Promise.race([waiting, interrupted]).finally(() => over.abort());
}

export type Way = "next" | "on" | "stop";

const ways: Readonly<Record<string, Way | "look">> = { n: "next", l: "look", r: "on", s: "stop" };
const screenSchema = z.looseObject({ location: z.string(), elements: z.string() });

/** Shows the step that comes next and asks what to do. `stop` also when the terminal is closed or Ctrl-C is pressed. */
async function askAtStep(
  { number, step }: { number: number; step: string },
  slot: Slot | undefined,
  connection: RunConnection,
  terminal: RunTerminal,
): Promise<Way> {
  terminal.out(`step ${number}: ${step}\n`);
  for (;;) {
    const answer = await terminal.ask?.("next (Enter), look, run on, stop? ");
    if (answer === undefined) return "stop";
    const way = ways[answer.trim().toLowerCase().charAt(0) || "n"];
    if (way === "look") terminal.out(`${await screenText(slot, connection, terminal.signal)}\n`);
    else if (way) return way;
  }
}

async function screenText(
  slot: Slot | undefined,
  connection: RunConnection,
  signal: AbortSignal,
): Promise<string> {
  if (!slot) return "This test case has no device to look at.";
  try {
    const args = { session_id: slot.session_id };
    const { location, elements } = screenSchema.parse(
      await done(connection.call("dump_ui_elements", args, signal)),
    );
    return `${location}\n${elements}`;
  } catch (error) {
    if (error instanceof ToolError) return `${error.message} ${error.hint}`;
    throw error;
  }
}

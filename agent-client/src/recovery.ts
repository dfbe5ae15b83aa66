import { AgentError, type AgentErrorCode } from "./errors.ts";
import { failureIn } from "./mcp/calls.ts";
import type { Clock, Toolbox } from "./ports.ts";

/** What is done about a failure, and how often it is tried again. */
export type Recovery = {
  strategy: "simplify" | "skip_step" | "fail" | "backoff";
  retries: number;
};

const simplify: Recovery = { strategy: "simplify", retries: 1 };

/** Seed 002, "Recovery Strategies". */
export const recoveries: { readonly [Code in AgentErrorCode]?: Recovery } = {
  INVALID_PLAN: simplify,
  PLANNING_TIMEOUT: simplify,
  WEAK_MODEL: simplify,
  TOOL_FAILED: { strategy: "skip_step", retries: 0 },
  EXECUTION_TIMEOUT: { strategy: "fail", retries: 0 },
  CONNECTION_REFUSED: { strategy: "backoff", retries: 3 },
  RATE_LIMITED: { strategy: "backoff", retries: 5 },
};

/** Before the first repetition; each further wait is twice as long. */
const firstWaitMs = 250;

export const recoveryOf = (code: string): Recovery | undefined =>
  new Map(Object.entries(recoveries)).get(code);

/** Waits before the repetition `retry`, counted from 0. False: there is none. */
async function waits(code: string, retry: number, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const recovery = recoveryOf(code);
  if (recovery?.strategy !== "backoff" || retry >= recovery.retries) return false;
  await clock.sleep(firstWaitMs * 2 ** retry, signal);
  return true;
}

/** Repeats what a model did not answer, where the table says so. */
export async function withBackoff<T>(work: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof AgentError) || !(await waits(error.code, retry, clock, signal))) throw error;
    }
  }
}

/** The same tools. A call that did nothing, since it was refused at the door, is repeated where the table says so. */
export function patientToolbox(toolbox: Toolbox, clock: Clock, retried?: () => void): Toolbox {
  return {
    specs: () => toolbox.specs(),
    async call(use, options) {
      for (let retry = 0; ; retry++) {
        const result = await toolbox.call(use, options);
        if (!result.isError) return result;
        if (!(await waits(failureIn(use.name, result).code, retry, clock, options.signal))) return result;
        retried?.();
      }
    },
  };
}

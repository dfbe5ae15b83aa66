import { openAgent } from "../inprocess.ts";
import type { Environment } from "./agentClient.ts";
import { runAgentCommand } from "./program.ts";
import { processTerminal } from "./terminal.ts";

export type {
  OpenAgent,
  OpenAgentClient,
  OpenAgentOptions,
  Running,
  RunningApi,
} from "./agentClient.ts";

/**
 * `labwright <args>` of the words chat, ask, agents and agent, in this process. Sets the exit code; the process ends by
 * itself when nothing is left to do.
 */
export async function runAgentCli(args: readonly string[], env: Environment): Promise<void> {
  const terminal = processTerminal(env);
  try {
    process.exitCode = await runAgentCommand(args, terminal, openAgent);
  } finally {
    terminal.dispose();
  }
}

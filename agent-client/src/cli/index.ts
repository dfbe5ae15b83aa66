import type { Environment, OpenAgentClient } from "./agentClient.ts";
import { runAgentCommand } from "./program.ts";
import { processTerminal } from "./terminal.ts";

export type { OpenAgentClient, OpenAgentOptions } from "./agentClient.ts";
export { jsonLine, plainLine } from "./plain.ts";

/**
 * `labwright <args>` of the words chat and ask, in this process. Sets the exit code; the process ends by itself when
 * nothing is left to do.
 */
export async function runAgentCli(
  args: readonly string[],
  env: Environment,
  open: OpenAgentClient,
): Promise<void> {
  const terminal = processTerminal(env);
  try {
    process.exitCode = await runAgentCommand(args, terminal, open);
  } finally {
    terminal.dispose();
  }
}

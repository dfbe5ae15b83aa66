import { type OpenAgentClient, runAgentCommand } from "./program.ts";
import { processTerminal } from "./terminal.ts";

export { jsonLine, plainLine } from "./plain.ts";
export type { OpenAgentOptions } from "./program.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** `labwright chat` and `ask` in this process. Sets the exit code. */
export async function runAgentCli(args: readonly string[], open: OpenAgentClient): Promise<void> {
  const terminal = processTerminal();
  const interrupt = () => terminal.interrupts.emit("interrupt");
  for (const signal of signals) process.on(signal, interrupt);
  try {
    process.exitCode = await runAgentCommand(args, terminal, open);
  } finally {
    // Ctrl-C has its usual meaning again.
    for (const signal of signals) process.off(signal, interrupt);
  }
}

import { CommanderError } from "commander";
import type { Environment } from "../config/places.ts";
import { createProgram } from "./program.ts";
import { exitCodes, failureText, processTerminal, type Terminal, wrapText } from "./terminal.ts";

/**
 * The command line, apart from `mcp`. Gives back the exit code: 0 passed, 1 failed, 2 error (wrong use included), 130
 * interrupted. Results go to stdout, everything else to stderr.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  let exitCode: number = exitCodes.passed;
  const program = createProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.passed : exitCodes.error;
    if (terminal.signal.aborted) return exitCodes.interrupted;
    terminal.err(wrapText(failureText(error), terminal.columns));
    return exitCodes.error;
  }
}

/** `labwright <args>` in this process. Sets the exit code; the process ends by itself when nothing is left to do. */
export async function runCli(args: readonly string[], env: Environment): Promise<void> {
  const terminal = { ...processTerminal(), env };
  try {
    process.exitCode = await runCommand(args, terminal);
  } finally {
    terminal.dispose();
  }
}

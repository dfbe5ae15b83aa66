import { spawn } from "node:child_process";
import { join } from "node:path";
import { packageFolder } from "../../storage/engine/packageFolder.ts";
import { type ExitCode, exitCodes, type Terminal } from "../terminal.ts";

/** `labwright setup`: the set-up of the two README commands, by hand. Its output goes straight to the terminal. */
export async function runSetup(options: { for: string }, terminal: Terminal): Promise<ExitCode> {
  const script = join(packageFolder(), "bin", "setup.mjs");
  const child = spawn(process.execPath, [script, "--for", options.for], {
    stdio: ["ignore", "inherit", "inherit"],
    signal: terminal.signal,
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", resolve);
  });
  if (terminal.signal.aborted) return exitCodes.interrupted;
  return code === 0 ? exitCodes.passed : exitCodes.error;
}

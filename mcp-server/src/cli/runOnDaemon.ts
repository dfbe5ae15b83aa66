import type { DaemonOptions } from "./options.ts";
import { type RunOptions, runTestcases } from "./run.ts";
import type { ExitCode, Terminal } from "./terminal.ts";
import { withDaemon } from "./withDaemon.ts";

/** `labwright run` on the daemon of the data directory. What it took of devices is given back when it ends. */
export const runOnDaemon = (
  options: Partial<DaemonOptions> & RunOptions,
  terminal: Terminal,
): Promise<ExitCode> =>
  withDaemon(options, terminal, { command: "run" }, (connection) =>
    runTestcases(options, connection, terminal),
  );

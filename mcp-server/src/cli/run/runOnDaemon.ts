import type { DaemonOptions } from "../options.ts";
import type { ExitCode, Terminal } from "../terminal.ts";
import { withDaemon } from "../withDaemon.ts";
import { type RunOptions, runTestcases } from "./run.ts";
import { watchTests } from "./watch.ts";
import { withWebServer } from "./webServer.ts";

/** `labwright run` on the daemon of the data directory. What it took of devices is given back when a run ends, and the app of `web_server` ends with it. */
export const runOnDaemon = (
  { watch, ...options }: Partial<DaemonOptions> & RunOptions & { watch?: boolean | undefined },
  terminal: Terminal,
): Promise<ExitCode> =>
  withDaemon(options, terminal, { command: "run" }, (connection) => {
    const run = (testcases: readonly string[]) =>
      runTestcases({ ...options, testcases }, connection, terminal);
    const all = () => (watch ? watchTests(options.testcases, run, terminal) : run(options.testcases));
    return options.list ? all() : withWebServer(options, terminal, all);
  });

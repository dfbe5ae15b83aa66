import { callTool, connectDaemon, fetchArtifact } from "./daemon.ts";
import type { DaemonOptions } from "./options.ts";
import { type RunOptions, runTestcases } from "./run.ts";
import type { ExitCode, Terminal } from "./terminal.ts";

/** `labwright run` on the daemon of the data directory. What it took of devices is given back when it ends. */
export async function runOnDaemon(
  options: Partial<DaemonOptions> & RunOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const client = `run/${process.pid}`;
  const traceparent = terminal.env.TRACEPARENT;
  const attached = await connectDaemon(options, terminal, { command: "run", client });
  try {
    const { file } = attached;
    return await runTestcases(
      options,
      {
        call: (name, args, signal) => callTool(file, { name, arguments: args, client, traceparent, signal }),
        artifact: (uri) => fetchArtifact(file, uri, client),
      },
      terminal,
    );
  } finally {
    attached.close();
  }
}

import { projectAt } from "../config/places.ts";
import { callTool, connectDaemon, fetchArtifact, type ToolAnswer } from "./daemon.ts";
import type { DaemonOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";

type DaemonConnection = {
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer>;
  /** The bytes of `artifact://...`. */
  artifact(uri: string): Promise<Uint8Array>;
};

/**
 * Runs `work` with the daemon of the data directory. Calls are of `client`, by default one of this process alone, whose leases
 * end with it.
 */
export async function withDaemon<Result>(
  options: DaemonOptions,
  terminal: Terminal,
  { command, client }: { command: string; client?: string },
  work: (connection: DaemonConnection) => Promise<Result>,
): Promise<Result> {
  const own = `${command}/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command, client: own });
  const { secrets } = attached;
  const caller = client ?? own;
  const traceparent = terminal.env.TRACEPARENT;
  const project = projectAt(terminal.cwd);
  try {
    return await work({
      call: (name, args, signal) =>
        callTool(attached, { name, arguments: args, client: caller, project, secrets, traceparent, signal }),
      artifact: (uri) => fetchArtifact(attached, uri, caller),
    });
  } finally {
    attached.close();
  }
}

import { callTool, connectDaemon } from "../daemon.ts";
import type { DaemonOptions } from "../options.ts";
import type { Answer } from "../run/connection.ts";
import type { Terminal } from "../terminal.ts";

type Call = (name: string, args?: Record<string, unknown>) => Promise<Answer>;

/** Runs `work` with a daemon, as a client of its own whose leases end with it. */
export async function withDaemon<Result>(
  options: Partial<DaemonOptions>,
  terminal: Terminal,
  command: string,
  work: (call: Call) => Promise<Result>,
): Promise<Result> {
  const client = `${command}/${process.pid}`;
  const attached = await connectDaemon(options, terminal, { command, client });
  const { file } = attached;
  const { signal, env } = terminal;
  try {
    return await work((name, args = {}) =>
      callTool(file, { name, arguments: args, client, traceparent: env.TRACEPARENT, signal }),
    );
  } finally {
    attached.close();
  }
}

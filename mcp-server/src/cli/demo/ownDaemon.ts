import { runStop } from "../commands/control.ts";
import { connectDaemon } from "../daemon.ts";
import type { Terminal } from "../terminal.ts";
import { attachHost, type Host } from "./host.ts";

/** Attaches a host to a daemon of the demo's own, which has ended when this resolves. */
export async function withHost<Result>(
  { dataDir, config }: { dataDir: string; config?: string },
  terminal: Terminal,
  run: (host: Host) => Promise<Result>,
): Promise<Result> {
  // The daemon inherits the environment, and the demo's data must not go where this machine's real data is.
  for (const name of ["DATABASE_URL", "LABWRIGHT_PORT", "LABWRIGHT_DATA_DIR"]) delete process.env[name];
  const options = { dataDir, config, logLevel: undefined };
  const quiet: Terminal = { ...terminal, out: () => undefined, signal: new AbortController().signal };
  try {
    const attached = await connectDaemon(options, terminal, { command: "demo", client: "demo" });
    const host = await attachHost(attached.file, terminal.signal);
    try {
      return await run(host);
    } finally {
      await host.close();
      attached.close();
    }
  } finally {
    await runStop(options, quiet);
  }
}

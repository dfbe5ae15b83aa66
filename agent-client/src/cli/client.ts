import type { OpenAgent, OpenAgentClient, OpenAgentOptions } from "./agentClient.ts";
import { type ExitCode, exitCodes, type Terminal } from "./terminal.ts";

/** What every command may be given. What is undefined was not. */
export type ClientOptions = Partial<Omit<OpenAgentOptions, "env" | "cwd" | "signal">>;

/** Does `work` with an agent client that is closed afterwards. Interrupted before it is open: 130. */
export async function withClient(
  { dataDir, config, model, record }: ClientOptions,
  terminal: Terminal,
  open: OpenAgentClient,
  work: (client: OpenAgent) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { env, cwd } = terminal;
  const starting = new AbortController();
  const interrupted = new Promise<undefined>((resolve) => {
    starting.signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  const stop = terminal.onInterrupt(() => starting.abort());
  const opening = open({ env, cwd, dataDir, config, model, record, signal: starting.signal });
  const client = await Promise.race([opening, interrupted]).finally(stop);
  if (client === undefined) {
    // What opens after all is not left open.
    opening.then((late) => late.close()).catch(() => {});
    return exitCodes.interrupted;
  }
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

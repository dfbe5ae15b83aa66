import { join } from "node:path";
import { AgentError, openAgent } from "@labwright/agent-client";
import { type OpenAgentOptions, runAgentCli as runCli } from "@labwright/agent-client/cli";
import { dataDirectory, type Environment } from "../config/places.ts";
import { ToolError } from "../errors.ts";
import { daemonHeaders, daemonUrl } from "../server/daemonFile.ts";
import { connectDaemon } from "./daemon.ts";

/** `labwright chat` and `ask`, on the daemon of the data directory. Sets the exit code. */
export const runAgentCli = (args: readonly string[], env: Environment): Promise<void> =>
  runCli(args, (options) => open(options, env));

/** The client runs in this process, and what it holds ends with it. */
function open({ dataDir, config, signal, ...options }: OpenAgentOptions, env: Environment) {
  const terminal = { out: () => {}, err: () => {}, env, cwd: process.cwd(), signal };
  return openAgent({
    ...options,
    env,
    keyFile: join(dataDirectory(env, dataDir).path, "anthropic-key"),
    async attach() {
      const client = `chat/${process.pid}`;
      const request = { command: "chat", client };
      const attached = await connectDaemon({ dataDir, config }, terminal, request).catch(asAgentError);
      const { file, lost } = attached;
      const headers = daemonHeaders(file, client);
      return { url: daemonUrl(file, "/"), headers, lost, close: () => attached.close() };
    },
  });
}

/** A problem of the configuration is reported as it is; any other failure means that the server cannot be reached. */
function asAgentError(error: unknown): never {
  if (error instanceof ToolError && ["CONFIG_INVALID", "DAEMON_MISMATCH"].includes(error.code))
    throw new AgentError("CONFIG_INVALID", error.message, error.hint);
  throw error;
}

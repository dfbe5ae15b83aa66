import { join } from "node:path";
import { connectDaemon, daemonHeaders, daemonUrl, dataDirectory } from "@labwright/mcp-server/attach";
import type { OpenAgentClient } from "./cli/agentClient.ts";
import { AgentError } from "./errors.ts";
import { composeAgent } from "./openAgent.ts";

/** The agent client on the daemon of a data directory, found or started as every command does it. */
export const openAgent: OpenAgentClient = async (options) => {
  const { env, cwd, dataDir, config, signal } = options;
  const terminal = { out: () => {}, err: () => {}, env, cwd, signal };
  return composeAgent({
    ...options,
    keyFile: join(dataDirectory(env, dataDir).path, "anthropic-key"),
    async attach(part) {
      const client = `${part}/${process.pid}`;
      const attached = await connectDaemon({ dataDir, config }, terminal, {
        command: "chat",
        client,
      }).catch(asAgentError);
      const { file, lost } = attached;
      return {
        url: daemonUrl(file, "/"),
        headers: daemonHeaders(file, client),
        lost,
        close: () => attached.close(),
      };
    },
  });
};

/** What is wrong with the configuration is told as it is; the rest is a server that cannot be reached. */
function asAgentError(error: unknown): never {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  const hint = "hint" in error && typeof error.hint === "string" ? error.hint : "";
  if (error.code === "CONFIG_INVALID" || error.code === "DAEMON_MISMATCH")
    throw new AgentError("CONFIG_INVALID", error.message, hint);
  throw error;
}

import type { AgentOptions, OpenAgent } from "../openAgent.ts";

export type { Environment, OpenAgent } from "../openAgent.ts";

/** How the command line opens the agent client. What is undefined was not given. */
export type OpenAgentOptions = Omit<AgentOptions, "keyFile"> & {
  cwd: string;
  dataDir: string | undefined;
  config: string | undefined;
  /** Aborts when the command is to end before it is open. */
  signal: AbortSignal;
};

/** Opens it on the daemon of the data directory, found or started; throws CONFIG_INVALID, SERVER_UNREACHABLE. */
export type OpenAgentClient = (options: OpenAgentOptions) => Promise<OpenAgent>;

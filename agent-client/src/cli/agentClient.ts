import type { Agent } from "../agents/agent.ts";
import type { AgentProblem } from "../agents/load.ts";
import type { AgentStore, LabSkill } from "../ports.ts";
import type { Conversations } from "../sessions/conversations.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** How the command line opens the agent client. What is undefined was not given. */
export type OpenAgentOptions = {
  env: Environment;
  cwd: string;
  dataDir: string | undefined;
  config: string | undefined;
  /** Comes before the models of the settings. */
  model: string | undefined;
  /** File that every exchange with the model is written to. */
  record: string | undefined;
  /** File that answers in the model's place, without a network. */
  replay: string | undefined;
  /** Aborts when the command is to end before it is open. */
  signal: AbortSignal;
};

export type Running = { close(): Promise<void> };
/** `url` is where `/server/agent` is. */
export type RunningApi = Running & { url: string };

/** The agent client in this process, on the daemon of the data directory, which was found or started. */
export type OpenAgent = {
  conversations: Conversations;
  /** As the settings have changed them. */
  agents: readonly Agent[];
  /** What is wrong with the user's own agents, which are left out. */
  problems: readonly AgentProblem[];
  /** The daemon's address, for a person to read. */
  server: string;
  skills(): Promise<readonly LabSkill[]>;
  tasks: AgentStore["tasks"];
  /** In the order that they are asked; empty without a key. */
  models: readonly { model: string }[];
  /** REST and Socket.IO on a port of its own; what is undefined is that of the settings. */
  serve(at: { host: string | undefined; port: number | undefined }): Promise<RunningApi>;
  /** The agents that nobody talks to. `say` hears, in a line, what a person should know of them. */
  startAutonomous(say: (line: string) => void): Promise<Running>;
  /** Ends every run and gives back what this client holds. */
  close(): Promise<void>;
};

/** Opens it; throws CONFIG_INVALID, SERVER_UNREACHABLE. */
export type OpenAgentClient = (options: OpenAgentOptions) => Promise<OpenAgent>;

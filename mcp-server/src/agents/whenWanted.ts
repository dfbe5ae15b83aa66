import { keyOf } from "@labwright/agent-client/settings";
import type { Agents, AgentsDeps } from "./open.ts";
import { taskAgent } from "./store.ts";

/**
 * The agents: their code and the models' client are loaded at the first use, or at once where one works by
 * itself or a task waits.
 * @public main.ts takes it from the rooms that it loads
 */
export function agentsWhenWanted({ host, ...deps }: Omit<AgentsDeps, "own" | "clients"> & { host: string }) {
  const clients = { chat: `chat@${host}`, agent: `agent@${host}` };
  let opening: Promise<Agents> | undefined;
  let opened: Agents | undefined;
  let autonomous = 0;
  let starting: Promise<unknown> = Promise.resolve();
  const load = async (own: AgentsDeps["own"]): Promise<Agents> => {
    const { openAgents } = await import("./open.ts");
    opened = await openAgents({ ...deps, clients, own });
    return opened;
  };
  const open = (own: AgentsDeps["own"]): Promise<Agents> => {
    opening ??= load(own).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  const startWork = async (own: AgentsDeps["own"]): Promise<void> => {
    const enabled = Object.values(deps.settings.agents).some((agent) => agent.enabled);
    if (enabled || deps.env.LABWRIGHT_AGENTS_DIR) autonomous = (await open(own)).startAutonomous();
    // Open agents go on with tasks of people that an earlier process left.
    else if (await deps.store.hasOpenTask(taskAgent)) await open(own);
  };
  return {
    open,
    /** Gives back what this server's agents held when it was killed. */
    async recover(): Promise<void> {
      for (const client of Object.values(clients)) await deps.releaseClient(client);
    },
    startAutonomous(own: AgentsDeps["own"]): Promise<void> {
      const started = startWork(own);
      starting = started.catch(() => {});
      return started;
    },
    /** Whether there is a key for a model. No model is called. */
    hasModel(): boolean {
      const { models } = deps.settings;
      return (models.length > 0 ? models : [{}]).some((model) => keyOf(model, deps) !== undefined);
    },
    /** Calls that wait for a person here, by their id. */
    approvals: () => opened?.openApprovals ?? new Map(),
    progressOf: (key: string) => opened?.progressOf(key),
    runs: () => opened?.running() ?? 0,
    connections: () => opened?.connections() ?? 0,
    /** How many agents work by themselves here. */
    autonomous: () => autonomous,
    /** Also what is being opened is closed. */
    async close(): Promise<void> {
      await starting;
      const agents = await opening?.catch(() => undefined);
      await agents?.close();
    },
  };
}

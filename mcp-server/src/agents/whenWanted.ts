import { clientsOf } from "./clients.ts";
import type { Agents, AgentsDeps } from "./open.ts";

/** This server as a client on this machine reaches it. */
type Own = AgentsDeps["own"];

/**
 * The agents: their code and the models' client are loaded when somebody first asks for them, or at once where one works by
 * itself.
 * @public main.ts takes it from the rooms that it loads
 */
export function agentsWhenWanted(deps: Omit<AgentsDeps, "own">) {
  let opening: Promise<Agents> | undefined;
  let opened: Agents | undefined;
  let autonomous = 0;
  let starting: Promise<unknown> = Promise.resolve();
  const load = async (own: Own): Promise<Agents> => {
    const { openAgents } = await import("./open.ts");
    opened = await openAgents({ ...deps, own });
    return opened;
  };
  const open = (own: Own): Promise<Agents> => {
    opening ??= load(own).catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
  return {
    open,
    /** Gives back what this server's agents held when it was killed. */
    async recover(): Promise<void> {
      for (const client of Object.values(clientsOf(deps.host))) await deps.releaseClient(client);
    },
    startAutonomous(own: Own): Promise<void> {
      const enabled = Object.values(deps.settings.agents).some((agent) => agent.enabled);
      if (!enabled && !deps.env.LABWRIGHT_AGENTS_DIR) return Promise.resolve();
      const started = open(own).then((agents) => {
        autonomous = agents.startAutonomous();
      });
      starting = started.catch(() => {});
      return started;
    },
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

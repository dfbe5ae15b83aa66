import type { Settings } from "../settings.ts";
import type { Agent } from "./agent.ts";

/** The settings change an agent's own `config`, key by key. */
export function withSettings(agent: Agent, { agents }: Settings): Agent {
  const { limits, ...rest } = agents[agent.name] ?? {};
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...agent, config: { ...agent.config, ...given, limits: { ...agent.config.limits, ...limits } } };
}

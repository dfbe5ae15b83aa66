import type { Skill } from "@labwright/skills";
import type { Agent } from "../agents/agent.ts";
import type { RunLimits } from "../loop/runAgent.ts";
import type { Settings } from "../settings.ts";

const usualTurns = 50;

/** What ends a run: the agent's limits, else those of the settings; the shorter time of agent and skill. */
export function limitsOf({ config }: Agent, skill: Skill, settings: Settings): RunLimits {
  const own = { ...settings.limits, ...config.limits };
  return {
    turns: own.turns ?? usualTurns,
    tokens: own.tokens ?? Number.POSITIVE_INFINITY,
    cost_usd: own.cost_usd ?? Number.POSITIVE_INFINITY,
    timeout_ms: Math.min(config.timeout_seconds, skill.timeout_seconds) * 1_000,
    max_output_tokens: settings.max_output_tokens,
  };
}

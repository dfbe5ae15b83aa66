import type { Agent } from "../agents/agent.ts";
import type { Clock, LabServer } from "../ports.ts";
import type { SkillRun, SkillRunEnd } from "../sessions/runSkill.ts";

/**
 * Runs a model's conversation in a stored session, which it makes where there is none, and asks for the closing answer in
 * the schema; once more when it does not validate. `outcome` is absent when it never did, or when the run did not come so
 * far. Resolves with `cancelled` when `signal` aborts.
 */
export type RunSkill = (given: SkillRun) => Promise<SkillRunEnd>;

export type LogLine = { level: "debug" | "info" | "warn" | "error"; text: string } & Readonly<
  Record<string, unknown>
>;

export type RuntimeDeps = {
  server: LabServer;
  /** As the settings have changed them. */
  agents: readonly Agent[];
  clock: Clock;
  /** Names this process among those that may hold the role and the tasks. */
  holder: string;
  /** Absent without a model; looked at for each task. */
  runSkill?: RunSkill | undefined;
  log(line: LogLine): void;
};

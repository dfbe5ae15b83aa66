import type { z } from "zod";
import type { Agent } from "../agents/agent.ts";
import type { SessionEnded } from "../events.ts";
import type { Clock, LabServer } from "../ports.ts";

/**
 * Runs a model's conversation in a stored session, which it makes where there is none, and asks for the closing answer in
 * the schema; once more when it does not validate. `outcome` is absent when it never did, or when the run did not come so
 * far. Resolves with `cancelled` when `signal` aborts.
 */
export type RunSkill = (given: {
  agent: Agent;
  skill: string;
  session_id: string;
  request: string;
  outcome: { schema: z.ZodType; describe: string };
  signal: AbortSignal;
  /** Only tools that look. */
  dryRun: boolean;
  holder: string;
}) => Promise<{ end: SessionEnded; outcome?: unknown }>;

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

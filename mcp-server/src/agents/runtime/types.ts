import type { Agent, Clock, SkillRun, SkillRunEnd, Toolbox } from "@labwright/agent-client";
import { z } from "zod";
import type { EventFeed } from "../../services/index.ts";
import type { TaskStore } from "../store.ts";

/** An event of the feed, as a task keeps it. */
export const eventSchema = z.object({
  id: z.int(),
  type: z.string(),
  priority: z.enum(["critical", "high", "normal"]),
  source: z.string(),
  device_id: z.string().optional(),
  execution_id: z.string().optional(),
  alert_id: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
  at: z.string(),
});
export type LabEvent = z.output<typeof eventSchema>;

/** What the agent client's `createRunSkill` makes. */
export type RunSkill = (given: SkillRun) => Promise<SkillRunEnd>;

export type LogLine = { level: "debug" | "info" | "warn" | "error"; text: string } & Readonly<
  Record<string, unknown>
>;

export type RuntimeDeps = {
  /** As a client of the server has them. */
  toolbox: Toolbox;
  store: TaskStore;
  events: EventFeed;
  /** As the settings have changed them. */
  agents: readonly Agent[];
  clock: Clock;
  /** Names this process among those that may hold a task. */
  holder: string;
  /** Absent without a model; looked at for each task. */
  runSkill?: RunSkill | undefined;
  log(line: LogLine): void;
};

import type { Agent, Trigger } from "@labwright/agent-client";
import { z } from "zod";
import type { AgentTask } from "../../store.ts";
import type { CallServer } from "../server.ts";
import type { LabEvent, LogLine } from "../types.ts";

/** What a model is asked; `describe` says what the schema means. */
export type Question<T> = { skill: string; request: string; schema: z.ZodType<T>; describe: string };
/** What a model answered, or why there is no answer. */
export type Asked<T> = { answer: T } | { why: string };

/** One attempt at a task. With the agent's `dry_run` it looks, but neither takes control nor writes. */
export type Work = {
  agent: Agent;
  task: AgentTask;
  trigger: Trigger;
  event: LabEvent;
  call: CallServer;
  signal: AbortSignal;
  /** Absent without a model. */
  ask?: <T>(question: Question<T>) => Promise<Asked<T>>;
  /** Stores in the task. Throws when another process has the task by now: then nothing may be written. */
  keep(finding: Readonly<Record<string, unknown>>): Promise<void>;
  log(line: LogLine): void;
};

/** A kind of work. `write` takes what is stored, and may be repeated. */
export type Kind<Finding extends Readonly<Record<string, unknown>>> = {
  schema: z.ZodType<Finding>;
  find(work: Work): Promise<Finding>;
  write(work: Work, finding: Finding): Promise<void>;
};

/** What several findings have. */
export const findingParts = {
  evidence: z.array(z.string().min(1).max(2_000)).max(50),
  confidence: z.number().min(0).max(1),
};
/** The work belongs to another agent, or there was none. */
export const leftAloneSchema = z.object({ left_alone: z.string() });
/** What a dry run did not do. */
export const wouldSchema = z.array(z.string()).optional();

/** A finding of a dry run says what it would have done. */
export const wouldHave = ({ agent, task, log }: Work, what: readonly string[]): { would?: string[] } => {
  if (!agent.config.dry_run) return {};
  log({ level: "info", text: `Dry run: would ${what.join(", ")}`, task: task.id });
  return { would: [...what] };
};

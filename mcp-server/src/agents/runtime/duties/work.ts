import type { Agent, Trigger } from "@labwright/agent-client";
import type { z } from "zod";
import type { CallServer } from "../server.ts";
import type { LabEvent, LogLine, Task } from "../types.ts";

/** What a model answered, or why there is no answer. */
export type Asked<T> = { answer: T } | { why: string };

/** One try at a task. */
export type Work = {
  agent: Agent;
  task: Task;
  trigger: Trigger;
  event: LabEvent;
  call: CallServer;
  signal: AbortSignal;
  /** Looks, but neither takes control nor writes. */
  dryRun: boolean;
  hasModel: boolean;
  ask<T>(given: {
    skill: string;
    request: string;
    schema: z.ZodType<T>;
    describe: string;
  }): Promise<Asked<T>>;
  /** Stores in the task. Throws when the task is another's by now: then nothing may be written. */
  keep(finding: Readonly<Record<string, unknown>>): Promise<void>;
  log(line: LogLine): void;
};

/** A kind of work. `write` takes what is stored, and may be repeated. */
export type Kind<Finding extends Readonly<Record<string, unknown>>> = {
  schema: z.ZodType<Finding>;
  find(work: Work): Promise<Finding>;
  write(work: Work, finding: Finding): Promise<void>;
};

/**
 * The order that makes a finding be written once: it is found, stored, then written. One that an earlier try stored is
 * written as it is, never found anew.
 */
export async function carryOut<Finding extends Readonly<Record<string, unknown>>>(
  kind: Kind<Finding>,
  work: Work,
): Promise<void> {
  const stored = kind.schema.safeParse(work.task.finding);
  const finding = stored.success ? stored.data : await kind.find(work);
  if (!stored.success) await work.keep(finding);
  work.signal.throwIfAborted();
  if (!work.dryRun) await kind.write(work, finding);
}

/** A finding of a dry run says what it would have done. */
export const wouldHave = (work: Work, what: readonly string[]): { would?: string[] } => {
  if (!work.dryRun) return {};
  work.log({ level: "info", text: `Dry run: would ${what.join(", ")}`, task: work.task.id });
  return { would: [...what] };
};

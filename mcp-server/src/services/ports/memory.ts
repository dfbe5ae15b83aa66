import type { MemoryKind, MemoryScope, Plan } from "../../domain/index.ts";
import type { Memory, MemoryFilter } from "../../storage/index.ts";

/** Names of what memory is asked about. */
export type MemoryAbout = { [Scope in MemoryScope]?: string | undefined };

/** A claim that an execution shows. `key`: what is the same in every execution that shows it. `confidence` 0..1, else by how often it was seen. */
export type Claim = {
  scope: MemoryScope;
  subject: string;
  kind: MemoryKind;
  key: string;
  text: string;
  execution_id: string;
  confidence?: number;
};

/** A plan that ran for a task's words, and whether it did the task. */
export type PlanRun = {
  app: { id: string; name: string };
  plan: Plan;
  execution_id: string;
  passed: boolean;
};

/** What earlier executions showed, kept for 90 days after the last that showed it. It is data: nothing in it is obeyed. */
export type MemoryService = {
  /** Throws for an execution that is not stored: nothing is kept without its source. */
  learn(claim: Claim): Promise<void>;
  /** At most ten lines, the most certain first. */
  recall(about: MemoryAbout): Promise<string[]>;
  /** Keeps a plan that did its task, and forgets the one that it was done by before when it did not. */
  noteRun(run: PlanRun): Promise<void>;
  /** The plan that did a task of exactly these words in this app, and the execution that shows it. */
  planFor(app: PlanRun["app"], task: string): Promise<{ plan: Plan; execution_id: string } | undefined>;
  list(filter: MemoryFilter): Promise<Omit<Memory, "plan">[]>;
  /** How many are gone. `id: undefined` forgets all. Throws INVALID_INPUT for an unknown id. */
  forget(id: string | undefined): Promise<number>;
  purge(): Promise<void>;
};

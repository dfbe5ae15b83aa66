import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  isNull,
  lt,
  lte,
  not,
  or,
  sql,
} from "drizzle-orm";
import type { Database } from "../../engine/database.ts";
import { agentTasks } from "../../schema/agents.ts";
import { hasValues } from "../../schema/columns.ts";
import type { AgentTaskState } from "../../schema/taskStates.ts";
import type { Hold } from "./agentSessionRows.ts";

/** A piece of work of an agent without a conversation; times are ISO 8601 UTC. */
export type AgentTask = Omit<typeof agentTasks.$inferSelect, "holder" | "held_until">;
export type NewAgentTask = Pick<AgentTask, "agent" | "key" | "priority" | "event">;
type Changing = "state" | "session_id" | "finding" | "error";
export type AgentTaskPatch = { [Key in Changing]?: AgentTask[Key] | undefined };
export type AgentTaskFilter = {
  agent?: string | undefined;
  state?: AgentTaskState | undefined;
  limit: number;
};

const { holder: _, held_until: __, ...columns } = getTableColumns(agentTasks);
const urgency = sql`case ${agentTasks.priority} when 'critical' then 0 when 'high' then 1 else 2 end`;
const isOpen = inArray(agentTasks.state, ["pending", "running"]);
/** Any fixed number: names the lock among this database's advisory locks ("task" in ASCII). */
const claimLock = 0x7461736b;

export function agentTaskRows(db: Database) {
  return {
    /** False when that agent has a task of that key already. */
    async insert(task: NewAgentTask, now: string): Promise<boolean> {
      const rows = await db
        .insert(agentTasks)
        .values({ ...task, state: "pending", attempts: 0, created_at: now, updated_at: now })
        .onConflictDoNothing({ target: [agentTasks.agent, agentTasks.key] })
        .returning({ id: agentTasks.id });
      return rows.length > 0;
    },

    claim: claiming(db),

    /** False when another has it by now. Without `until` a new state ends the hold, and another change leaves it as it is. */
    async update(
      id: number,
      patch: AgentTaskPatch,
      { holder, now, until }: Omit<Hold, "until"> & { until?: string | undefined },
    ): Promise<boolean> {
      const held_until = until ?? (patch.state && null);
      const rows = await db
        .update(agentTasks)
        .set({ ...patch, held_until, updated_at: now })
        .where(and(eq(agentTasks.id, id), eq(agentTasks.holder, holder)))
        .returning({ id: agentTasks.id });
      return rows.length > 0;
    },

    /** Whoever has it, who then can change it no more. False when it has ended. */
    async cancel(id: number, { error, now }: { error: string; now: string }): Promise<boolean> {
      const end = { state: "cancelled", error, holder: null, held_until: null, updated_at: now } as const;
      const isThis = and(eq(agentTasks.id, id), isOpen);
      const rows = await db.update(agentTasks).set(end).where(isThis).returning({ id: agentTasks.id });
      return rows.length > 0;
    },

    async find(agent: string, key: string): Promise<AgentTask | undefined> {
      const [row] = await db.select(columns).from(agentTasks).where(hasValues(agentTasks, { agent, key }));
      return row;
    },

    /** Whether one of the agent's is pending or running. */
    async hasOpen(agent: string): Promise<boolean> {
      const isOfAgent = and(eq(agentTasks.agent, agent), isOpen);
      return (await db.select({ id: agentTasks.id }).from(agentTasks).where(isOfAgent).limit(1)).length > 0;
    },

    /** Forgets tasks that ended before an instant. */
    async purge(before: string): Promise<void> {
      await db.delete(agentTasks).where(and(not(isOpen), lt(agentTasks.updated_at, before)));
    },

    /** Newest first. */
    async list({ agent, state, limit }: AgentTaskFilter): Promise<AgentTask[]> {
      return db
        .select(columns)
        .from(agentTasks)
        .where(hasValues(agentTasks, { agent, state }))
        .orderBy(desc(agentTasks.id))
        .limit(limit);
    },
  };
}

/**
 * Gives the most urgent, then oldest, open task that is not held, unless `max_parallel` of the agent's are running.
 * Claims wait for each other, so that this holds for all servers on the database.
 */
const claiming =
  (db: Database) =>
  (
    agent: string,
    { holder, now, until, max_parallel }: Hold & { max_parallel: number },
  ): Promise<AgentTask | undefined> =>
    db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${claimLock})`);
      const isOfAgent = eq(agentTasks.agent, agent);
      const running = tx
        .select({ running: count() })
        .from(agentTasks)
        .where(and(isOfAgent, eq(agentTasks.state, "running"), gt(agentTasks.held_until, now)));
      const isFree = or(isNull(agentTasks.held_until), lte(agentTasks.held_until, now));
      const next = tx
        .select({ id: agentTasks.id })
        .from(agentTasks)
        .where(and(isOfAgent, isOpen, isFree, sql`(${running}) < ${max_parallel}`))
        .orderBy(urgency, asc(agentTasks.id))
        .limit(1)
        // A holder that renews just now keeps its task.
        .for("update", { skipLocked: true });
      const [task] = await tx
        .update(agentTasks)
        .set({
          ...{ state: "running", holder, held_until: until, updated_at: now },
          attempts: sql`${agentTasks.attempts} + 1`,
        })
        .where(sql`${agentTasks.id} = (${next})`)
        .returning(columns);
      return task;
    });

import { and, asc, desc, eq, lte, or, sql } from "drizzle-orm";
import { agentTasks } from "./agentSchema.ts";
import type { Hold } from "./agentSessionRows.ts";
import type { Database } from "./database.ts";
import type { AgentTaskState } from "./taskStates.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** A piece of work of an agent that nobody talks to; times are ISO 8601 UTC. */
export type AgentTask = {
  id: number;
  agent: string;
  key: string;
  priority: "critical" | "high" | "normal";
  state: AgentTaskState;
  event: JsonObject;
  attempts: number;
  session_id: string | null;
  finding: JsonObject | null;
  error: string | null;
  created_at: string;
  updated_at: string;
};
export type NewAgentTask = Pick<AgentTask, "agent" | "key" | "priority" | "event">;
type Changing = "state" | "session_id" | "finding" | "error";
export type AgentTaskPatch = { [Key in Changing]?: AgentTask[Key] | undefined };
export type AgentTaskFilter = {
  agent?: string | undefined;
  state?: AgentTaskState | undefined;
  limit: number;
};
const urgency = sql`case ${agentTasks.priority} when 'critical' then 0 when 'high' then 1 else 2 end`;

export function agentTaskRows(db: Database) {
  return {
    /** False when that agent has a task of that key already. */
    async insert({ agent, key, priority, event }: NewAgentTask, now: string): Promise<boolean> {
      const rows = await db
        .insert(agentTasks)
        .values({
          ...{ agent, key, priority, event },
          ...{ state: "pending", attempts: 0, createdAt: now, updatedAt: now },
        })
        .onConflictDoNothing({ target: [agentTasks.agent, agentTasks.key] })
        .returning({ id: agentTasks.id });
      return rows.length > 0;
    },

    ...holding(db),

    /** Newest first. */
    async list({ agent, state, limit }: AgentTaskFilter): Promise<AgentTask[]> {
      const rows = await db
        .select()
        .from(agentTasks)
        .where(
          and(
            agent === undefined ? undefined : eq(agentTasks.agent, agent),
            state === undefined ? undefined : eq(agentTasks.state, state),
          ),
        )
        .orderBy(desc(agentTasks.id))
        .limit(limit);
      return rows.map(toTask);
    },
  };
}

function holding(db: Database) {
  return {
    /**
     * Gives the most urgent, then oldest, task that is pending, or running with a holder whose time is over. One statement:
     * who asks at once gets another one.
     */
    async claim(agent: string, { holder, now, until }: Hold): Promise<AgentTask | undefined> {
      const isAbandoned = and(eq(agentTasks.state, "running"), lte(agentTasks.heldUntil, now));
      const next = db
        .select({ id: agentTasks.id })
        .from(agentTasks)
        .where(and(eq(agentTasks.agent, agent), or(eq(agentTasks.state, "pending"), isAbandoned)))
        .orderBy(urgency, asc(agentTasks.id))
        .limit(1)
        .for("update", { skipLocked: true });
      const [row] = await db
        .update(agentTasks)
        .set({
          ...{ state: "running", holder, heldUntil: until, updatedAt: now },
          attempts: sql`${agentTasks.attempts} + 1`,
        })
        .where(sql`${agentTasks.id} = (${next})`)
        .returning();
      return row && toTask(row);
    },

    /** False when another has it by now. Without `until` its time goes on as it was. */
    async update(
      id: number,
      patch: AgentTaskPatch,
      { holder, now, until }: Omit<Hold, "until"> & { until?: string | undefined },
    ): Promise<boolean> {
      const { session_id: sessionId, ...same } = patch;
      const rows = await db
        .update(agentTasks)
        .set({
          ...same,
          ...(sessionId !== undefined && { sessionId }),
          ...(until !== undefined && { heldUntil: until }),
          updatedAt: now,
        })
        .where(and(eq(agentTasks.id, id), eq(agentTasks.holder, holder)))
        .returning({ id: agentTasks.id });
      return rows.length > 0;
    },
  };
}

function toTask(row: typeof agentTasks.$inferSelect): AgentTask {
  return {
    id: row.id,
    agent: row.agent,
    key: row.key,
    priority: row.priority,
    state: row.state,
    event: row.event,
    attempts: row.attempts,
    session_id: row.sessionId,
    finding: row.finding,
    error: row.error,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

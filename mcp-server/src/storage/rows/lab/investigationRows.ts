import { and, asc, desc, eq, lt, ne, type SQL, sql } from "drizzle-orm";
import type { SkillSpending, SkillUse } from "../../../domain/index.ts";
import type { Database } from "../../engine/database.ts";
import { everyColumn, hasValues, type WithoutNulls, withoutNulls } from "../../schema/columns.ts";
import { agentSessions, investigations } from "../../schema/index.ts";

/** An investigation with the whole state of its tree; times are ISO 8601 UTC. `reason` says why it `failed`. */
export type Investigation = WithoutNulls<typeof investigations.$inferSelect>;

export type InvestigationRows = ReturnType<typeof investigationRows>;

export function investigationRows(db: Database) {
  return {
    ...useRows(db),

    async insert(row: Investigation): Promise<void> {
      await db.insert(investigations).values(row);
    },

    async find(id: string): Promise<Investigation | undefined> {
      const [row] = await db.select().from(investigations).where(eq(investigations.id, id));
      return row && withoutNulls(row);
    },

    /** Stores the row as the next revision. False, and nothing stored, when another was stored since it was read. */
    async save(row: Investigation): Promise<boolean> {
      const saved = await db
        .update(investigations)
        .set(everyColumn(investigations, { ...row, revision: row.revision + 1 }))
        .where(and(eq(investigations.id, row.id), eq(investigations.revision, row.revision)))
        .returning({ id: investigations.id });
      return saved.length > 0;
    },

    /** Those that a process of this host works on or was working on, oldest first. */
    async runningOn(hostName: string): Promise<Investigation[]> {
      const rows = await db
        .select()
        .from(investigations)
        .where(and(eq(investigations.host_name, hostName), eq(investigations.status, "running")))
        .orderBy(asc(investigations.started_at));
      return rows.map(withoutNulls);
    },

    /** Those that wait for a person, the latest first. */
    async waiting(limit: number): Promise<Investigation[]> {
      const rows = await db
        .select()
        .from(investigations)
        .where(eq(investigations.status, "waiting"))
        .orderBy(desc(investigations.updated_at))
        .limit(limit);
      return rows.map(withoutNulls);
    },

    /** Those that changed last before `at` and do not run. */
    async purge(at: string): Promise<void> {
      await db
        .delete(investigations)
        .where(and(lt(investigations.updated_at, at), ne(investigations.status, "running")));
    },
  };
}

const whole = (expression: SQL) => sql<number>`(${expression})::int`.mapWith(Number);
const mean = (expression: SQL) => sql<number>`coalesce(avg(${expression}), 0)`.mapWith(Number);
const countOf = (condition: SQL) => whole(sql`count(*) filter (where ${condition})`);

function useRows(db: Database) {
  return {
    /** By skill; those of one, or of all. */
    async uses(skill?: string): Promise<SkillUse[]> {
      const { confirmed, root_cause, handoffs, rating, status } = investigations;
      const users = sql`count(distinct ${investigations.principal})`;
      return db
        .select({
          skill: investigations.skill,
          runs: whole(sql`count(*)`),
          done: countOf(sql`${status} = 'done'`),
          users: whole(users),
          repeats: whole(sql`count(*) - ${users}`),
          mean_ms: mean(sql`${investigations.active_ms}`),
          mean_steps: mean(sql`${investigations.steps}`),
          mean_calls: mean(sql`${investigations.calls}`),
          cached: whole(sql`sum(${investigations.cached})`),
          source_ms: whole(sql`sum(${investigations.source_ms})`),
          handoffs: whole(sql`sum(${handoffs})`),
          asked: countOf(sql`${handoffs} > 0`),
          rated: whole(sql`count(${rating})`),
          rating: sql<number | null>`avg(${rating})::float8`,
          confirmed: whole(sql`count(${confirmed})`),
          right: countOf(sql`${confirmed}`),
          wrong: countOf(sql`not ${confirmed} and ${root_cause} is not null`),
        })
        .from(investigations)
        .where(hasValues(investigations, { skill }))
        .groupBy(investigations.skill)
        .orderBy(asc(investigations.skill));
    },

    /** Of skills that conversations with an agent used. */
    async spending(skill?: string): Promise<SkillSpending[]> {
      const { usage } = agentSessions;
      const tokens = sql.join(
        ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(
          (name) => sql`(${usage}->>${sql.raw(`'${name}'`)})::bigint`,
        ),
        sql` + `,
      );
      const rows = await db
        .select({
          skill: agentSessions.skill,
          conversations: whole(sql`count(*)`),
          tokens: sql<number>`coalesce(sum(${tokens}), 0)`.mapWith(Number),
          cost_usd: sql<number>`coalesce(sum(${agentSessions.cost_usd}), 0)`.mapWith(Number),
        })
        .from(agentSessions)
        .where(skill === undefined ? sql`${agentSessions.skill} is not null` : eq(agentSessions.skill, skill))
        .groupBy(agentSessions.skill);
      return rows.flatMap(({ skill: name, ...spent }) => (name === null ? [] : [{ skill: name, ...spent }]));
    },
  };
}

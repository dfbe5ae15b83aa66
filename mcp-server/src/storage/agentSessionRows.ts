import { and, asc, count, desc, eq, getTableColumns, gt, isNull, lte, or, sql } from "drizzle-orm";
import { type AgentUsage, agentEvents, agentMessages, agentSessions } from "./agentSchema.ts";
import type { Database } from "./database.ts";

/** A conversation with an agent; times are ISO 8601 UTC. */
export type AgentSession = Omit<typeof agentSessions.$inferSelect, "holder" | "held_until">;
export type NewAgentSession = Pick<AgentSession, "id" | "agent" | "owner" | "title">;
type Changing = "title" | "skill" | "usage" | "cost_usd" | "saved_usd" | "turns" | "outcome";
export type AgentSessionPatch = { [Key in Changing]?: AgentSession[Key] | undefined };

/** One message or event of a conversation; `seq` is its place. */
export type AgentEntry = { seq: number; body: Readonly<Record<string, unknown>> };
export type AgentEntries = {
  messages: readonly AgentEntry[];
  events: readonly AgentEntry[];
  patch: AgentSessionPatch;
};
/** `after` is the last seq that the reader has; a page ends early after `bytes`, but has one entry at least. */
export type EntryRange = { after: number; limit: number; bytes: number };
/** `now` and `until` are instants of the caller's clock. */
export type Hold = { holder: string; now: string; until: string };

const { holder: _, held_until: __, ...columns } = getTableColumns(agentSessions);
const noUsage: AgentUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

export function agentSessionRows(db: Database) {
  return {
    /** What is there under that id already stays. */
    async insert(session: NewAgentSession, now: string): Promise<AgentSession> {
      const start = { usage: noUsage, cost_usd: 0, saved_usd: 0, turns: 0, created_at: now, updated_at: now };
      const [row] = await db
        .insert(agentSessions)
        .values({ ...session, ...start })
        // Changes nothing, but gives the row back.
        .onConflictDoUpdate({ target: agentSessions.id, set: { id: session.id } })
        .returning(columns);
      if (row === undefined) throw new Error("an insert returned no row");
      return row;
    },

    async find(id: string): Promise<AgentSession | undefined> {
      const [row] = await db.select(columns).from(agentSessions).where(eq(agentSessions.id, id));
      return row;
    },

    /** Newest first. */
    async list({ owner, limit }: { owner?: string | undefined; limit: number }): Promise<AgentSession[]> {
      return db
        .select(columns)
        .from(agentSessions)
        .where(owner === undefined ? undefined : eq(agentSessions.owner, owner))
        .orderBy(desc(agentSessions.created_at), desc(agentSessions.id))
        .limit(limit);
    },

    /** With its messages and events. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const rows = await db
        .delete(agentSessions)
        .where(eq(agentSessions.id, id))
        .returning({ id: agentSessions.id });
      return rows.length > 0;
    },

    ...holding(db),
    ...entries(db),
  };
}

function holding(db: Database) {
  return {
    /** False when another has it, or there is none. */
    async hold(id: string, { holder, now, until }: Hold): Promise<boolean> {
      const isFree = or(
        isNull(agentSessions.holder),
        eq(agentSessions.holder, holder),
        lte(agentSessions.held_until, now),
      );
      const rows = await db
        .update(agentSessions)
        .set({ holder, held_until: until })
        .where(and(eq(agentSessions.id, id), isFree))
        .returning({ id: agentSessions.id });
      return rows.length > 0;
    },

    async letGo(id: string, holder: string): Promise<void> {
      await db
        .update(agentSessions)
        .set({ holder: null, held_until: null })
        .where(and(eq(agentSessions.id, id), eq(agentSessions.holder, holder)));
    },

    /** How many have a holder whose time is not over. */
    async held(now: string): Promise<number> {
      const [row] = await db
        .select({ held: count() })
        .from(agentSessions)
        .where(gt(agentSessions.held_until, now));
      return row?.held ?? 0;
    },
  };
}

function entries(db: Database) {
  return {
    /**
     * All or nothing, in a transaction of its own. What is there already under its `seq` stays; when nothing of what came
     * is new, the call is a repeated one and its patch, which may be old by now, is left out.
     */
    async append(
      id: string,
      { messages, events, patch }: AgentEntries,
      { holder, now }: Omit<Hold, "until">,
    ): Promise<"done" | "busy" | "missing"> {
      return db.transaction(async (tx) => {
        const [session] = await tx
          .select({ holder: agentSessions.holder, held_until: agentSessions.held_until })
          .from(agentSessions)
          .where(eq(agentSessions.id, id))
          .for("update");
        if (session === undefined) return "missing";
        const isHeld = session.held_until !== null && session.held_until > now;
        if (isHeld && session.holder !== holder) return "busy";
        const added =
          (await insertEntries(tx, agentMessages, id, messages)) +
          (await insertEntries(tx, agentEvents, id, events));
        const isRepeated = added === 0 && messages.length + events.length > 0;
        if (isRepeated) return "done";
        await tx
          .update(agentSessions)
          .set({ ...patch, updated_at: now })
          .where(eq(agentSessions.id, id));
        return "done";
      });
    },

    messages: (id: string, range: EntryRange) => readEntries(db, agentMessages, id, range),
    events: (id: string, range: EntryRange) => readEntries(db, agentEvents, id, range),
  };
}

type EntryTable = typeof agentMessages | typeof agentEvents;

async function insertEntries(
  tx: Database,
  table: EntryTable,
  session_id: string,
  given: readonly AgentEntry[],
): Promise<number> {
  if (given.length === 0) return 0;
  const rows = await tx
    .insert(table)
    .values(given.map(({ seq, body }) => ({ session_id, seq, body })))
    .onConflictDoNothing()
    .returning({ seq: table.seq });
  return rows.length;
}

async function readEntries(
  db: Database,
  table: EntryTable,
  session_id: string,
  { after, limit, bytes }: EntryRange,
): Promise<AgentEntry[]> {
  const before = sql`coalesce(sum(octet_length(${table.body})) over (order by ${table.seq} rows between unbounded preceding and 1 preceding), 0)`;
  const page = db
    .select({ seq: table.seq, body: table.body, before: before.as("before") })
    .from(table)
    .where(and(eq(table.session_id, session_id), gt(table.seq, after)))
    .orderBy(asc(table.seq))
    .limit(limit)
    .as("page");
  return db
    .select({ seq: page.seq, body: page.body })
    .from(page)
    .where(sql`${page.before} < ${bytes}`)
    .orderBy(asc(page.seq));
}

import { and, asc, count, desc, eq, getTableColumns, gt, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { type AgentUsage, agentEvents, agentMessages, agentSessions } from "./agentSchema.ts";
import type { Database } from "./database.ts";

/** A conversation with an agent; times are ISO 8601 UTC. */
export type AgentSession = Omit<typeof agentSessions.$inferSelect, "holder" | "held_until">;
export type NewAgentSession = Pick<AgentSession, "id" | "agent" | "owner" | "title">;
type Changing = "title" | "skill" | "usage" | "cost_usd" | "saved_usd" | "turns" | "outcome";
export type AgentSessionPatch = { [Key in Changing]?: AgentSession[Key] | undefined };

/** `is_changed`: others may have added to it since its holder last held it. */
export type HeldSession = { session: AgentSession; is_changed: boolean };

/** One message or event of a conversation; `seq` is its place. */
export type AgentEntry = { seq: number; body: object };
export type AgentEntries = {
  messages: readonly AgentEntry[];
  events: readonly AgentEntry[];
  patch: AgentSessionPatch;
  /** Whether the holder lets go with it. */
  lets_go?: boolean;
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
  const given = {
    id: sql.placeholder("id"),
    holder: sql.placeholder("holder"),
    now: sql.placeholder("now"),
    until: sql.placeholder("until"),
  };
  const before = db
    .select({ id: agentSessions.id, holder: agentSessions.holder })
    .from(agentSessions)
    .where(eq(agentSessions.id, given.id))
    .for("update")
    .as("before");
  const isFree = or(
    isNull(agentSessions.held_until),
    eq(agentSessions.holder, given.holder),
    lte(agentSessions.held_until, given.now),
  );
  const take = db
    .update(agentSessions)
    .set({ holder: sql`${given.holder}`, held_until: sql`${given.until}::timestamptz` })
    .from(before)
    .where(and(eq(agentSessions.id, before.id), isFree))
    .returning({ session: columns, last: before.holder })
    .prepare("hold_agent_session");
  return {
    /** Undefined when another has it, or there is none. */
    async hold(id: string, { holder, now, until }: Hold): Promise<HeldSession | undefined> {
      const [row] = await take.execute({ id, holder, now, until });
      return row && { session: row.session, is_changed: row.last !== holder };
    },

    /** Its name stays, so that its next hold tells whether another came between. */
    async letGo(id: string, holder: string): Promise<void> {
      await db
        .update(agentSessions)
        .set({ held_until: null })
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
     * All or nothing, in one statement. What is there already under its `seq` stays; when nothing of what came is new, the
     * call is a repeated one and its patch, which may be old by now, is left out.
     */
    async append(
      id: string,
      { messages, events, patch, lets_go }: AgentEntries,
      { holder, now }: Omit<Hold, "until">,
    ): Promise<"done" | "busy" | "missing"> {
      const mayAdd = sql`exists (select from session where not is_busy)`;
      const isNew = sql`(${messages.length + events.length} = 0 or exists (select from messages) or exists (select from events))`;
      const patched = db
        .update(agentSessions)
        .set({ ...patch, updated_at: now, ...(lets_go && { held_until: null }) })
        .where(and(eq(agentSessions.id, id), mayAdd, isNew));
      const { rows } = await db.execute<{ is_busy: boolean }>(sql`
        with session as (
          select coalesce(held_until > ${now} and holder <> ${holder}, false) as is_busy
          from ${agentSessions} where id = ${id} for update
        ),
        messages as (${inserted(agentMessages, id, messages, mayAdd)}),
        events as (${inserted(agentEvents, id, events, mayAdd)}),
        patched as ${patched}
        select is_busy from session`);
      const [session] = rows;
      if (session === undefined) return "missing";
      return session.is_busy ? "busy" : "done";
    },

    messages: (id: string, range: EntryRange) => readEntries(db, agentMessages, id, range),
    events: (id: string, range: EntryRange) => readEntries(db, agentEvents, id, range),
  };
}

type EntryTable = typeof agentMessages | typeof agentEvents;

/** An insert that gives back those which were not there. */
function inserted(table: EntryTable, id: string, entries: readonly AgentEntry[], mayAdd: SQL): SQL {
  if (entries.length === 0) return sql`select where false`;
  const rows = entries.map(({ seq, body }) => sql`(${seq}::integer, ${JSON.stringify(body)}::text)`);
  return sql`insert into ${table} (session_id, seq, body)
    select ${id}, seq, body from (values ${sql.join(rows, sql`, `)}) as given (seq, body)
    where ${mayAdd} on conflict do nothing returning seq`;
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

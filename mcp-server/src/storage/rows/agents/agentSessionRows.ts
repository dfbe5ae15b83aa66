import { and, asc, count, desc, eq, getTableColumns, gt, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Database } from "../../engine/database.ts";
import { type AgentUsage, agentEvents, agentMessages, agentSessions } from "../../schema/agents.ts";
import { hasValues } from "../../schema/columns.ts";

/** A conversation with an agent; times are ISO 8601 UTC. */
export type AgentSession = Omit<typeof agentSessions.$inferSelect, "holder" | "held_until">;
export type NewAgentSession = Pick<AgentSession, "id" | "agent" | "owner" | "title">;
type Changing = (typeof changing)[number];
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
        .where(hasValues(agentSessions, { owner }))
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

    /** Forgets conversations that were neither changed nor held since an instant, with their messages and events. */
    async purge(before: string): Promise<void> {
      const { updated_at, held_until } = agentSessions;
      const isFree = or(isNull(held_until), lt(held_until, before));
      await db.delete(agentSessions).where(and(lt(updated_at, before), isFree));
    },

    ...holding(db),
    ...entries(db),
  };
}

function holding(db: Database) {
  const before = db
    .select({ id: agentSessions.id, holder: agentSessions.holder })
    .from(agentSessions)
    .where(eq(agentSessions.id, sql.placeholder("id")))
    .for("update")
    .as("before");
  const isFree = or(
    isNull(agentSessions.held_until),
    eq(agentSessions.holder, sql.placeholder("holder")),
    lte(agentSessions.held_until, sql.placeholder("now")),
  );
  const take = db
    .update(agentSessions)
    .set({ holder: given("holder"), held_until: sql`${given("until")}::timestamptz` })
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

    /** Its name stays, so that its next hold shows whether another came between. */
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
  const add = appending(db);
  return {
    /**
     * All or nothing, in one statement. What is there already under its `seq` stays; when nothing of what came is new, the
     * call is a repeated one and its patch, which may be old by now, is left out.
     */
    async append(
      id: string,
      { messages, events, patch, lets_go = false }: AgentEntries,
      by: Omit<Hold, "until">,
    ): Promise<"done" | "busy" | "missing"> {
      const is_empty = messages.length + events.length === 0;
      const entries = { ...columnsOf("messages", messages), ...columnsOf("events", events), is_empty };
      const [session] = await add.execute({ id, ...by, ...entries, patch: JSON.stringify(patch), lets_go });
      if (session === undefined) return "missing";
      return session.is_busy ? "busy" : "done";
    },

    messages: (id: string, range: EntryRange) => readEntries(db, agentMessages, id, range),
    events: (id: string, range: EntryRange) => readEntries(db, agentEvents, id, range),
  };
}

type EntryTable = typeof agentMessages | typeof agentEvents;
const changing = ["title", "skill", "usage", "cost_usd", "saved_usd", "turns", "outcome"] as const;
const given = (name: string) => sql`${sql.placeholder(name)}`;

const columnsOf = (name: "messages" | "events", entries: readonly AgentEntry[]) => ({
  [`${name}_seqs`]: entries.map(({ seq }) => seq),
  [`${name}_bodies`]: entries.map(({ body }) => JSON.stringify(body)),
});

/** What adds entries to a conversation, prepared once. */
function appending(db: Database) {
  const { id, holder, held_until } = agentSessions;
  const isBusy = sql<boolean>`coalesce(${held_until} > ${given("now")}::timestamptz and ${holder} <> ${given("holder")}, false)`;
  const ofId = eq(id, sql.placeholder("id"));
  const session = db.$with("session").as(
    db
      .select({ is_busy: isBusy.as("is_busy") })
      .from(agentSessions)
      .where(ofId)
      .for("update"),
  );
  const mayAdd = sql`exists (select from session where not is_busy)`;
  const added = (table: EntryTable, name: "messages" | "events") =>
    db.$with(name).as(
      db
        .insert(table)
        .select(
          sql`select ${given("id")}::text, seq, body from unnest(${given(`${name}_seqs`)}::integer[], ${given(`${name}_bodies`)}::text[]) as given (seq, body) where ${mayAdd}`,
        )
        .onConflictDoNothing()
        .returning({ seq: table.seq }),
    );
  const isNew = sql`(${given("is_empty")}::boolean or exists (select from messages) or exists (select from events))`;
  const patched = sql`jsonb_populate_record(${agentSessions}, ${given("patch")}::jsonb)`;
  const patch = Object.fromEntries(changing.map((name) => [name, sql`(${patched}).${sql.identifier(name)}`]));
  const lets = sql`case when ${given("lets_go")}::boolean then null else ${held_until} end`;
  const change = db.$with("change").as(
    db
      .update(agentSessions)
      .set({ ...patch, updated_at: sql`${given("now")}::timestamptz`, held_until: lets })
      .where(and(ofId, mayAdd, isNew))
      .returning({ id }),
  );
  return db
    .with(session, added(agentMessages, "messages"), added(agentEvents, "events"), change)
    .select({ is_busy: session.is_busy })
    .from(session)
    .prepare("append_agent_entries");
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

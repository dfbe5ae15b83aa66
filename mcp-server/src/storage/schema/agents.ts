import {
  bigserial,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { instant, jsonText } from "./columns.ts";
import type { AgentTaskState } from "./taskStates.ts";

/** Tokens of all requests of a conversation, as the Messages API counts them. */
export type AgentUsage = {
  input_tokens: number;
  output_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
};
type Priority = "critical" | "high" | "normal";

/** A conversation with an agent. Only `holder` may add to it until `held_until`; then, or with none, anyone. */
export const agentSessions = pgTable(
  "agent_sessions",
  {
    id: text("id").primaryKey(),
    agent: text("agent").notNull(),
    owner: text("owner").notNull(),
    title: text("title").notNull(),
    skill: text("skill"),
    usage: jsonb("usage").$type<AgentUsage>().notNull(),
    cost_usd: doublePrecision("cost_usd").notNull(),
    saved_usd: doublePrecision("saved_usd").notNull(),
    turns: integer("turns").notNull(),
    outcome: text("outcome"),
    holder: text("holder"),
    held_until: instant("held_until"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [
    index("agent_sessions_owner").on(t.owner, t.created_at),
    index("agent_sessions_age").on(t.created_at),
  ],
);

const entryColumns = () => ({
  session_id: text("session_id")
    .notNull()
    .references(() => agentSessions.id, { onDelete: "cascade" }),
  seq: integer("seq").notNull(),
  body: jsonText("body").notNull(),
});

/** What a model is sent of a conversation, in the form of the Messages API. */
export const agentMessages = pgTable("agent_messages", entryColumns(), (t) => [
  primaryKey({ columns: [t.session_id, t.seq] }),
]);

/** What a conversation said of itself. */
export const agentEvents = pgTable("agent_events", entryColumns(), (t) => [
  primaryKey({ columns: [t.session_id, t.seq] }),
]);

/** A message between roles, a routing decision among them; `body` is the whole envelope. */
export const roleMessages = pgTable(
  "role_messages",
  {
    seq: bigserial("seq", { mode: "number" }).primaryKey(),
    message_id: text("message_id").notNull().unique(),
    correlation_id: text("correlation_id").notNull(),
    owner: text("owner").notNull(),
    at: instant("at").notNull(),
    body: jsonText("body").notNull(),
  },
  (t) => [index("role_messages_correlation").on(t.correlation_id, t.seq)],
);

/** Work of an agent without a conversation; an agent has each `key` once. */
export const agentTasks = pgTable(
  "agent_tasks",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    agent: text("agent").notNull(),
    key: text("key").notNull(),
    priority: text("priority").$type<Priority>().notNull(),
    state: text("state").$type<AgentTaskState>().notNull(),
    event: jsonText("event").notNull(),
    attempts: integer("attempts").notNull(),
    session_id: text("session_id"),
    finding: jsonText("finding"),
    error: text("error"),
    holder: text("holder"),
    held_until: instant("held_until"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [
    uniqueIndex("agent_tasks_key").on(t.agent, t.key),
    index("agent_tasks_state").on(t.agent, t.state, t.id),
  ],
);

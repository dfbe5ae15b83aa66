import { bigint, bigserial, index, integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import type { Execution, Params, Step } from "../../domain/index.ts";
import { instant } from "./columns.ts";

export const executions = pgTable(
  "executions",
  {
    id: text("id").primaryKey(),
    kind: text("kind").$type<Execution["kind"]>().notNull(),
    name: text("name").notNull(),
    status: text("status").$type<Execution["status"]>().notNull(),
    reason: jsonb("reason").$type<Execution["reason"]>(),
    input: jsonb("input").notNull(),
    started_at: instant("started_at").notNull(),
    finished_at: instant("finished_at"),
    duration_ms: integer("duration_ms"),
    host_name: text("host_name").notNull(),
    device: text("device"),
    device_model: text("device_model"),
    device_version: text("device_version"),
    /** Where a cloud shows the session in which the device was driven. */
    session_url: text("session_url"),
    environment: text("environment"),
    release: text("release"),
    build: text("build"),
    userinterface: text("userinterface"),
    /** That of the test case: two projects may have tests of one name. */
    project: text("project"),
    triggered_by: text("triggered_by").notNull(),
    correlation_id: text("correlation_id").notNull(),
    verified_count: integer("verified_count").notNull(),
    outputs: jsonb("outputs").$type<Params>().notNull(),
    /** The run's own result, by kind: an action report, a navigation report, a test case's block results. */
    result: jsonb("result"),
  },
  (t) => [
    index("executions_status").on(t.status),
    index("executions_started").on(t.started_at),
    index("executions_name").on(t.kind, t.name, t.started_at),
  ],
);

export const steps = pgTable(
  "steps",
  {
    execution_id: text("execution_id")
      .notNull()
      .references(() => executions.id, { onDelete: "cascade" }),
    index: integer("index").notNull(),
    body: jsonb("body").$type<Step>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.execution_id, t.index] })],
);

/** Files outside the database, named by their sha256; each host has its own. */
export const artifacts = pgTable(
  "artifacts",
  {
    sha256: text("sha256").notNull(),
    host_name: text("host_name").notNull(),
    mime_type: text("mime_type").notNull(),
    bytes: bigint("bytes", { mode: "number" }).notNull(),
    created_at: instant("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sha256, t.host_name] }),
    index("artifacts_host_age").on(t.host_name, t.created_at, t.sha256),
  ],
);

/** Written in the transaction of what they report; read in order from a cursor. */
export const events = pgTable(
  "events",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    type: text("type").notNull(),
    priority: text("priority").$type<"critical" | "high" | "normal">().notNull(),
    source: text("source").notNull(),
    device_id: text("device_id"),
    execution_id: text("execution_id"),
    alert_id: text("alert_id"),
    payload: jsonb("payload").$type<Params>().notNull(),
    at: instant("at").notNull(),
    /** The id under which it was sent here. */
    delivery: text("delivery").unique(),
  },
  (t) => [index("events_device_type").on(t.device_id, t.type, t.at)],
);

export const eventCursors = pgTable("event_cursors", {
  consumer: text("consumer").primaryKey(),
  event_id: bigint("event_id", { mode: "number" }).notNull(),
});

/** Who did what to which device, with which fence, and how it ended. */
export const audit = pgTable(
  "audit",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    tool: text("tool").notNull(),
    device_id: text("device_id"),
    fence: bigint("fence", { mode: "number" }),
    outcome: text("outcome").notNull(),
    duration_ms: integer("duration_ms").notNull(),
    trace_id: text("trace_id").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [index("audit_at").on(t.at)],
);

/** Calls that may be repeated by key: the stored result is given back, an unfinished one is never run twice. */
export const idempotency = pgTable(
  "idempotency",
  {
    principal: text("principal").notNull(),
    key: text("key").notNull(),
    tool: text("tool").notNull(),
    /** sha256 of the arguments: a key with other arguments is refused. */
    input_hash: text("input_hash").notNull(),
    result: jsonb("result"),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.principal, t.key] })],
);

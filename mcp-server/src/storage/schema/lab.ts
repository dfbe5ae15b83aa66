import { sql } from "drizzle-orm";
import {
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  pgView,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type {
  AlertState,
  AlertTriage,
  Coverage,
  InvestigationStatus,
  MemoryKind,
  MemoryScope,
  Params,
  RequirementPriority,
  RequirementStatus,
} from "../../domain/index.ts";
import { testcases } from "./apps.ts";
import { instant, jsonText } from "./columns.ts";
import { executions } from "./records.ts";

export const requirements = pgTable(
  "requirements",
  {
    id: text("id").primaryKey(),
    code: text("code").notNull(),
    name: text("name").notNull(),
    description: text("description").notNull(),
    priority: text("priority").$type<RequirementPriority>().notNull(),
    category: text("category"),
    acceptance_criteria: jsonb("acceptance_criteria").$type<string[]>().notNull(),
    status: text("status").$type<RequirementStatus>().notNull(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("requirements_code").on(t.code)],
);

/** Which test cases check a requirement, and how much of it. */
export const requirementLinks = pgTable(
  "requirement_links",
  {
    requirement_id: text("requirement_id")
      .notNull()
      .references(() => requirements.id, { onDelete: "cascade" }),
    testcase_id: text("testcase_id")
      .notNull()
      .references(() => testcases.id, { onDelete: "cascade" }),
    coverage: text("coverage").$type<Coverage>().notNull(),
    at: instant("at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.requirement_id, t.testcase_id] }),
    index("requirement_links_testcase").on(t.testcase_id),
  ],
);

/** What covers a requirement: links, and test cases that say so themselves. What is archived covers nothing. */
export const requirementCoverage = pgView("requirement_coverage", {
  requirement_id: text("requirement_id").notNull(),
  testcase_id: text("testcase_id").notNull(),
  coverage: text("coverage").$type<Coverage>().notNull(),
}).as(sql`
  select l.requirement_id, l.testcase_id, l.coverage
  from requirement_links l join testcases t on t.id = l.testcase_id and t.archived_at is null
  union
  select r.id, t.id, 'full'
  from testcases t cross join jsonb_array_elements_text(t.body->'covers') c(code) join requirements r on r.code = c.code
  where t.archived_at is null
    and not exists (select 1 from requirement_links l where l.requirement_id = r.id and l.testcase_id = t.id)`);

/** Something that went wrong on a device or outside it. Its pictures are artifact URIs. */
export const alerts = pgTable(
  "alerts",
  {
    id: text("id").primaryKey(),
    kind: text("kind").notNull(),
    device_id: text("device_id"),
    source: text("source").notNull(),
    message: text("message").notNull(),
    state: text("state").$type<AlertState>().notNull(),
    triage: text("triage").$type<AlertTriage>(),
    triage_reason: text("triage_reason"),
    triaged_by: text("triaged_by"),
    start_frame: text("start_frame"),
    end_frame: text("end_frame"),
    details: jsonb("details").$type<Params>().notNull(),
    started_at: instant("started_at").notNull(),
    resolved_at: instant("resolved_at"),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [index("alerts_state").on(t.state, t.started_at), index("alerts_device").on(t.device_id)],
);

/** What earlier executions showed. `id` is a hash of what is claimed, so that a claim is one row. */
export const memories = pgTable(
  "memories",
  {
    id: text("id").primaryKey(),
    scope: text("scope").$type<MemoryScope>().notNull(),
    /** The name of the userinterface or test, or the id of the device. */
    subject: text("subject").notNull(),
    kind: text("kind").$type<MemoryKind>().notNull(),
    text: text("text").notNull(),
    /** Of a sequence: the plan that worked. */
    plan: jsonText("plan"),
    /** The newest execution that showed it. */
    execution_id: text("execution_id")
      .notNull()
      .references(() => executions.id, { onDelete: "cascade" }),
    /** 0..1 */
    confidence: doublePrecision("confidence").notNull(),
    /** In so many executions. */
    seen: integer("seen").notNull(),
    at: instant("at").notNull(),
    expires_at: instant("expires_at").notNull(),
  },
  (t) => [index("memories_subject").on(t.scope, t.subject), index("memories_expiry").on(t.expires_at)],
);

/** Investigations by decision trees. `revision` counts the stored states, so that of two answers at once only one is taken. */
export const investigations = pgTable(
  "investigations",
  {
    id: text("id").primaryKey(),
    skill: text("skill").notNull(),
    skill_version: text("skill_version").notNull(),
    status: text("status").$type<InvestigationStatus>().notNull(),
    question: text("question"),
    /** The skill as it was at the start: an edit of its files changes no investigation that is under way. */
    definition: jsonText("definition").notNull(),
    /** Of the tree's engine, after the last step that ended. */
    state: jsonText("state").notNull(),
    revision: integer("revision").notNull(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    host_name: text("host_name").notNull(),
    /** The run that works on it now, or did last. */
    execution_id: text("execution_id"),
    /** Runs that a killed server left, in a row without a step between them. */
    interruptions: integer("interruptions").notNull(),
    steps: integer("steps").notNull(),
    /** Requests to databases, APIs and tools; those that a cache answered are not among them. */
    calls: integer("calls").notNull(),
    cached: integer("cached").notNull(),
    /** Milliseconds that databases, APIs and tools worked for it. */
    source_ms: integer("source_ms").notNull(),
    /** Milliseconds that runs worked on it, without the time in which a person was waited for. */
    active_ms: integer("active_ms").notNull(),
    handoffs: integer("handoffs").notNull(),
    root_cause: text("root_cause"),
    confidence: doublePrecision("confidence"),
    result: jsonText("result"),
    reason: jsonText("reason"),
    /** What a person says of it: 1 to 5, and whether the root cause was the real one. */
    rating: integer("rating"),
    confirmed: boolean("confirmed"),
    started_at: instant("started_at").notNull(),
    updated_at: instant("updated_at").notNull(),
    finished_at: instant("finished_at"),
  },
  (t) => [
    index("investigations_skill").on(t.skill, t.started_at),
    index("investigations_status").on(t.host_name, t.status),
    index("investigations_age").on(t.started_at),
  ],
);

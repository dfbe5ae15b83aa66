import { index, integer, jsonb, pgTable, real, text, uniqueIndex } from "drizzle-orm/pg-core";
import type {
  Classification,
  DeploymentInput,
  DeploymentRunStatus,
  DeploymentStatus,
  Execution,
} from "../../domain/index.ts";
import { instant } from "./columns.ts";
import { executions } from "./records.ts";

/** What a finished run's result is worth: whether it was right, and whose fault a failure is. */
export const executionAnalyses = pgTable("execution_analyses", {
  execution_id: text("execution_id")
    .primaryKey()
    .references(() => executions.id, { onDelete: "cascade" }),
  classification: text("classification").$type<Classification>().notNull(),
  confidence: real("confidence").notNull(),
  summary: text("summary").notNull(),
  evidence: jsonb("evidence").$type<string[]>().notNull(),
  analyzed_by: text("analyzed_by").notNull(),
  at: instant("at").notNull(),
});

/** A schedule that runs a test case or a script on a device. `nextAt` is when the next run is due; none when it is over. */
export const deployments = pgTable(
  "deployments",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    host_name: text("host_name").notNull(),
    body: jsonb("body").$type<DeploymentInput>().notNull(),
    status: text("status").$type<DeploymentStatus>().notNull(),
    /** Runs that were started, the interrupted ones included; what `max_executions` limits. */
    started: integer("started").notNull(),
    next_at: instant("next_at"),
    created_by: text("created_by").notNull(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("deployments_name").on(t.name), index("deployments_due").on(t.host_name, t.next_at)],
);

/** One due time of a deployment and what became of it. A due time is claimed once: (deployment, due) is unique. */
export const deploymentRuns = pgTable(
  "deployment_runs",
  {
    id: text("id").primaryKey(),
    deployment_id: text("deployment_id")
      .notNull()
      .references(() => deployments.id, { onDelete: "cascade" }),
    due_at: instant("due_at").notNull(),
    status: text("status").$type<DeploymentRunStatus>().notNull(),
    reason: jsonb("reason").$type<Execution["reason"]>(),
    execution_id: text("execution_id"),
    started_at: instant("started_at"),
    finished_at: instant("finished_at"),
  },
  (t) => [uniqueIndex("deployment_runs_due").on(t.deployment_id, t.due_at)],
);

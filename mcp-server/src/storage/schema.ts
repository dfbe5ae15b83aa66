import type { Space } from "@labwright/controllers";
import {
  bigint,
  bigserial,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  real,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type {
  ActionSet,
  AlertState,
  AlertTriage,
  Area,
  Classification,
  Coverage,
  DeploymentInput,
  DeploymentRunStatus,
  DeploymentStatus,
  Execution,
  NodeInput,
  Params,
  ReferenceKind,
  RequirementPriority,
  RequirementStatus,
  Step,
  TestCaseInput,
  UserInterfaceInput,
  Verification,
} from "../domain/index.ts";
import { instant } from "./columns.ts";

export { agentEvents, agentMessages, agentSessions, agentTasks } from "./agentSchema.ts";

/** The exclusive right to drive one device. An expired row is free; `fence` only ever grows. */
export const leases = pgTable(
  "leases",
  {
    device_id: text("device_id").primaryKey(),
    host_name: text("host_name").notNull(),
    session_id: text("session_id").notNull(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    fence: bigint("fence", { mode: "number" }).notNull(),
    /** Taken by a driving call without a handle; ends 60 s after its last call. */
    implicit: boolean("implicit").notNull(),
    taken_at: instant("taken_at").notNull(),
    expires_at: instant("expires_at").notNull(),
  },
  (t) => [uniqueIndex("leases_session").on(t.session_id)],
);

/** Why a lease ended before its owner gave it back, told to the owner's next call. */
export const leaseLosses = pgTable("lease_losses", {
  session_id: text("session_id").primaryKey(),
  device_id: text("device_id").notNull(),
  taken_by: text("taken_by").notNull(),
  at: instant("at").notNull(),
});

export const userinterfaces = pgTable(
  "userinterfaces",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    models: jsonb("models").$type<string[]>().notNull(),
    app: jsonb("app").$type<UserInterfaceInput["app"]>().notNull(),
    variables: jsonb("variables").$type<Params>().notNull(),
    test_id_attribute: text("test_id_attribute").notNull(),
    root_tree_id: text("root_tree_id").notNull(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("userinterfaces_name").on(t.name)],
);

export const trees = pgTable(
  "trees",
  {
    id: text("id").primaryKey(),
    userinterface_id: text("userinterface_id")
      .notNull()
      .references(() => userinterfaces.id, { onDelete: "cascade" }),
    parent_node_id: text("parent_node_id"),
    name: text("name").notNull(),
  },
  (t) => [index("trees_userinterface").on(t.userinterface_id)],
);

export const nodes = pgTable(
  "nodes",
  {
    id: text("id").primaryKey(),
    tree_id: text("tree_id")
      .notNull()
      .references(() => trees.id, { onDelete: "cascade" }),
    label: text("label").notNull(),
    type: text("type").$type<NodeInput["type"]>().notNull(),
    position: jsonb("position").$type<NodeInput["position"]>().notNull(),
    description: text("description"),
    verifications: jsonb("verifications").$type<Verification[]>().notNull(),
    pass_condition: text("pass_condition").$type<NodeInput["pass_condition"]>().notNull(),
    protected: boolean("protected").notNull(),
    screenshot: text("screenshot"),
    subtree_id: text("subtree_id"),
  },
  (t) => [uniqueIndex("nodes_tree_label").on(t.tree_id, t.label)],
);

export const edges = pgTable(
  "edges",
  {
    id: text("id").primaryKey(),
    tree_id: text("tree_id")
      .notNull()
      .references(() => trees.id, { onDelete: "cascade" }),
    source: text("source")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    target: text("target")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    action_sets: jsonb("action_sets").$type<ActionSet[]>().notNull(),
    priority: text("priority").$type<"p1" | "p2" | "p3">().notNull(),
    conditional: boolean("conditional").notNull(),
    sibling_shortcuts: boolean("sibling_shortcuts").notNull(),
    final_wait_ms: integer("final_wait_ms").notNull(),
  },
  (t) => [
    index("edges_tree").on(t.tree_id),
    index("edges_source").on(t.source),
    index("edges_target").on(t.target),
  ],
);

/** One run of an edge's action set or of a node's checks; what reliability and path weights are computed from. */
export const navigationRuns = pgTable(
  "navigation_runs",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    subject: text("subject").$type<"edge" | "node">().notNull(),
    subject_id: text("subject_id").notNull(),
    action_set_id: text("action_set_id"),
    device_model: text("device_model").notNull(),
    ok: boolean("ok").notNull(),
    duration_ms: integer("duration_ms").notNull(),
    kpi_ms: integer("kpi_ms"),
    execution_id: text("execution_id"),
    at: instant("at").notNull(),
  },
  (t) => [index("navigation_runs_subject").on(t.subject, t.subject_id, t.id)],
);

/** Where a device is in an app. No node: unknown. */
export const positions = pgTable(
  "positions",
  {
    device_id: text("device_id").notNull(),
    userinterface_id: text("userinterface_id").notNull(),
    node_id: text("node_id"),
    verified: boolean("verified").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.device_id, t.userinterface_id] })],
);

export const testcases = pgTable(
  "testcases",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    userinterface_name: text("userinterface_name"),
    body: jsonb("body").$type<TestCaseInput>().notNull(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("testcases_name").on(t.name)],
);

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
    environment: text("environment"),
    release: text("release"),
    build: text("build"),
    userinterface: text("userinterface"),
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

/** A named crop or text of a screen, per app and device model, that checks compare with. The file is in `references/`. */
export const screenReferences = pgTable(
  "screen_references",
  {
    id: text("id").primaryKey(),
    userinterface_id: text("userinterface_id")
      .notNull()
      .references(() => userinterfaces.id, { onDelete: "cascade" }),
    device_model: text("device_model").notNull(),
    name: text("name").notNull(),
    kind: text("kind").$type<ReferenceKind>().notNull(),
    area: jsonb("area").$type<Area>(),
    /** That of the frame that `area` is of; older references have none. */
    space: jsonb("space").$type<Space>(),
    /** Of kind `text`: what is expected. */
    text: text("text"),
    /** Of kind `image`: the PNG's sha256, which names its file. */
    sha256: text("sha256"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("screen_references_name").on(t.userinterface_id, t.device_model, t.name)],
);

/** Something that went wrong on a device or beside one. Its pictures are artifact URIs. */
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

/** Files beside the database, named by their sha256; each host has its own. */
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
export const events = pgTable("events", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  type: text("type").notNull(),
  priority: text("priority").$type<"critical" | "high" | "normal">().notNull(),
  source: text("source").notNull(),
  device_id: text("device_id"),
  execution_id: text("execution_id"),
  alert_id: text("alert_id"),
  payload: jsonb("payload").$type<Params>().notNull(),
  at: instant("at").notNull(),
});

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

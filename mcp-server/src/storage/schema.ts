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
    deviceId: text("device_id").primaryKey(),
    hostName: text("host_name").notNull(),
    sessionId: text("session_id").notNull(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    fence: bigint("fence", { mode: "number" }).notNull(),
    /** Taken by a driving call without a handle; ends 60 s after its last call. */
    implicit: boolean("implicit").notNull(),
    takenAt: instant("taken_at").notNull(),
    expiresAt: instant("expires_at").notNull(),
  },
  (t) => [uniqueIndex("leases_session").on(t.sessionId)],
);

/** Why a lease ended before its owner gave it back, told to the owner's next call. */
export const leaseLosses = pgTable("lease_losses", {
  sessionId: text("session_id").primaryKey(),
  deviceId: text("device_id").notNull(),
  takenBy: text("taken_by").notNull(),
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
    testIdAttribute: text("test_id_attribute").notNull(),
    rootTreeId: text("root_tree_id").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("userinterfaces_name").on(t.name)],
);

export const trees = pgTable(
  "trees",
  {
    id: text("id").primaryKey(),
    userinterfaceId: text("userinterface_id")
      .notNull()
      .references(() => userinterfaces.id, { onDelete: "cascade" }),
    parentNodeId: text("parent_node_id"),
    name: text("name").notNull(),
  },
  (t) => [index("trees_userinterface").on(t.userinterfaceId)],
);

export const nodes = pgTable(
  "nodes",
  {
    id: text("id").primaryKey(),
    treeId: text("tree_id")
      .notNull()
      .references(() => trees.id, { onDelete: "cascade" }),
    label: text("label").notNull(),
    type: text("type").$type<NodeInput["type"]>().notNull(),
    position: jsonb("position").$type<NodeInput["position"]>().notNull(),
    description: text("description"),
    verifications: jsonb("verifications").$type<Verification[]>().notNull(),
    passCondition: text("pass_condition").$type<NodeInput["pass_condition"]>().notNull(),
    protected: boolean("protected").notNull(),
    screenshot: text("screenshot"),
    subtreeId: text("subtree_id"),
  },
  (t) => [uniqueIndex("nodes_tree_label").on(t.treeId, t.label)],
);

export const edges = pgTable(
  "edges",
  {
    id: text("id").primaryKey(),
    treeId: text("tree_id")
      .notNull()
      .references(() => trees.id, { onDelete: "cascade" }),
    source: text("source")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    target: text("target")
      .notNull()
      .references(() => nodes.id, { onDelete: "cascade" }),
    actionSets: jsonb("action_sets").$type<ActionSet[]>().notNull(),
    priority: text("priority").$type<"p1" | "p2" | "p3">().notNull(),
    conditional: boolean("conditional").notNull(),
    siblingShortcuts: boolean("sibling_shortcuts").notNull(),
    finalWaitMs: integer("final_wait_ms").notNull(),
  },
  (t) => [
    index("edges_tree").on(t.treeId),
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
    subjectId: text("subject_id").notNull(),
    actionSetId: text("action_set_id"),
    deviceModel: text("device_model").notNull(),
    ok: boolean("ok").notNull(),
    durationMs: integer("duration_ms").notNull(),
    kpiMs: integer("kpi_ms"),
    executionId: text("execution_id"),
    at: instant("at").notNull(),
  },
  (t) => [index("navigation_runs_subject").on(t.subject, t.subjectId, t.id)],
);

/** Where a device is in an app. No node: unknown. */
export const positions = pgTable(
  "positions",
  {
    deviceId: text("device_id").notNull(),
    userinterfaceId: text("userinterface_id").notNull(),
    nodeId: text("node_id"),
    verified: boolean("verified").notNull(),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.deviceId, t.userinterfaceId] })],
);

export const testcases = pgTable(
  "testcases",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    userinterfaceName: text("userinterface_name"),
    body: jsonb("body").$type<TestCaseInput>().notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
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
    startedAt: instant("started_at").notNull(),
    finishedAt: instant("finished_at"),
    durationMs: integer("duration_ms"),
    hostName: text("host_name").notNull(),
    device: text("device"),
    deviceModel: text("device_model"),
    deviceVersion: text("device_version"),
    environment: text("environment"),
    release: text("release"),
    build: text("build"),
    userinterface: text("userinterface"),
    triggeredBy: text("triggered_by").notNull(),
    correlationId: text("correlation_id").notNull(),
    verifiedCount: integer("verified_count").notNull(),
    outputs: jsonb("outputs").$type<Params>().notNull(),
    /** The run's own result, by kind: an action report, a navigation report, a test case's block results. */
    result: jsonb("result"),
  },
  (t) => [
    index("executions_status").on(t.status),
    index("executions_started").on(t.startedAt),
    index("executions_name").on(t.kind, t.name, t.startedAt),
  ],
);

export const steps = pgTable(
  "steps",
  {
    executionId: text("execution_id")
      .notNull()
      .references(() => executions.id, { onDelete: "cascade" }),
    index: integer("index").notNull(),
    body: jsonb("body").$type<Step>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.executionId, t.index] })],
);

/** What a finished run's result is worth: whether it was right, and whose fault a failure is. */
export const executionAnalyses = pgTable("execution_analyses", {
  executionId: text("execution_id")
    .primaryKey()
    .references(() => executions.id, { onDelete: "cascade" }),
  classification: text("classification").$type<Classification>().notNull(),
  confidence: real("confidence").notNull(),
  summary: text("summary").notNull(),
  evidence: jsonb("evidence").$type<string[]>().notNull(),
  analyzedBy: text("analyzed_by").notNull(),
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
    acceptanceCriteria: jsonb("acceptance_criteria").$type<string[]>().notNull(),
    status: text("status").$type<RequirementStatus>().notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("requirements_code").on(t.code)],
);

/** Which test cases check a requirement, and how much of it. */
export const requirementLinks = pgTable(
  "requirement_links",
  {
    requirementId: text("requirement_id")
      .notNull()
      .references(() => requirements.id, { onDelete: "cascade" }),
    testcaseId: text("testcase_id")
      .notNull()
      .references(() => testcases.id, { onDelete: "cascade" }),
    coverage: text("coverage").$type<Coverage>().notNull(),
    at: instant("at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.requirementId, t.testcaseId] }),
    index("requirement_links_testcase").on(t.testcaseId),
  ],
);

/** A schedule that runs a test case or a script on a device. `nextAt` is when the next run is due; none when it is over. */
export const deployments = pgTable(
  "deployments",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    hostName: text("host_name").notNull(),
    body: jsonb("body").$type<DeploymentInput>().notNull(),
    status: text("status").$type<DeploymentStatus>().notNull(),
    /** Runs that were started, the interrupted ones included; what `max_executions` limits. */
    started: integer("started").notNull(),
    nextAt: instant("next_at"),
    createdBy: text("created_by").notNull(),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("deployments_name").on(t.name), index("deployments_due").on(t.hostName, t.nextAt)],
);

/** One due time of a deployment and what became of it. A due time is claimed once: (deployment, due) is unique. */
export const deploymentRuns = pgTable(
  "deployment_runs",
  {
    id: text("id").primaryKey(),
    deploymentId: text("deployment_id")
      .notNull()
      .references(() => deployments.id, { onDelete: "cascade" }),
    dueAt: instant("due_at").notNull(),
    status: text("status").$type<DeploymentRunStatus>().notNull(),
    reason: jsonb("reason").$type<Execution["reason"]>(),
    executionId: text("execution_id"),
    startedAt: instant("started_at"),
    finishedAt: instant("finished_at"),
  },
  (t) => [uniqueIndex("deployment_runs_due").on(t.deploymentId, t.dueAt)],
);

/** A named crop or text of a screen, per app and device model, that checks compare with. The file is in `references/`. */
export const screenReferences = pgTable(
  "screen_references",
  {
    id: text("id").primaryKey(),
    userinterfaceId: text("userinterface_id")
      .notNull()
      .references(() => userinterfaces.id, { onDelete: "cascade" }),
    deviceModel: text("device_model").notNull(),
    name: text("name").notNull(),
    kind: text("kind").$type<ReferenceKind>().notNull(),
    area: jsonb("area").$type<Area>(),
    /** Of kind `text`: what is expected. */
    text: text("text"),
    /** Of kind `image`: the PNG's sha256, which names its file. */
    sha256: text("sha256"),
    createdAt: instant("created_at").notNull(),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("screen_references_name").on(t.userinterfaceId, t.deviceModel, t.name)],
);

/** Something that went wrong on a device or beside one. Its pictures are artifact URIs. */
export const alerts = pgTable(
  "alerts",
  {
    id: text("id").primaryKey(),
    kind: text("kind").notNull(),
    deviceId: text("device_id"),
    source: text("source").notNull(),
    message: text("message").notNull(),
    state: text("state").$type<AlertState>().notNull(),
    triage: text("triage").$type<AlertTriage>(),
    triageReason: text("triage_reason"),
    triagedBy: text("triaged_by"),
    startFrame: text("start_frame"),
    endFrame: text("end_frame"),
    details: jsonb("details").$type<Params>().notNull(),
    startedAt: instant("started_at").notNull(),
    resolvedAt: instant("resolved_at"),
    updatedAt: instant("updated_at").notNull(),
  },
  (t) => [index("alerts_state").on(t.state, t.startedAt), index("alerts_device").on(t.deviceId)],
);

/** Files beside the database, named by their sha256; each host has its own. */
export const artifacts = pgTable(
  "artifacts",
  {
    sha256: text("sha256").notNull(),
    hostName: text("host_name").notNull(),
    mimeType: text("mime_type").notNull(),
    bytes: bigint("bytes", { mode: "number" }).notNull(),
    createdAt: instant("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sha256, t.hostName] }),
    index("artifacts_host_age").on(t.hostName, t.createdAt, t.sha256),
  ],
);

/** Written in the transaction of what they report; read in order from a cursor. */
export const events = pgTable("events", {
  id: bigserial("id", { mode: "number" }).primaryKey(),
  type: text("type").notNull(),
  priority: text("priority").$type<"critical" | "high" | "normal">().notNull(),
  source: text("source").notNull(),
  deviceId: text("device_id"),
  executionId: text("execution_id"),
  alertId: text("alert_id"),
  payload: jsonb("payload").$type<Params>().notNull(),
  at: instant("at").notNull(),
});

export const eventCursors = pgTable("event_cursors", {
  consumer: text("consumer").primaryKey(),
  eventId: bigint("event_id", { mode: "number" }).notNull(),
});

/** Who did what to which device, with which fence, and how it ended. */
export const audit = pgTable(
  "audit",
  {
    id: bigserial("id", { mode: "number" }).primaryKey(),
    principal: text("principal").notNull(),
    client: text("client").notNull(),
    tool: text("tool").notNull(),
    deviceId: text("device_id"),
    fence: bigint("fence", { mode: "number" }),
    outcome: text("outcome").notNull(),
    durationMs: integer("duration_ms").notNull(),
    traceId: text("trace_id").notNull(),
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
    inputHash: text("input_hash").notNull(),
    result: jsonb("result"),
    at: instant("at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.principal, t.key] })],
);

import type { Space } from "@labwright/controllers";
import {
  bigserial,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type {
  ActionSet,
  ApiSpec,
  Area,
  NodeInput,
  Params,
  ReferenceKind,
  TestCaseInput,
  UserInterfaceInput,
  Verification,
} from "../../domain/index.ts";
import { instant, jsonText } from "./columns.ts";

/** Where a row comes from: rows of two projects may have one name. */
const source = () => ({
  /** The absolute path of the project's folder; empty for what is the database's own. */
  project: text("project").notNull().default(""),
  /** The path of its file in the project, with `/`. */
  file: text("file"),
  /** sha256 of the file as it was last read or written. */
  file_hash: text("file_hash"),
  /** When its file no longer held it; then it is only found by its id. */
  archived_at: instant("archived_at"),
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
    ...source(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("userinterfaces_name").on(t.project, t.name)],
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
    ...source(),
    /** Its place among the tests of its file. */
    file_position: integer("file_position"),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("testcases_name").on(t.project, t.name)],
);

/** What an OpenAPI document says of an API, as it was last imported. */
export const apiSpecs = pgTable(
  "api_specs",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    /** The absolute path of the project's folder; empty without one. */
    project: text("project").notNull().default(""),
    /** The address or the file that it was read from. */
    source: text("source").notNull(),
    /** `info.version` of the document. */
    version: text("version").notNull(),
    /** sha256 of the document and of everything that it refers to. */
    document_hash: text("document_hash").notNull(),
    /** An `ApiSpec` without its name: operations, definitions, servers. */
    spec: jsonText("spec").$type<Omit<ApiSpec, "name">>().notNull(),
    created_at: instant("created_at").notNull(),
    updated_at: instant("updated_at").notNull(),
  },
  (t) => [uniqueIndex("api_specs_name").on(t.project, t.name)],
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

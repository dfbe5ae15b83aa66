CREATE TABLE "artifacts" (
	"sha256" text NOT NULL,
	"host_name" text NOT NULL,
	"mime_type" text NOT NULL,
	"bytes" bigint NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "artifacts_sha256_host_name_pk" PRIMARY KEY("sha256","host_name")
);
--> statement-breakpoint
CREATE TABLE "audit" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"principal" text NOT NULL,
	"client" text NOT NULL,
	"tool" text NOT NULL,
	"device_id" text,
	"fence" bigint,
	"outcome" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"trace_id" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "edges" (
	"id" text PRIMARY KEY NOT NULL,
	"tree_id" text NOT NULL,
	"source" text NOT NULL,
	"target" text NOT NULL,
	"action_sets" jsonb NOT NULL,
	"priority" text NOT NULL,
	"conditional" boolean NOT NULL,
	"sibling_shortcuts" boolean NOT NULL,
	"final_wait_ms" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "event_cursors" (
	"consumer" text PRIMARY KEY NOT NULL,
	"event_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"type" text NOT NULL,
	"priority" text NOT NULL,
	"source" text NOT NULL,
	"device_id" text,
	"execution_id" text,
	"alert_id" text,
	"payload" jsonb NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "executions" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"reason" jsonb,
	"input" jsonb NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone,
	"duration_ms" integer,
	"host_name" text NOT NULL,
	"device" text NOT NULL,
	"device_model" text NOT NULL,
	"device_version" text,
	"environment" text,
	"release" text,
	"build" text,
	"userinterface" text,
	"triggered_by" text NOT NULL,
	"correlation_id" text NOT NULL,
	"verified_count" integer NOT NULL,
	"outputs" jsonb NOT NULL,
	"result" jsonb
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"principal" text NOT NULL,
	"key" text NOT NULL,
	"tool" text NOT NULL,
	"input_hash" text NOT NULL,
	"result" jsonb,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "idempotency_principal_key_pk" PRIMARY KEY("principal","key")
);
--> statement-breakpoint
CREATE TABLE "lease_losses" (
	"session_id" text PRIMARY KEY NOT NULL,
	"device_id" text NOT NULL,
	"taken_by" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "leases" (
	"device_id" text PRIMARY KEY NOT NULL,
	"host_name" text NOT NULL,
	"session_id" text NOT NULL,
	"principal" text NOT NULL,
	"client" text NOT NULL,
	"fence" bigint NOT NULL,
	"implicit" boolean NOT NULL,
	"taken_at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "navigation_runs" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"subject" text NOT NULL,
	"subject_id" text NOT NULL,
	"action_set_id" text,
	"device_model" text NOT NULL,
	"ok" boolean NOT NULL,
	"duration_ms" integer NOT NULL,
	"kpi_ms" integer,
	"execution_id" text,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "nodes" (
	"id" text PRIMARY KEY NOT NULL,
	"tree_id" text NOT NULL,
	"label" text NOT NULL,
	"type" text NOT NULL,
	"position" jsonb NOT NULL,
	"description" text,
	"verifications" jsonb NOT NULL,
	"pass_condition" text NOT NULL,
	"protected" boolean NOT NULL,
	"screenshot" text,
	"subtree_id" text
);
--> statement-breakpoint
CREATE TABLE "positions" (
	"device_id" text NOT NULL,
	"userinterface_id" text NOT NULL,
	"node_id" text,
	"verified" boolean NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "positions_device_id_userinterface_id_pk" PRIMARY KEY("device_id","userinterface_id")
);
--> statement-breakpoint
CREATE TABLE "steps" (
	"execution_id" text NOT NULL,
	"index" integer NOT NULL,
	"body" jsonb NOT NULL,
	CONSTRAINT "steps_execution_id_index_pk" PRIMARY KEY("execution_id","index")
);
--> statement-breakpoint
CREATE TABLE "testcases" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"userinterface_name" text,
	"body" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "trees" (
	"id" text PRIMARY KEY NOT NULL,
	"userinterface_id" text NOT NULL,
	"parent_node_id" text,
	"name" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "userinterfaces" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"models" jsonb NOT NULL,
	"app" jsonb NOT NULL,
	"variables" jsonb NOT NULL,
	"test_id_attribute" text NOT NULL,
	"root_tree_id" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "edges" ADD CONSTRAINT "edges_tree_id_trees_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."trees"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "edges" ADD CONSTRAINT "edges_source_nodes_id_fk" FOREIGN KEY ("source") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "edges" ADD CONSTRAINT "edges_target_nodes_id_fk" FOREIGN KEY ("target") REFERENCES "public"."nodes"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "nodes" ADD CONSTRAINT "nodes_tree_id_trees_id_fk" FOREIGN KEY ("tree_id") REFERENCES "public"."trees"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "steps" ADD CONSTRAINT "steps_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "trees" ADD CONSTRAINT "trees_userinterface_id_userinterfaces_id_fk" FOREIGN KEY ("userinterface_id") REFERENCES "public"."userinterfaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "artifacts_host_age" ON "artifacts" USING btree ("host_name","created_at","sha256");--> statement-breakpoint
CREATE INDEX "audit_at" ON "audit" USING btree ("at");--> statement-breakpoint
CREATE INDEX "edges_tree" ON "edges" USING btree ("tree_id");--> statement-breakpoint
CREATE INDEX "edges_source" ON "edges" USING btree ("source");--> statement-breakpoint
CREATE INDEX "edges_target" ON "edges" USING btree ("target");--> statement-breakpoint
CREATE INDEX "executions_status" ON "executions" USING btree ("status");--> statement-breakpoint
CREATE INDEX "executions_started" ON "executions" USING btree ("started_at");--> statement-breakpoint
CREATE UNIQUE INDEX "leases_session" ON "leases" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "navigation_runs_subject" ON "navigation_runs" USING btree ("subject","subject_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "nodes_tree_label" ON "nodes" USING btree ("tree_id","label");--> statement-breakpoint
CREATE UNIQUE INDEX "testcases_name" ON "testcases" USING btree ("name");--> statement-breakpoint
CREATE INDEX "trees_userinterface" ON "trees" USING btree ("userinterface_id");--> statement-breakpoint
CREATE UNIQUE INDEX "userinterfaces_name" ON "userinterfaces" USING btree ("name");
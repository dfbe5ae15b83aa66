CREATE TABLE "deployment_runs" (
	"id" text PRIMARY KEY NOT NULL,
	"deployment_id" text NOT NULL,
	"due_at" timestamp (3) with time zone NOT NULL,
	"status" text NOT NULL,
	"reason" jsonb,
	"execution_id" text,
	"started_at" timestamp (3) with time zone,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "deployments" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"host_name" text NOT NULL,
	"body" jsonb NOT NULL,
	"status" text NOT NULL,
	"started" integer NOT NULL,
	"next_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "screen_references" (
	"id" text PRIMARY KEY NOT NULL,
	"userinterface_id" text NOT NULL,
	"device_model" text NOT NULL,
	"name" text NOT NULL,
	"kind" text NOT NULL,
	"area" jsonb,
	"text" text,
	"sha256" text,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "deployment_runs" ADD CONSTRAINT "deployment_runs_deployment_id_deployments_id_fk" FOREIGN KEY ("deployment_id") REFERENCES "public"."deployments"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "screen_references" ADD CONSTRAINT "screen_references_userinterface_id_userinterfaces_id_fk" FOREIGN KEY ("userinterface_id") REFERENCES "public"."userinterfaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "deployment_runs_due" ON "deployment_runs" USING btree ("deployment_id","due_at");--> statement-breakpoint
CREATE UNIQUE INDEX "deployments_name" ON "deployments" USING btree ("name");--> statement-breakpoint
CREATE INDEX "deployments_due" ON "deployments" USING btree ("host_name","next_at");--> statement-breakpoint
CREATE UNIQUE INDEX "screen_references_name" ON "screen_references" USING btree ("userinterface_id","device_model","name");--> statement-breakpoint
CREATE INDEX "executions_name" ON "executions" USING btree ("kind","name","started_at");
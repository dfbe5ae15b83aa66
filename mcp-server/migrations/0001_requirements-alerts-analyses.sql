CREATE TABLE "alerts" (
	"id" text PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"device_id" text,
	"source" text NOT NULL,
	"message" text NOT NULL,
	"state" text NOT NULL,
	"triage" text,
	"triage_reason" text,
	"triaged_by" text,
	"start_frame" text,
	"end_frame" text,
	"details" jsonb NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "execution_analyses" (
	"execution_id" text PRIMARY KEY NOT NULL,
	"classification" text NOT NULL,
	"confidence" real NOT NULL,
	"summary" text NOT NULL,
	"evidence" jsonb NOT NULL,
	"analyzed_by" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "requirement_links" (
	"requirement_id" text NOT NULL,
	"testcase_id" text NOT NULL,
	"coverage" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "requirement_links_requirement_id_testcase_id_pk" PRIMARY KEY("requirement_id","testcase_id")
);
--> statement-breakpoint
CREATE TABLE "requirements" (
	"id" text PRIMARY KEY NOT NULL,
	"code" text NOT NULL,
	"name" text NOT NULL,
	"description" text NOT NULL,
	"priority" text NOT NULL,
	"category" text,
	"acceptance_criteria" jsonb NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "execution_analyses" ADD CONSTRAINT "execution_analyses_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requirement_links" ADD CONSTRAINT "requirement_links_requirement_id_requirements_id_fk" FOREIGN KEY ("requirement_id") REFERENCES "public"."requirements"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "requirement_links" ADD CONSTRAINT "requirement_links_testcase_id_testcases_id_fk" FOREIGN KEY ("testcase_id") REFERENCES "public"."testcases"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alerts_state" ON "alerts" USING btree ("state","started_at");--> statement-breakpoint
CREATE INDEX "alerts_device" ON "alerts" USING btree ("device_id");--> statement-breakpoint
CREATE INDEX "requirement_links_testcase" ON "requirement_links" USING btree ("testcase_id");--> statement-breakpoint
CREATE UNIQUE INDEX "requirements_code" ON "requirements" USING btree ("code");
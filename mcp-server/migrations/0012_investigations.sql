CREATE TABLE "investigations" (
	"id" text PRIMARY KEY NOT NULL,
	"skill" text NOT NULL,
	"skill_version" text NOT NULL,
	"status" text NOT NULL,
	"question" text,
	"definition" text NOT NULL,
	"state" text NOT NULL,
	"revision" integer NOT NULL,
	"principal" text NOT NULL,
	"client" text NOT NULL,
	"host_name" text NOT NULL,
	"execution_id" text,
	"interruptions" integer NOT NULL,
	"steps" integer NOT NULL,
	"calls" integer NOT NULL,
	"cached" integer NOT NULL,
	"source_ms" integer NOT NULL,
	"active_ms" integer NOT NULL,
	"handoffs" integer NOT NULL,
	"root_cause" text,
	"confidence" double precision,
	"result" text,
	"reason" text,
	"rating" integer,
	"confirmed" boolean,
	"started_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	"finished_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE INDEX "investigations_skill" ON "investigations" USING btree ("skill","started_at");--> statement-breakpoint
CREATE INDEX "investigations_status" ON "investigations" USING btree ("host_name","status");--> statement-breakpoint
CREATE INDEX "investigations_age" ON "investigations" USING btree ("started_at");
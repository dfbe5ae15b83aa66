CREATE TABLE "agent_events" (
	"session_id" text NOT NULL,
	"seq" integer NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "agent_events_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "agent_messages" (
	"session_id" text NOT NULL,
	"seq" integer NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "agent_messages_session_id_seq_pk" PRIMARY KEY("session_id","seq")
);
--> statement-breakpoint
CREATE TABLE "agent_roles" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" text NOT NULL,
	"held_until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"owner" text NOT NULL,
	"title" text NOT NULL,
	"skill" text,
	"usage" jsonb NOT NULL,
	"cost_usd" double precision NOT NULL,
	"saved_usd" double precision NOT NULL,
	"turns" integer NOT NULL,
	"outcome" text,
	"holder" text,
	"held_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "agent_tasks" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"agent" text NOT NULL,
	"key" text NOT NULL,
	"priority" text NOT NULL,
	"state" text NOT NULL,
	"event" text NOT NULL,
	"attempts" integer NOT NULL,
	"session_id" text,
	"finding" text,
	"error" text,
	"holder" text,
	"held_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "agent_events" ADD CONSTRAINT "agent_events_session_id_agent_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."agent_sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_session_id_agent_sessions_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."agent_sessions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "agent_sessions_owner" ON "agent_sessions" USING btree ("owner","created_at");--> statement-breakpoint
CREATE INDEX "agent_sessions_age" ON "agent_sessions" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "agent_tasks_key" ON "agent_tasks" USING btree ("agent","key");--> statement-breakpoint
CREATE INDEX "agent_tasks_state" ON "agent_tasks" USING btree ("agent","state","id");
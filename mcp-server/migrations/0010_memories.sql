CREATE TABLE "memories" (
	"id" text PRIMARY KEY NOT NULL,
	"scope" text NOT NULL,
	"subject" text NOT NULL,
	"kind" text NOT NULL,
	"text" text NOT NULL,
	"plan" text,
	"execution_id" text NOT NULL,
	"confidence" double precision NOT NULL,
	"seen" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memories" ADD CONSTRAINT "memories_execution_id_executions_id_fk" FOREIGN KEY ("execution_id") REFERENCES "public"."executions"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "memories_subject" ON "memories" USING btree ("scope","subject");--> statement-breakpoint
CREATE INDEX "memories_expiry" ON "memories" USING btree ("expires_at");
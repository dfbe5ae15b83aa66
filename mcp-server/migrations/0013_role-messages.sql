CREATE TABLE "role_messages" (
	"seq" bigserial PRIMARY KEY NOT NULL,
	"message_id" text NOT NULL,
	"correlation_id" text NOT NULL,
	"owner" text NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	"body" text NOT NULL,
	CONSTRAINT "role_messages_message_id_unique" UNIQUE("message_id")
);
--> statement-breakpoint
CREATE INDEX "role_messages_correlation" ON "role_messages" USING btree ("correlation_id","seq");
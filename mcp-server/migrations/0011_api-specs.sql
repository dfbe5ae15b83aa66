CREATE TABLE "api_specs" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"project" text DEFAULT '' NOT NULL,
	"source" text NOT NULL,
	"version" text NOT NULL,
	"document_hash" text NOT NULL,
	"spec" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "api_specs_name" ON "api_specs" USING btree ("project","name");
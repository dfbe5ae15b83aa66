DROP INDEX "testcases_name";--> statement-breakpoint
DROP INDEX "userinterfaces_name";--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "project" text;--> statement-breakpoint
ALTER TABLE "testcases" ADD COLUMN "project" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "testcases" ADD COLUMN "file" text;--> statement-breakpoint
ALTER TABLE "testcases" ADD COLUMN "file_hash" text;--> statement-breakpoint
ALTER TABLE "testcases" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "testcases" ADD COLUMN "file_position" integer;--> statement-breakpoint
ALTER TABLE "userinterfaces" ADD COLUMN "project" text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE "userinterfaces" ADD COLUMN "file" text;--> statement-breakpoint
ALTER TABLE "userinterfaces" ADD COLUMN "file_hash" text;--> statement-breakpoint
ALTER TABLE "userinterfaces" ADD COLUMN "archived_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "testcases_name" ON "testcases" USING btree ("project","name");--> statement-breakpoint
CREATE UNIQUE INDEX "userinterfaces_name" ON "userinterfaces" USING btree ("project","name");--> statement-breakpoint
CREATE VIEW "requirement_coverage" AS (
  select l.requirement_id, l.testcase_id, l.coverage
  from requirement_links l join testcases t on t.id = l.testcase_id and t.archived_at is null
  union
  select r.id, t.id, 'full'
  from testcases t cross join jsonb_array_elements_text(t.body->'covers') c(code) join requirements r on r.code = c.code
  where t.archived_at is null
    and not exists (select 1 from requirement_links l where l.requirement_id = r.id and l.testcase_id = t.id));
ALTER TABLE "events" ADD COLUMN "delivery" text;--> statement-breakpoint
ALTER TABLE "events" ADD CONSTRAINT "events_delivery_unique" UNIQUE("delivery");
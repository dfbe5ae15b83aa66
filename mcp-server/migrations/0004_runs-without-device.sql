ALTER TABLE "executions" ALTER COLUMN "device" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "executions" ALTER COLUMN "device_model" DROP NOT NULL;
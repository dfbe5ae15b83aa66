export * from "./schema/agents.ts";
export * from "./schema/apps.ts";
export * from "./schema/devices.ts";
export * from "./schema/lab.ts";
export * from "./schema/records.ts";
export * from "./schema/runs.ts";

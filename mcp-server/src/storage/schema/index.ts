export * from "./agents.ts";
export * from "./apps.ts";
export * from "./devices.ts";
export * from "./lab.ts";
export * from "./records.ts";
export * from "./runs.ts";

export type * from "./ports/calls.ts";
export type * from "./ports/devices.ts";
export type * from "./ports/executions.ts";
export type * from "./ports/executors.ts";
export type * from "./ports/memory.ts";
export type * from "./ports/records.ts";
export type * from "./ports/screen.ts";
export type * from "./ports/scripts.ts";

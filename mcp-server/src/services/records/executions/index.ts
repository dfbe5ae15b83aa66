export { abortEnding, reasonOf } from "./endings.ts";
export { createExecutions } from "./executions.ts";
export { Stepping } from "./stepStops.ts";
export type { ExecutionDependencies } from "./types.ts";

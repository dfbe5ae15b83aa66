export { abortEnding, reasonOf } from "./endings.ts";
export { createExecutions } from "./executions.ts";
export type { ExecutionDependencies } from "./types.ts";

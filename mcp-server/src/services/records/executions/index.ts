export { abortEnding, reasonOf } from "./endings.ts";
export { createExecutions } from "./executions.ts";
export type { ExecutionDependencies } from "./liveRun.ts";
export { Stepping } from "./stepStops.ts";

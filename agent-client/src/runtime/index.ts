export { role } from "./role.ts";
export { startRuntime } from "./startRuntime.ts";
export type { LogLine, RunSkill, RuntimeDeps } from "./types.ts";
export { reportEvent } from "./work/reports.ts";

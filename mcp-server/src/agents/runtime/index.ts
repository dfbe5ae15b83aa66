export { startRuntime } from "./startRuntime.ts";
export type { LogLine, RunSkill, RuntimeDeps } from "./types.ts";

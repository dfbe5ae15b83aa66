export { createScripts, type ScriptDependencies } from "./scripts.ts";
export type { ScriptReply, ScriptService, ToolCalls, ToolReply } from "./types.ts";

export { createScripts, type ScriptDependencies } from "./scripts.ts";
export type { ScriptEnd, ScriptPort, ScriptReply, ScriptService, ToolCalls, ToolReply } from "./types.ts";

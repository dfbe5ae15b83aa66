export { createScripts, type ScriptDependencies, scriptEnd } from "./scripts.ts";
export type { ScriptEndView, ScriptReply, ScriptService, ToolCalls, ToolReply } from "./types.ts";

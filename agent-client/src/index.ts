export {
  type AgentEnd,
  type AgentEvent,
  type AgentOptions,
  runAgent,
  type Toolbox,
} from "./loop/runAgent.ts";
export { type McpTools, mcpToolbox } from "./mcp/toolbox.ts";
export type {
  Message,
  Model,
  ModelRequest,
  ResultPart,
  ToolResult,
  ToolSpec,
  ToolUse,
  Turn,
} from "./model/model.ts";
export { calls, type ScriptedTurn, says, scriptedModel } from "./model/scripted.ts";

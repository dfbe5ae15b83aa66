export type { Agent, Trigger } from "./agents/agent.ts";
export { loadAgents } from "./agents/load.ts";
export { systemClock } from "./clock.ts";
export { AgentError, type AgentErrorCode, agentErrorStatus } from "./errors.ts";
export {
  type AgentEvent,
  type AgentEventBody,
  eventBodySchema,
  isStored,
  type SessionEnded,
  type Usage,
  usageSchema,
} from "./events.ts";
export { type RunOptions, runAgent } from "./loop/runAgent.ts";
export type { Attach, Attachment } from "./mcp/daemon.ts";
export { openLabServer, openToolbox, type RemoteLab } from "./mcp/labServer.ts";
export { type McpTools, mcpToolbox } from "./mcp/toolbox.ts";
export { type ModelEndpoint, type ModelSource, openModels, tryKey } from "./model/models.ts";

export {
  type AgentOptions,
  type Agents,
  changed,
  createAgents,
  type OpenAgent,
  openAgent,
} from "./openAgent.ts";
export type * from "./ports.ts";
export type { Conversation, Conversations } from "./sessions/conversations.ts";
export { createConversations } from "./sessions/engine.ts";
export { createRunSkill, type SkillRun, type SkillRunEnd } from "./sessions/runSkill.ts";
export { type Settings, settingsSchema } from "./settings.ts";
export { httpStore, type StoreRequest } from "./store/httpStore.ts";

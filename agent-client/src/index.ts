export type { Agent, Trigger } from "./agents/agent.ts";
export { loadAgents } from "./agents/load.ts";
export { withSettings } from "./agents/settings.ts";
export { systemClock } from "./clock.ts";
export { AgentError, agentErrorStatus } from "./errors.ts";
export { type AgentEvent, isStored } from "./events.ts";
export { callTyped, ToolFailure } from "./mcp/calls.ts";
export type { Attachment } from "./mcp/daemon.ts";
export { openToolbox } from "./mcp/labServer.ts";
export { tryKey } from "./model/models.ts";
export { createAgents, openAgent } from "./openAgent.ts";
export {
  type SeedForm,
  toAgentPlan,
  toAgentResult,
  toPlanStep,
  toStepResult,
  toVerification,
} from "./planExecute/seedForms.ts";
export type * from "./planExecute/task.ts";
export type { Plan, PlanStep } from "./planner/plan.ts";
export type * from "./ports.ts";
export type { Remote } from "./remotes/remote.ts";
export { createPlacedRunner } from "./remotes/runner.ts";
export { createRoles } from "./roles/open.ts";
export type { OpenApproval, OpenApprovals } from "./sessions/approvals.ts";
export type { Conversation, Conversations } from "./sessions/engine.ts";
export { createRunSkill, type SkillRun, type SkillRunEnd } from "./sessions/runSkill.ts";
export { agentEvent, storedMessage, storedSession } from "./store/schemas.ts";

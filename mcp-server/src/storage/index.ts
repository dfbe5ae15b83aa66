export { type Database, databaseBytes } from "./engine/database.ts";
export { type Engine, startEngine } from "./engine/engine.ts";
export { type DataDirLock, isDataDirLocked, lockDataDir } from "./engine/lock.ts";
export { openStorage, type Storage } from "./engine/open.ts";
export {
  type AgentEntry,
  type AgentSession,
  type AgentSessionPatch,
  agentSessionRows,
  type HeldSession,
  type NewAgentSession,
} from "./rows/agents/agentSessionRows.ts";
export {
  type AgentTask,
  type AgentTaskPatch,
  agentTaskRows,
  type NewAgentTask,
} from "./rows/agents/agentTaskRows.ts";
export {
  type RoleMessage,
  type RoleMessageQuery,
  roleMessageRows,
} from "./rows/agents/roleMessageRows.ts";
export {
  type Analysis,
  type AnalysisRows,
  type AwaitingExecution,
  analysisRows,
} from "./rows/analysisRows.ts";
export { type ApiSpecHead, type ApiSpecRow, type ApiSpecRows, apiSpecRows } from "./rows/apiSpecRows.ts";
export { type ArtifactRow, type ArtifactRows, artifactRows } from "./rows/artifactRows.ts";
export {
  type CallEnd,
  type CallRows,
  callRows,
  type IdempotencyKey,
  type IdempotencyRow,
} from "./rows/callRows.ts";
export {
  type CoverageRows,
  coverageRows,
  type LastRun,
  type RequirementCoverage,
  type RunFilter,
  type UncoveredRequirement,
} from "./rows/coverageRows.ts";
export {
  type EventRows,
  eventChannel,
  eventRows,
} from "./rows/eventRows.ts";
export {
  type ExecutionFilter,
  type ExecutionPlace,
  type ExecutionSearch,
  executionSearch,
  type FoundExecution,
} from "./rows/executionSearch.ts";
export { type Alert, type AlertFilter, type AlertRows, alertRows } from "./rows/lab/alertRows.ts";
export {
  type Deployment,
  type DeploymentRows,
  deploymentRows,
  type ListedDeployment,
} from "./rows/lab/deploymentRows.ts";
export {
  type DeploymentRun,
  type DeploymentRunEnd,
  type DeploymentRunRows,
  deploymentRunRows,
} from "./rows/lab/deploymentRunRows.ts";
export {
  type Investigation,
  type InvestigationRows,
  investigationRows,
} from "./rows/lab/investigationRows.ts";
export {
  type Memory,
  type MemoryFilter,
  type MemoryRows,
  type MemorySubject,
  memoryRows,
} from "./rows/lab/memoryRows.ts";
export {
  type LeaseLoss,
  type LeaseRows,
  leaseRows,
  type WantedLease,
} from "./rows/leaseRows.ts";
export {
  type ReferenceRow,
  type ReferenceRows,
  referenceRows,
} from "./rows/referenceRows.ts";
export {
  type LinkOutcome,
  type NewRequirement,
  type RequirementFilter,
  type RequirementLine,
  type RequirementPatch,
  type RequirementRows,
  requirementRows,
  type TracedRequirement,
  type TracedTest,
} from "./rows/requirementRows.ts";
export { type RunRecord, type RunRecords, runRecords } from "./rows/runRecords.ts";
export { agentTaskStates } from "./schema/taskStates.ts";

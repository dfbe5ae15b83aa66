export {
  type AgentEntry,
  type AgentSession,
  type AgentSessionPatch,
  agentSessionRows,
  type HeldSession,
  type NewAgentSession,
} from "./agentSessionRows.ts";
export {
  type AgentTask,
  type AgentTaskFilter,
  type AgentTaskPatch,
  agentTaskRows,
  type NewAgentTask,
} from "./agentTaskRows.ts";
export { type Alert, type AlertFilter, type AlertRows, alertRows } from "./alertRows.ts";
export { type Analysis, type AnalysisRows, type AwaitingExecution, analysisRows } from "./analysisRows.ts";
export { type ArtifactRow, type ArtifactRows, artifactRows } from "./artifactRows.ts";
export {
  type AuditRecord,
  type CallEnd,
  type CallRows,
  callRows,
  type IdempotencyKey,
  type IdempotencyRow,
} from "./callRows.ts";
export {
  type CoverageRows,
  coverageRows,
  type LastRun,
  type RequirementCoverage,
  type RunFilter,
  type UncoveredRequirement,
} from "./coverageRows.ts";
export type { Database } from "./database.ts";
export { databaseBytes } from "./databaseSize.ts";
export {
  type Deployment,
  type DeploymentRows,
  deploymentRows,
  type ListedDeployment,
} from "./deploymentRows.ts";
export {
  type DeploymentRun,
  type DeploymentRunEnd,
  type DeploymentRunRows,
  deploymentRunRows,
} from "./deploymentRunRows.ts";
export { type Engine, type EngineOptions, startEngine } from "./engine.ts";
export { type EventRow, type EventRows, eventChannel, eventRows, type NewEventRow } from "./eventRows.ts";
export {
  type ExecutionFilter,
  type ExecutionPlace,
  type ExecutionSearch,
  executionSearch,
  type FoundExecution,
} from "./executionSearch.ts";
export { type LeaseLoss, type LeaseRow, type LeaseRows, leaseRows, type WantedLease } from "./leaseRows.ts";
export { type DataDirLock, isDataDirLocked, lockDataDir } from "./lock.ts";
export { openStorage, type Storage, type StorageOptions, type StorageWatcher } from "./open.ts";
export {
  type NamedReference,
  type ReferenceFilter,
  type ReferenceKey,
  type ReferenceRow,
  type ReferenceRows,
  referenceRows,
} from "./referenceRows.ts";
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
} from "./requirementRows.ts";
export { type RunRecord, type RunRecords, runRecords } from "./runRecords.ts";
export type { AgentUsage } from "./schema/agents.ts";
export { type AgentTaskState, agentTaskStates } from "./taskStates.ts";

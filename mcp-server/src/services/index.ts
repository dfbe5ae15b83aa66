import type { ApiService } from "./apps/apis/index.ts";
import type { ApiTestService } from "./apps/apiTests/index.ts";
import type { AuthoringService } from "./apps/authoring/index.ts";
import type { AppFiles } from "./apps/files/index.ts";
import type { NavigationService } from "./apps/navigation/index.ts";
import type { PlanningService } from "./apps/planning/index.ts";
import type { TestcaseService } from "./apps/testcases/index.ts";
import type { UserInterfaceService } from "./apps/userinterfaces/index.ts";
import type { BatchService } from "./devices/batches.ts";
import type { DeviceFacts } from "./devices/deviceFacts.ts";
import type { Inventory } from "./devices/inventory.ts";
import type { LiveFrames } from "./devices/live.ts";
import type { RecordingService } from "./devices/recordings/index.ts";
import type { StepRecordings } from "./devices/recordings/steps.ts";
import type { ReferenceService } from "./devices/references/index.ts";
import type { AlertService } from "./lab/alerts/index.ts";
import type { Diagnosis } from "./lab/diagnosis/index.ts";
import type { InvestigationService } from "./lab/investigations/index.ts";
import type { ProcessService } from "./lab/processes/index.ts";
import type { RequirementService } from "./lab/requirements/index.ts";
import type {
  ActionExecutor,
  ArtifactStore,
  Clock,
  DeviceService,
  ExecutionService,
  ScreenAnalyst,
  ScreenService,
  Secrets,
  VerificationExecutor,
} from "./ports.ts";
import type { Notices } from "./records/notices.ts";
import type { DeploymentService } from "./runs/deployments/index.ts";
import type { ReportService } from "./runs/reports/index.ts";
import type { ResultService } from "./runs/results/index.ts";
import type { ScriptService } from "./runs/scripts/index.ts";
import type { WorkspaceService } from "./runs/workspace/index.ts";

export type { AgentSkill } from "./lab/userSkills.ts";
export type { ProductionPolicy } from "./policy/production.ts";
export * from "./ports.ts";
export type { EventFeed } from "./records/events.ts";
export { storableText } from "./records/executions/storable.ts";
export { inProject } from "./records/inUse.ts";
export { callerOf } from "./records/notices.ts";

export type Services = {
  clock: Clock;
  secrets: Secrets;
  artifacts: ArtifactStore;
  devices: DeviceService;
  inventory: Inventory;
  diagnosis: Diagnosis;
  actions: ActionExecutor;
  batches: BatchService;
  verifications: VerificationExecutor;
  screen: ScreenService & ScreenAnalyst;
  notices: Notices;
  executions: ExecutionService;
  userinterfaces: UserInterfaceService;
  navigation: NavigationService;
  testcases: TestcaseService;
  appFiles: AppFiles;
  scripts: ScriptService;
  requirements: RequirementService;
  reports: ReportService;
  recordings: RecordingService;
  steps: StepRecordings;
  live: LiveFrames;
  references: ReferenceService;
  deviceFacts: DeviceFacts;
  results: ResultService;
  alerts: AlertService;
  processes: ProcessService;
  investigations: InvestigationService;
  authoring: AuthoringService;
  planning: PlanningService;
  deployments: DeploymentService;
  workspace: WorkspaceService;
  apis: ApiService;
  apiTests: ApiTestService;
};
export type { LiveFrames } from "./devices/live.ts";

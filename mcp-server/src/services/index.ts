import type { AlertService } from "./alerts/index.ts";
import type { AuthoringService } from "./authoring/index.ts";
import type { BatchService } from "./batches.ts";
import type { DeploymentService } from "./deployments/index.ts";
import type { DeviceFacts } from "./deviceFacts.ts";
import type { Diagnosis } from "./diagnosis/index.ts";
import type { Inventory } from "./inventory.ts";
import type { NavigationService } from "./navigation/index.ts";
import type { Notices } from "./notices.ts";
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
import type { ProcessService } from "./processes/index.ts";
import type { RecordingService } from "./recordings/index.ts";
import type { ReferenceService } from "./references/index.ts";
import type { ReportService } from "./reports/index.ts";
import type { RequirementService } from "./requirements/index.ts";
import type { ResultService } from "./results/index.ts";
import type { ScriptService } from "./scripts/index.ts";
import type { TestcaseService } from "./testcases/index.ts";
import type { TranscriptService } from "./transcripts.ts";
import type { UserInterfaceService } from "./userinterfaces/index.ts";

export type { EventFeed } from "./events.ts";
export { storableText } from "./executions/storable.ts";
export { callerOf } from "./notices.ts";
export * from "./ports.ts";
export type { AgentSkill } from "./userSkills.ts";

/** Everything a tool may call. */
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
  scripts: ScriptService;
  requirements: RequirementService;
  reports: ReportService;
  recordings: RecordingService;
  transcripts: TranscriptService;
  references: ReferenceService;
  deviceFacts: DeviceFacts;
  results: ResultService;
  alerts: AlertService;
  processes: ProcessService;
  authoring: AuthoringService;
  deployments: DeploymentService;
};

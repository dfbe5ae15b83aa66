import type { AlertService } from "./alerts/index.ts";
import type { BatchService } from "./batches.ts";
import type { Diagnosis } from "./diagnosis/index.ts";
import type { Inventory } from "./inventory.ts";
import type { NavigationService } from "./navigation/index.ts";
import type {
  ActionExecutor,
  ArtifactStore,
  Clock,
  DeviceService,
  ExecutionService,
  ScreenService,
  Secrets,
  VerificationExecutor,
} from "./ports.ts";
import type { ReportService } from "./reports/index.ts";
import type { RequirementService } from "./requirements/index.ts";
import type { ResultService } from "./results/index.ts";
import type { TestcaseService } from "./testcases/index.ts";
import type { UserInterfaceService } from "./userinterfaces/index.ts";

export * from "./ports.ts";

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
  screen: ScreenService;
  executions: ExecutionService;
  userinterfaces: UserInterfaceService;
  navigation: NavigationService;
  testcases: TestcaseService;
  requirements: RequirementService;
  reports: ReportService;
  results: ResultService;
  alerts: AlertService;
};

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

export * from "./ports.ts";

/** Everything a tool may call. */
export type Services = {
  clock: Clock;
  secrets: Secrets;
  artifacts: ArtifactStore;
  devices: DeviceService;
  actions: ActionExecutor;
  verifications: VerificationExecutor;
  screen: ScreenService;
  executions: ExecutionService;
};

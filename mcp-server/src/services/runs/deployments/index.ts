export { createDeployments } from "./deployments.ts";
export type {
  DeploymentDependencies,
  DeploymentLine,
  DeploymentService,
  DeploymentView,
  PausedView,
  RunLine,
} from "./types.ts";

import type { DeploymentRunStatus, DeploymentStatus, Params } from "../../../domain/index.ts";
import type { Database, DeploymentRun } from "../../../storage/index.ts";
import type { AppsPort, TestcaseService } from "../../apps/testcases/index.ts";
import type {
  CallContext,
  Clock,
  DeviceService,
  EventInput,
  ExecutionService,
  Secrets,
} from "../../ports.ts";
import type { ScriptService } from "../scripts/index.ts";

/** How a deployment stands. `next_due` is UTC, `next_due_local` the same in its time zone where that is another. */
export type DeploymentView = {
  deployment_id: string;
  name: string;
  status: DeploymentStatus;
  device_id: string;
  next_due?: string;
  next_due_local?: string;
};
export type PausedView = DeploymentView & {
  /** The run that goes on: its execution, or where it stands while it has none. */
  still_running?: string;
  /** Runs that waited and will not start. */
  cancelled?: number;
};
export type DeploymentLine = DeploymentView & {
  testcase?: string;
  script?: string;
  cron?: string;
  timezone?: string;
  dates?: number;
  started: number;
  max_executions?: number;
  last?: DeploymentRunStatus;
};
export type RunCall = { tool: "execute_testcase" | "execute_script"; arguments: Params };
export type RunLine = Pick<
  DeploymentRun,
  "due_at" | "status" | "execution_id" | "started_at" | "finished_at"
> & {
  reason?: string;
};

export type DeploymentService = {
  /** Throws every problem at once and stores nothing then: INVALID_INPUT, or the code of a single problem. */
  create(given: Params, context: CallContext): Promise<DeploymentView>;
  /** By name. */
  list(query: {
    status?: DeploymentStatus | undefined;
    maxTokens: number;
  }): Promise<{ deployments: DeploymentLine[]; more: number }>;
  /** Null takes a value away. Throws what `create` throws and, as all below, DEPLOYMENT_NOT_FOUND with the nearest. */
  update(ref: string, changes: Params): Promise<DeploymentView>;
  /** Nothing starts any more: what waits is cancelled, what runs goes on. */
  pause(ref: string): Promise<PausedView>;
  /** From the next due time on; those in between were not missed. Throws INVALID_INPUT when none will come. */
  resume(ref: string): Promise<DeploymentView>;
  /** With its history. Throws CONFIRMATION_REQUIRED, with what would go, unless `confirm`. */
  remove(ref: string, confirm: boolean): Promise<{ deployment_id: string; name: string; runs: number }>;
  /** Newest first; `call` runs now what is run when due. */
  history(query: {
    deployment: string;
    status?: DeploymentRunStatus | undefined;
    maxTokens: number;
  }): Promise<{ deployment_id: string; name: string; call: RunCall; runs: RunLine[]; more: number }>;
  /** How many of this host wait for a due time, or have a run that is not over. */
  pending(): Promise<number>;
  /** Says what a dead daemon left, and goes on with the rest. Once, behind `executions.recover`. */
  start(): Promise<void>;
  close(): Promise<void>;
};

export type DeploymentDependencies = {
  db: Database;
  devices: Pick<DeviceService, "list" | "find" | "acquire" | "releaseClient">;
  executions: Pick<ExecutionService, "get">;
  testcases: Pick<TestcaseService, "load" | "execute">;
  apps: AppsPort;
  scripts: Pick<ScriptService, "find" | "execute">;
  /** Appends inside the transaction that ends a run. */
  events: { append(tx: Database, event: EventInput): Promise<unknown> };
  secrets: Secrets;
  clock: Clock;
  host: string;
  onFault(error: unknown): void;
};

import { z } from "zod";
import {
  attemptSchema,
  dispatchedSchema,
  type Failure,
  type Params,
  paramsSchema,
  type RetryOn,
  type Source,
  type TestCaseInput,
} from "../../../domain/index.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { TestcaseRows } from "../../../storage/rows/testcaseRows.ts";
import type { AllowedRequest } from "../../policy/allowedFetch.ts";
import type { Uploads } from "../../policy/uploads.ts";
import type {
  ActionExecutor,
  Clock,
  DeviceRef,
  DeviceService,
  ExecutionService,
  OpenDevice,
  Run,
  RunReply,
  ScreenService,
  ScriptPort,
  Secrets,
  VerificationExecutor,
} from "../../ports.ts";
import type { SchemaChecker } from "../apis/requests/schemaChecker.ts";
import type { Verbs } from "../steps/index.ts";
import type { AppView } from "../userinterfaces/index.ts";
import type { PastRun } from "./rerun.ts";

/** `path` is the block's, such as `loop1/check`; empty for the whole. */
export type Problem = {
  path: string;
  code: string;
  message: string;
  at?: readonly PropertyKey[];
  key?: string;
};

/** The test cases that a run will call, by name or id, and its set-up test. */
export type Called = ReadonlyMap<string, TestCaseInput>;

export type AppsPort = {
  /** Throws USERINTERFACE_NOT_FOUND with the nearest. */
  describe(userinterface: string, tx?: Database): Promise<AppView>;
};

export type NavigationRequest = {
  userinterface: string;
  target: string;
  variables: Params;
  isChecked?: boolean;
};
export type NavigationOutcome = {
  reached: boolean;
  verified: boolean;
  refused?: Failure | undefined;
  error?: Failure | undefined;
};
export type NavigationPort = {
  navigate(run: Run, request: NavigationRequest): Promise<NavigationOutcome>;
  /** The tracked node; undefined if it is not known. */
  position?(
    device: OpenDevice,
    request: { userinterface_name: string; identify: boolean },
    signal: AbortSignal,
  ): Promise<{ node?: string }>;
};

export type HttpPort = (url: string, init: AllowedRequest) => Promise<Response>;

export type BlockPorts = {
  actions: ActionExecutor;
  verifications: VerificationExecutor;
  navigation: NavigationPort;
  scripts: ScriptPort;
  screen: Pick<ScreenService, "capture" | "slowness">;
  devices: Pick<DeviceService, "drivenOutsideNavigation">;
  secrets: Secrets;
  clock: Clock;
  http: HttpPort;
  schemas: SchemaChecker;
  uploads: Uploads;
};

/** The scenarios of a feature in the short form, and what is wrong with it, line by line; `weak` runs all the same. */
type ReadFeature = (
  text: string,
  app: string | undefined,
) => Promise<{
  tests: readonly unknown[];
  findings: readonly { line: number; message: string; weak?: true }[];
}>;

export type TestcaseDependencies = BlockPorts & {
  rows: TestcaseRows;
  rowsIn: (tx: Database) => TestcaseRows;
  transaction<Result>(work: (tx: Database) => Promise<Result>): Promise<Result>;
  devices: DeviceService;
  executions: ExecutionService;
  apps: AppsPort;
  environments?: Readonly<Record<string, { variables: Params }>>;
  verbs(): Verbs;
  readFeature?: ReadFeature;
  /** The last finished run of a test case on a build, or without one. */
  lastRun(test: { name: string; project?: string; build?: string | undefined }): Promise<PastRun | undefined>;
};

/** The step that decided a verdict that is not `passed`. `evidence` are artifact URIs. */
export const failedStepSchema = z.object({
  path: z.string(),
  label: z.string(),
  code: z.string(),
  message: z.string(),
  expected: z.string().optional(),
  found: z.string().optional(),
  nearest: z.array(z.string()).optional(),
  dispatched: dispatchedSchema.optional(),
  evidence: z.array(z.string()).optional(),
});
export type FailedStep = z.output<typeof failedStepSchema>;

export const rowRunSchema = z.object({
  row: z.string(),
  status: z.string(),
  execution_id: z.string(),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type RowRun = z.output<typeof rowRunSchema>;

export const testcaseResultSchema = z.object({
  testcase: z.string(),
  verified_count: z.int(),
  outputs: paramsSchema,
  failed_step: failedStepSchema.optional(),
  attempts: z.array(attemptSchema).optional(),
  flaky: z.boolean().optional(),
  rerun: z.string().optional(),
  /** Faults of the app that no check looked for: HTTP errors, slow steps. If the test did not pass, everything that the app did by itself. */
  notices: z.array(z.string()).optional(),
  rows: z.array(rowRunSchema).optional(),
});
export type TestcaseResult = z.output<typeof testcaseResultSchema>;

/** How a run of a test case ended; the code and message of the failed step are in `reason`. */
export type TestcaseEnd = {
  verified_count?: number | undefined;
  outputs?: Params | undefined;
  failed_step?: Omit<FailedStep, "code" | "message"> | undefined;
  /** For a run with rows. `not_passed` is cut to a sensible length. */
  rows?: { total: number; passed: number; not_passed: RowRun[]; more?: number } | undefined;
} & Pick<TestcaseResult, "attempts" | "flaky" | "rerun" | "notices">;
export type TestcaseReply = Omit<RunReply<never>, "output"> & TestcaseEnd;

export type ExecuteRequest = DeviceRef & {
  /** Name or id. */
  testcase: string;
  /** The test itself; then none is looked up, and its run is one of a test case of its name. */
  unsaved?: unknown;
  userinterface_name?: string | undefined;
  /** Whether it starts fresh, over what the test case and its app say. */
  fresh?: boolean | undefined;
  inputs: Params;
  wait_ms: number;
  timeout_ms: number;
  environment?: string | undefined;
  /** Lets requests of the run change data in production. */
  allow_production?: boolean | undefined;
  release?: string | undefined;
  build?: string | undefined;
  correlation_id?: string | undefined;
  /** A pause after each command, for a person who watches. */
  slow_ms?: number | undefined;
  /** Stops before each step; the call returns at each stop. */
  stop?: boolean | undefined;
  /** Starts no run: makes the next step of this run, which is stopped, or all that are left. */
  go?: { execution_id: string; way: "next" | "on" } | undefined;
  retries?: number | undefined;
  retry_on?: RetryOn | undefined;
};

export type TestcaseSummary = {
  id: string;
  name: string;
  project?: string;
  userinterface_name?: string | undefined;
  tags?: string[] | undefined;
  inputs?: string[] | undefined;
  /** Only for a test case that runs without a device. */
  needs_device?: false;
};

/** A run of a test that is not stored. */
export type UnsavedRequest = Pick<
  ExecuteRequest,
  | "device_id"
  | "session_id"
  | "fresh"
  | "inputs"
  | "wait_ms"
  | "timeout_ms"
  | "environment"
  | "release"
  | "build"
  | "allow_production"
> & {
  /** A plan may act without a check, and has no history. A plan where it is left out. */
  kind?: "plan" | "testcase";
};

/** Writes a test case that a transaction stored, or removed, into its file; a new one gets a file. */
export type TestKeeper = (tx: Database, test: { id: string; name: string; source: Source }) => Promise<void>;
export type ListedProblem = Problem & { index: number };
/** What is known besides what is stored: a transaction, and apps that are imported with the tests. */
export type Within = { tx?: Database | undefined; apps?: readonly AppView[] | undefined };
export type ImportOptions = Within & {
  /** Where each test was loaded from. Without it, files of projects are written. */
  placeOf?: (index: number) => { source: Source; file_position: number | undefined };
  refuse(problems: readonly ListedProblem[]): never;
  /** Whether tests of the same names may be replaced. */
  replace?: boolean;
};

import { z } from "zod";
import {
  attemptSchema,
  type Failure,
  type Params,
  paramsSchema,
  type RetryOn,
  type Source,
  type TestCase,
  type TestCaseInput,
} from "../../../domain/index.ts";
import type { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { TestcaseRows } from "../../../storage/rows/testcaseRows.ts";
import type { AllowedRequest } from "../../policy/allowedFetch.ts";
import type { Uploads } from "../../policy/uploads.ts";
import type {
  ActionExecutor,
  CallContext,
  Clock,
  DeviceRef,
  DeviceService,
  ExecutionService,
  OfferingDevice,
  OpenDevice,
  Run,
  RunReply,
  ScreenService,
  ScriptPort,
  Secrets,
  VerificationExecutor,
} from "../../ports.ts";
import type { Verbs } from "../steps/index.ts";
import type { AppView } from "../userinterfaces/index.ts";
import type { SchemaChecker } from "./api/schemaChecker.ts";
import type { PastRun } from "./rerun.ts";

/** What is wrong with a test case. `path` is the block's, such as `loop1/check`; empty for the whole. */
export type Problem = {
  path: string;
  code: string;
  message: string;
  /** Where it is written, from the top of the test case. */
  at?: readonly PropertyKey[];
  /** The key at that place that is meant. */
  key?: string;
};

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
  /** The node where the device is taken to be; undefined when nobody knows. */
  position?(
    device: OpenDevice,
    request: { userinterface_name: string; identify: boolean },
    signal: AbortSignal,
  ): Promise<{ node?: string }>;
};

/** A request under the URL policy. */
export type HttpPort = (url: string, init: AllowedRequest) => Promise<Response>;

/** What blocks act through. */
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

export type TestcaseDependencies = BlockPorts & {
  rows: TestcaseRows;
  /** The rows within a transaction. */
  rowsIn: (tx: Database) => TestcaseRows;
  transaction<Result>(work: (tx: Database) => Promise<Result>): Promise<Result>;
  devices: DeviceService;
  executions: ExecutionService;
  apps: AppsPort;
  /** Those of the configuration, by name, with their variables. */
  environments?: Readonly<Record<string, { variables: Params }>>;
  /** What the drivers offer, by which steps are told apart. */
  verbs(): Verbs;
  /** The last finished run of a test case on a build, or on none. */
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
  evidence: z.array(z.string()).optional(),
});
export type FailedStep = z.output<typeof failedStepSchema>;

/** The run of one row of a test case with `for_each`. */
export const rowRunSchema = z.object({
  row: z.string(),
  status: z.string(),
  execution_id: z.string(),
  reason: z.object({ code: z.string(), message: z.string() }).optional(),
});
export type RowRun = z.output<typeof rowRunSchema>;

/** What an execution of a test case keeps beside its steps. */
export const testcaseResultSchema = z.object({
  testcase: z.string(),
  verified_count: z.int(),
  outputs: paramsSchema,
  failed_step: failedStepSchema.optional(),
  attempts: z.array(attemptSchema).optional(),
  flaky: z.boolean().optional(),
  rerun: z.string().optional(),
  /** Faults of the app that no check looked for: HTTP errors of its pages, slow steps. Without a pass all that the app did by itself. */
  notices: z.array(z.string()).optional(),
  rows: z.array(rowRunSchema).optional(),
});
export type TestcaseResult = z.output<typeof testcaseResultSchema>;

/** How a run of a test case ended; the code and message of the failed step are in `reason`. */
export type TestcaseEnd = {
  verified_count?: number | undefined;
  outputs?: Params | undefined;
  failed_step?: Omit<FailedStep, "code" | "message"> | undefined;
  /** Of a run for each row; of those that did not pass, as many as a reply should hold. */
  rows?: { total: number; passed: number; not_passed: RowRun[]; more?: number } | undefined;
} & Pick<TestcaseResult, "attempts" | "flaky" | "rerun" | "notices">;
export type TestcaseReply = Omit<RunReply<never>, "output"> & TestcaseEnd;

export type ExecuteRequest = DeviceRef & {
  /** Name or id. */
  testcase: string;
  userinterface_name?: string | undefined;
  /** Whether it starts fresh, over what the test case and its app say. */
  fresh?: boolean | undefined;
  inputs: Params;
  wait_ms: number;
  timeout_ms: number;
  environment?: string | undefined;
  release?: string | undefined;
  build?: string | undefined;
  correlation_id?: string | undefined;
  /** A pause behind each command, for a person who watches. */
  slow_ms?: number | undefined;
  /** Stops before each step; the call returns at each stop. */
  stop?: boolean | undefined;
  /** Starts no run: makes the next step of this run, which is stopped, or all that are left. */
  go?: { execution_id: string; way: "next" | "on" } | undefined;
  /** In place of the test case's own. */
  retries?: number | undefined;
  retry_on?: RetryOn | undefined;
};

export type TestcaseSummary = {
  id: string;
  name: string;
  /** The folder of the project that has its file. */
  project?: string;
  userinterface_name?: string | undefined;
  tags?: string[] | undefined;
  inputs?: string[] | undefined;
  /** There for a test case that runs without a device. */
  needs_device?: false;
};

export type TestcaseService = {
  /**
   * Saves by name, in steps or in blocks and edges. Throws TESTCASE_INVALID, EMPTY_TEST or UNKNOWN_VARIABLE with every problem; commands are checked
   * when a device is given, nodes when the test case names a userinterface.
   */
  save(
    testcase: unknown,
    options: { device?: OfferingDevice | undefined },
  ): Promise<{ id: string; name: string; created: boolean }>;
  /** {@link save}, with the commands checked against the device that the call names, if it names one. */
  saveFor(
    testcase: unknown,
    device: DeviceRef,
    context: CallContext,
  ): Promise<{ id: string; name: string; created: boolean }>;
  /** Validates as {@link saveFor} does and, unless `save` is false, keeps it, never in place of another: ALREADY_EXISTS. */
  createFor(
    testcase: unknown,
    device: DeviceRef,
    context: CallContext,
    save: boolean,
  ): Promise<{ id: string | undefined; testcase: TestCaseInput }>;
  names(): Promise<string[]>;
  /** By name or id. Throws TESTCASE_NOT_FOUND with the nearest names. */
  load(ref: string): Promise<TestCase>;
  /** {@link load}, in the short form where it is a sequence. */
  loadWritten(ref: string): Promise<{ id: string; updated_at: string; testcase: Record<string, unknown> }>;
  /** By name, from `offset` on; as many as fit into `maxTokens`, and how many did not. */
  list(filter: {
    tag?: string | undefined;
    userinterface?: string | undefined;
    offset?: number;
    maxTokens: number;
  }): Promise<{ testcases: TestcaseSummary[]; more: number }>;
  /** Also in the test cases of its project that call it, which are named in `callers`. Throws ALREADY_EXISTS. */
  rename(ref: string, name: string): Promise<{ id: string; name: string; callers: string[] }>;
  /** Throws CONFIRMATION_REQUIRED, with what would go, unless `confirm`, and PROTECTED for all that a file holds. */
  remove(ref: string, confirm: boolean): Promise<{ id: string; name: string }>;
  /** Validates all, then runs. Throws what `save` throws, and INVALID_INPUT for wrong inputs, before anything runs. */
  execute(request: ExecuteRequest, context: CallContext): Promise<TestcaseReply>;
  /** Test cases of an app as its file has them, by name: in steps where they are a sequence. */
  exportFor(app: AppView): Promise<Params[]>;
  /**
   * Saves a list, in either form, all or none, within the caller's transaction if one is given; calls among the list are
   * known. `apps` are known already. `refuse` makes the error of all that is wrong; without it the first test case that is
   * wrong has its own. `placeOf` says what is loaded from where; otherwise files of projects are written.
   */
  importAll(list: readonly unknown[], options?: ImportOptions): Promise<{ names: string[] }>;
  /** Tests of a file in the form that {@link exportFor} gives, whether they are stored or not; as given where they cannot be read. */
  written(list: readonly unknown[], within: { tx: Database; app?: AppView | undefined }): Promise<Params[]>;
  /** Says who writes files when the test cases that they hold were stored. */
  keepSources(keeper: TestKeeper): void;
};
/** Writes a test case that a transaction stored, or took away, into the file that it is of; a new one gets a file. */
export type TestKeeper = (tx: Database, test: { id: string; name: string; source: Source }) => Promise<void>;
/** A problem of the test case at `index` of a list. */
export type ListedProblem = Problem & { index: number };
export type ImportOptions = {
  tx?: Database;
  /** Apps that are imported with the tests and may not be stored yet. */
  apps?: readonly AppView[];
  placeOf?: (index: number) => { source: Source; file_position: number | undefined };
  /** Looks for what is wrong in all of them, and saves nothing. */
  dryRun?: boolean;
  refuse?: (problems: readonly ListedProblem[]) => ToolError;
};

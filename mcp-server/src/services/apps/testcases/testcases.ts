import {
  databaseOnly,
  type Params,
  paramsSchema,
  type Source,
  type TestCase,
  type TestCaseInput,
} from "../../../domain/index.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { TestcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { offeringOf } from "../../devices/findCommand.ts";
import type { CallContext, DeviceRef, OfferingDevice, OpenDevice } from "../../ports.ts";
import { Stepping } from "../../records/executions/index.ts";
import { inProject } from "../../records/inUse.ts";
import { pageOf } from "../../values/pages.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { type Prepared, runTestcase } from "./execute.ts";
import { canStartFresh, checkFreshStart, Setups, type Start, startOf } from "./freshStart.ts";
import { GivenTests } from "./givenTests.ts";
import { problemsError, testNameOf } from "./parse.ts";
import { replyOf, summaryOf } from "./replies.ts";
import { rowFiles } from "./rowFiles.ts";
import { type Row, rowsOf } from "./rows.ts";
import { type MayReplace, StoredTests } from "./storedTests.ts";
import type {
  ExecuteRequest,
  ImportOptions,
  ListedProblem,
  TestcaseDependencies,
  TestcaseReply,
  TestKeeper,
  UnsavedRequest,
  Within,
} from "./types.ts";
import { openUsed, usesDevice } from "./usesDevice.ts";
import { contentOf, inputProblemsOf, inspect, type ValidationPorts, validate } from "./validate.ts";
import { withoutGherkin } from "./withoutGherkin.ts";

/** What an import knows besides what is stored. */
type PortsWithin = Within & { rows?: TestcaseRows; among?: ReadonlyMap<string, TestCaseInput> };

export type TestcaseService = Pick<Testcases, keyof Testcases>;

export const createTestcases = (deps: TestcaseDependencies): TestcaseService => new Testcases(deps);

class Testcases {
  private readonly setups: Setups;
  private readonly given: GivenTests;
  private readonly stored: StoredTests;

  constructor(private readonly deps: TestcaseDependencies) {
    this.given = new GivenTests(deps);
    this.stored = new StoredTests(deps);
    this.setups = new Setups(deps.clock, deps.secrets);
  }

  /** By name, in steps or in blocks and edges. Throws TESTCASE_INVALID, EMPTY_TEST or UNKNOWN_VARIABLE with every problem, and ALREADY_EXISTS. */
  async save(
    given: unknown,
    { device, replace = () => false }: { device?: OfferingDevice | undefined; replace?: MayReplace },
  ) {
    const checked = await this.check(given, device);
    const { id, created } = await this.stored.save(checked, replace);
    return { id, name: checked.testcase.name, created };
  }

  /** Like {@link save}; commands are checked against the device that the call names. */
  async saveFor(given: unknown, ref: DeviceRef, context: CallContext, replace = false) {
    return this.save(given, { device: await this.deviceOf(ref, context), replace: () => replace });
  }

  /** Like {@link saveFor}, but never replaces a test: ALREADY_EXISTS. Without `save` it only validates. */
  async createFor(given: unknown, ref: DeviceRef, context: CallContext, save: boolean) {
    const checked = await this.check(given, await this.deviceOf(ref, context));
    return { id: await this.stored.create(checked, save), testcase: checked.testcase };
  }

  /** Sets who writes files when the test cases that they hold were stored. */
  keepSources(keeper: TestKeeper): void {
    this.stored.keepSources(keeper);
  }

  names(): Promise<string[]> {
    return this.deps.rows.names();
  }

  /** By name or id. Throws TESTCASE_NOT_FOUND with the nearest names. */
  load(ref: string): Promise<TestCase> {
    return this.stored.load(ref);
  }

  /** {@link load}, in steps where it is a sequence. */
  async loadWritten(ref: string) {
    const saved = await this.load(ref);
    const written = await inProject(saved.source.project, async () =>
      this.given.write(contentOf(saved), await this.names()),
    );
    return { id: saved.id, updated_at: saved.updated_at, testcase: written };
  }

  /** By name, from `offset` on; as many as fit into `maxTokens`, and how many did not. */
  async list({
    tag,
    userinterface,
    offset = 0,
    maxTokens,
  }: {
    tag?: string | undefined;
    userinterface?: string | undefined;
    offset?: number;
    maxTokens: number;
  }) {
    const all = await this.deps.rows.list(userinterface === undefined ? undefined : { name: userinterface });
    const found = await Promise.all(
      all
        .filter(({ tags }) => tag === undefined || tags.includes(tag))
        .map(async (testcase) =>
          summaryOf(testcase, await usesDevice(testcase, this.portsAmong(testcase, all))),
        ),
    );
    const { items: testcases, more } = pageOf(found, offset, maxTokens);
    return { testcases, more };
  }

  /** Also in the test cases of its project that call it. Throws ALREADY_EXISTS. */
  async rename(ref: string, name: string): Promise<{ id: string; name: string; callers: string[] }> {
    const testcase = await this.load(ref);
    return { id: testcase.id, ...(await this.stored.rename(testcase, name)) };
  }

  /** Throws CONFIRMATION_REQUIRED unless `confirm`, and PROTECTED if a file would be empty. */
  async remove(ref: string, confirm: boolean): Promise<{ id: string; name: string }> {
    const testcase = await this.load(ref);
    if (!confirm) {
      const calling = await this.stored.callersOf(testcase, [testcase.name, testcase.id]);
      const callers = calling.map(({ name }) => name);
      const broken = callers.length > 0 ? `; these call it and would fail: ${callers.join(", ")}` : "";
      throw new ToolError(
        "CONFIRMATION_REQUIRED",
        `This would delete the test case "${testcase.name}"${broken}. Its executions and reports stay.`,
        "Call again with confirm: true.",
        { would_delete: [testcase.name], callers },
      );
    }
    await this.stored.remove(testcase);
    return { id: testcase.id, name: testcase.name };
  }

  /** Throws what `save` throws, and INVALID_INPUT for wrong inputs, before anything runs. */
  async execute(request: ExecuteRequest, context: CallContext): Promise<TestcaseReply> {
    if (request.go) {
      const { execution_id, way } = request.go;
      this.deps.executions.goOn(execution_id, way);
      return replyOf(await this.deps.executions.wait(execution_id, request.wait_ms, context));
    }
    if (request.unsaved !== undefined)
      return this.executeUnsaved(request.unsaved, { ...request, kind: "testcase" }, context);
    const saved = await this.load(request.testcase);
    return inProject(saved.source.project, () =>
      this.start(contentOf(saved), request, { context, source: saved.source, kind: "testcase" }),
    );
  }

  /** Throws what {@link save} throws. */
  async checkUnsaved(given: unknown, ref: DeviceRef, context: CallContext): Promise<void> {
    await this.check(given, await this.deviceOf(ref, context), { mayCheckNothing: true });
  }

  /** Runs a test that is not stored, as a plan. Throws what {@link save} and {@link execute} throw. */
  async executeUnsaved(
    given: unknown,
    { kind = "plan", ...request }: UnsavedRequest,
    context: CallContext,
  ): Promise<TestcaseReply> {
    const device = await this.deviceOf(request, context);
    const test = await withoutGherkin(given, this.deps.readFeature);
    const { testcase, app } = await this.check(test, device, { mayCheckNothing: kind === "plan" });
    const source = { ...databaseOnly, project: app?.project ?? "" };
    return inProject(source.project, () =>
      this.start(testcase, { ...request, testcase: testcase.name }, { context, source, kind }),
    );
  }

  private async start(
    testcase: TestCaseInput,
    request: ExecuteRequest,
    { context, source, kind }: { context: CallContext; source: Source; kind: Prepared["kind"] },
  ) {
    const userinterface = request.userinterface_name ?? testcase.userinterface_name;
    const app = userinterface === undefined ? undefined : await this.deps.apps.describe(userinterface);
    const rows = await this.rowsFor(testcase, request, { app, source });
    const first = { ...request, inputs: rows?.[0]?.inputs ?? request.inputs };
    const checked = await this.checkBeforeRun(testcase, first, { app, kind }, context);
    const prepared = {
      kind,
      testcase,
      rows,
      row: undefined,
      request,
      app,
      ...checked,
      setups: this.setups,
      stops: request.stop ? new Stepping() : undefined,
      context,
    };
    return replyOf(await runTestcase(prepared, this.deps));
  }

  /** A required input may come from the rows, so they are read first. */
  private async rowsFor(
    testcase: TestCaseInput,
    { inputs, environment = "" }: ExecuteRequest,
    { app, source }: { app: AppView | undefined; source: Source },
  ): Promise<Row[] | undefined> {
    if (testcase.for_each === undefined) return undefined;
    const env = this.deps.environments?.[environment]?.variables ?? {};
    return rowsOf(testcase, inputs, { ...app?.variables, env }, rowFiles(source, this.deps.uploads));
  }

  /** Test cases of an app as its file has them, by name: in steps where they are a sequence. */
  async exportFor(app: AppView): Promise<Params[]> {
    const names = await this.names();
    const testcases = await this.deps.rows.list(app);
    return Promise.all(
      testcases.map((testcase) => this.given.write(contentOf(testcase), names, { apps: [app] })),
    );
  }

  /** Tests of a file in the form that {@link exportFor} gives, stored or not; as given where they cannot be read. */
  async written(
    list: readonly unknown[],
    { tx, app }: { tx: Database; app?: AppView | undefined },
  ): Promise<Params[]> {
    const within = { tx, apps: app ? [app] : [] };
    const names = [...list.map(testNameOf), ...(await this.deps.rowsIn(tx).names())];
    return Promise.all(
      list.map(async (given) => {
        const read = await this.given.read(given, names, within);
        return "problems" in read
          ? paramsSchema.parse(given)
          : this.given.write(read.testcase, names, within);
      }),
    );
  }

  /** All or none, within the caller's transaction if one is given. Tests of the list may call each other. Throws ALREADY_EXISTS. */
  async importAll(list: readonly unknown[], options: ImportOptions): Promise<{ names: string[] }> {
    const { sound, problems } = await this.readAll(list, options);
    // If one cannot be read, calls of it would be reported as unknown test cases.
    if (problems.length === 0) problems.push(...(await this.problemsAmong(sound, options, { toLoad: true })));
    if (problems.length > 0) options.refuse(problems);
    await this.stored.saveAll(sound, options);
    return { names: sound.map(({ testcase }) => testcase.name) };
  }

  /** What an import of the list would be refused with. */
  async problemsIn(list: readonly unknown[], within: Within): Promise<ListedProblem[]> {
    const { sound, problems } = await this.readAll(list, within);
    return [...problems, ...(await this.problemsAmong(sound, within, { toLoad: false }))];
  }

  private async readAll(list: readonly unknown[], within: Within) {
    const names = [...list.map(testNameOf), ...(await this.rowsIn(within).names())];
    const read = await Promise.all(list.map((given) => this.given.read(given, names, within)));
    const problems = read.flatMap((one, index) =>
      "problems" in one ? one.problems.map((problem): ListedProblem => ({ ...problem, index })) : [],
    );
    return { sound: read.flatMap((one, index) => ("testcase" in one ? [{ ...one, index }] : [])), problems };
  }

  private async problemsAmong(
    sound: Awaited<ReturnType<Testcases["readAll"]>>["sound"],
    within: Within,
    { toLoad }: { toLoad: boolean },
  ): Promise<ListedProblem[]> {
    const among = new Map(sound.map(({ testcase }) => [testcase.name, testcase]));
    const ports = this.ports({ ...within, rows: this.rowsIn(within), among });
    const found: ListedProblem[] = [];
    for (const { testcase, app, placed, index } of sound) {
      const { problems } = await inspect(testcase, { app, toLoad }, ports);
      found.push(...problems.map((problem) => ({ ...placed(problem), index })));
    }
    return found;
  }

  private rowsIn({ tx }: Within): TestcaseRows {
    return tx ? this.deps.rowsIn(tx) : this.deps.rows;
  }

  private async check(given: unknown, device: OfferingDevice | undefined, options = {}) {
    const read = await this.given.read(given, [testNameOf(given), ...(await this.names())]);
    if ("problems" in read) throw problemsError(testNameOf(given), read.problems);
    const { testcase, app, placed } = read;
    const { problems } = await inspect(testcase, { device, app, ...options }, this.ports());
    if (problems.length > 0) throw problemsError(testcase.name, problems.map(placed));
    return { testcase, app };
  }

  private async deviceOf({ device_id, session_id }: DeviceRef, context: CallContext) {
    if (device_id === undefined && session_id === undefined) return undefined;
    return this.deps.devices.offering({ device_id, session_id }, context);
  }

  /** Everything that can be known to be wrong before the run has a record, the device's commands included. */
  private async checkBeforeRun(
    testcase: TestCaseInput,
    request: ExecuteRequest,
    { app, kind }: { app: AppView | undefined; kind: Prepared["kind"] },
    context: CallContext,
  ): Promise<Pick<Prepared, "called" | "start" | "device" | "isFresh" | "position">> {
    const problems = inputProblemsOf(testcase, request.inputs);
    if (problems.length > 0) {
      const inputs = testcase.inputs.map(({ name }) => name);
      const hint = inputs.length > 0 ? `Its inputs are ${inputs.join(", ")}.` : "It takes no inputs.";
      throw new ToolError("INVALID_INPUT", problems.join("; "), hint, { problems });
    }
    const { device_id, session_id, fresh } = request;
    const overrides = request.userinterface_name !== undefined;
    const mayCheckNothing = kind === "plan";
    const namesDevice = device_id !== undefined || session_id !== undefined;
    if (!namesDevice && !(await usesDevice(testcase, this.ports()))) {
      const called = await validate(
        testcase,
        { app, overrides, mayCheckNothing, fresh: false, toRun: true },
        this.ports(),
      );
      // What an app says of its start is for devices.
      const start = startOf(testcase, undefined, fresh);
      return { called, start, device: "none", isFresh: undefined, position: undefined };
    }
    const grant = await this.deps.devices.acquire({ device_id, session_id }, context, { drives: false });
    try {
      const { device } = grant;
      const check = () => {
        const against = {
          device: offeringOf(device, device),
          app,
          overrides,
          mayCheckNothing,
          fresh,
          toRun: true,
        };
        return validate(testcase, against, this.ports());
      };
      const called = await check();
      // What a controller withholds is known once it is open.
      if (await openUsed(device, [testcase, ...called.values()], grant.signal)) await check();
      checkFreshStart(device, fresh ?? testcase.fresh);
      const start = startOf(testcase, app, fresh);
      const position = await this.positionAt(start, device, app, context);
      const isFresh = start.fresh && canStartFresh(device);
      return { called, start, device: { device_id, session_id }, isFresh, position };
    } finally {
      grant.done();
    }
  }

  private async positionAt(
    start: Start,
    device: OpenDevice,
    app: AppView | undefined,
    { signal }: CallContext,
  ): Promise<string | undefined> {
    if (!app || (start.fresh && canStartFresh(device))) return undefined;
    const request = { userinterface_name: app.name, identify: false };
    return (await this.deps.navigation.position?.(device, request, signal))?.node;
  }

  private portsAmong({ source }: TestCase, all: readonly TestCase[]): ValidationPorts {
    const own = all.filter((other) => other.source.project === source.project);
    return this.ports({ among: new Map(own.map((other) => [other.name, other])) });
  }

  private ports(given: PortsWithin = {}): ValidationPorts {
    const { actions, verifications, secrets, schemas, scripts, apps } = this.deps;
    const { rows = this.deps.rows, among, apps: known = [], tx } = given;
    return {
      ...{ actions, verifications, secrets, schemas, scripts },
      findTestcase: async (ref) => {
        const listed = among?.get(ref);
        if (listed) return listed;
        const saved = await this.stored.find(ref, rows);
        return saved && contentOf(saved);
      },
      testcaseNames: async () => [...(among?.keys() ?? []), ...(await rows.names())],
      app: async (name) => known.find((app) => app.name === name) ?? apps.describe(name, tx),
    };
  }
}

import { paramsSchema, type TestCase, type TestCaseInput } from "../../../domain/index.ts";
import type { Source } from "../../../domain/source.ts";
import { ToolError } from "../../../errors.ts";
import type { Database } from "../../../storage/engine/database.ts";
import type { TestcaseRows } from "../../../storage/rows/testcaseRows.ts";
import { offeringOf } from "../../devices/findCommand.ts";
import type { CallContext, DeviceRef, OfferingDevice, OpenDevice } from "../../ports.ts";
import { Stepping } from "../../records/executions/index.ts";
import { inProject } from "../../records/project.ts";
import { pageOf } from "../../values/pages.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { type Prepared, runTestcase } from "./execute.ts";
import { canStartFresh, checkFreshStart, Setups } from "./freshStart.ts";
import { GivenTests, refusalOf } from "./givenTests.ts";
import { testNameOf } from "./parse.ts";
import { problemsError } from "./problems.ts";
import { replyOf, summaryOf } from "./replies.ts";
import { rowFiles } from "./rowFiles.ts";
import { type Row, rowsOf } from "./rows.ts";
import { type Start, startOf } from "./startOf.ts";
import { StoredTests } from "./storedTests.ts";
import type {
  ExecuteRequest,
  ImportOptions,
  ListedProblem,
  Problem,
  TestcaseDependencies,
  TestcaseReply,
  TestcaseService,
  TestKeeper,
} from "./types.ts";
import { openUsed, usesDevice } from "./usesDevice.ts";
import { contentOf, inputProblemsOf, look, type ValidationPorts, validate } from "./validate.ts";

/** Keeps test cases and runs them. */
export function createTestcases(deps: TestcaseDependencies): TestcaseService {
  return new Testcases(deps);
}

/** What an import knows beside what is stored. */
type PortsWithin = {
  rows?: TestcaseRows;
  among?: ReadonlyMap<string, TestCaseInput>;
  apps?: readonly AppView[] | undefined;
  tx?: Database | undefined;
};

class Testcases implements TestcaseService {
  private readonly deps: TestcaseDependencies;
  private readonly setups: Setups;
  private readonly given: GivenTests;
  private readonly stored: StoredTests;

  constructor(deps: TestcaseDependencies) {
    this.deps = deps;
    this.given = new GivenTests(deps);
    this.stored = new StoredTests(deps);
    this.setups = new Setups(deps.clock, deps.secrets);
  }

  async save(given: unknown, { device }: { device?: OfferingDevice | undefined }) {
    const checked = await this.check(given, device);
    const { id, created } = await this.stored.save(checked);
    return { id, name: checked.testcase.name, created };
  }

  async saveFor(given: unknown, ref: DeviceRef, context: CallContext) {
    return this.save(given, { device: await this.deviceOf(ref, context) });
  }

  async createFor(given: unknown, ref: DeviceRef, context: CallContext, save: boolean) {
    const checked = await this.check(given, await this.deviceOf(ref, context));
    return { id: await this.stored.create(checked, save), testcase: checked.testcase };
  }

  keepSources(keeper: TestKeeper): void {
    this.stored.keepSources(keeper);
  }

  names(): Promise<string[]> {
    return this.deps.rows.names();
  }

  load(ref: string): Promise<TestCase> {
    return this.stored.load(ref);
  }

  async loadWritten(ref: string) {
    const saved = await this.load(ref);
    const written = await inProject(saved.source.project, async () =>
      this.given.write(contentOf(saved), await this.names()),
    );
    return { id: saved.id, updated_at: saved.updated_at, testcase: written };
  }

  async list({ tag, userinterface, offset = 0, maxTokens }: Parameters<TestcaseService["list"]>[0]) {
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

  async rename(ref: string, name: string): Promise<{ id: string; name: string; callers: string[] }> {
    const testcase = await this.load(ref);
    return { id: testcase.id, ...(await this.stored.rename(testcase, name)) };
  }

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

  async execute(request: ExecuteRequest, context: CallContext): Promise<TestcaseReply> {
    if (request.go) {
      const { execution_id, way } = request.go;
      this.deps.executions.goOn(execution_id, way);
      return replyOf(await this.deps.executions.wait(execution_id, request.wait_ms, context));
    }
    const saved = await this.load(request.testcase);
    return inProject(saved.source.project, () =>
      this.start(contentOf(saved), request, { context, source: saved.source }),
    );
  }

  private async start(
    testcase: TestCaseInput,
    request: ExecuteRequest,
    { context, source }: { context: CallContext; source: Source },
  ) {
    const userinterface = request.userinterface_name ?? testcase.userinterface_name;
    const app = userinterface === undefined ? undefined : await this.deps.apps.describe(userinterface);
    const rows = await this.rowsFor(testcase, request, { app, source });
    const first = { ...request, inputs: rows?.[0]?.inputs ?? request.inputs };
    const checked = await this.checkBeforeRun(testcase, first, app, context);
    const prepared = {
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

  /** A required input may come from the rows, so these are read first. */
  private async rowsFor(
    testcase: TestCaseInput,
    { inputs, environment = "" }: ExecuteRequest,
    { app, source }: { app: AppView | undefined; source: Source },
  ): Promise<Row[] | undefined> {
    if (testcase.for_each === undefined) return undefined;
    const env = this.deps.environments?.[environment]?.variables ?? {};
    return rowsOf(testcase, inputs, { ...app?.variables, env }, rowFiles(source, this.deps.uploads));
  }

  async exportFor(app: AppView) {
    const names = await this.names();
    const testcases = await this.deps.rows.list(app);
    return Promise.all(
      testcases.map((testcase) => this.given.write(contentOf(testcase), names, { apps: [app] })),
    );
  }

  async written(list: readonly unknown[], { tx, app }: { tx: Database; app?: AppView | undefined }) {
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

  async importAll(list: readonly unknown[], options: ImportOptions = {}) {
    const { tx, apps, dryRun } = options;
    const rows = tx ? this.deps.rowsIn(tx) : this.deps.rows;
    const names = [...list.map(testNameOf), ...(await rows.names())];
    const read = await Promise.all(list.map((given) => this.given.read(given, names, options)));
    const problems: ListedProblem[] = [];
    const note = (index: number, found: readonly Problem[]) =>
      void problems.push(...found.map((problem) => ({ ...problem, index })));
    const sound = read.flatMap((one, index) => {
      if ("testcase" in one) return [{ ...one, index }];
      note(index, one.problems);
      return [];
    });
    const testcases = sound.map(({ testcase }) => testcase);
    const among = new Map(testcases.map((testcase) => [testcase.name, testcase]));
    const ports = this.ports({ rows, among, apps, tx });
    // While one cannot be read, a call of it would be reported as a call of a test case that is not there.
    for (const { testcase, app: own, placed, index } of problems.length > 0 && !dryRun ? [] : sound)
      note(index, (await look(testcase, { app: own, toLoad: !dryRun }, ports)).problems.map(placed));
    if (problems.length > 0) throw refusalOf(problems, list, options);
    if (dryRun) return { names: [] };
    await this.stored.saveAll(sound, options);
    return { names: testcases.map(({ name }) => name) };
  }

  private async check(given: unknown, device: OfferingDevice | undefined) {
    const read = await this.given.read(given, [testNameOf(given), ...(await this.names())]);
    if ("problems" in read) throw problemsError(testNameOf(given), read.problems);
    const { testcase, app, placed } = read;
    const { problems } = await look(testcase, { device, app }, this.ports());
    if (problems.length > 0) throw problemsError(testcase.name, problems.map(placed));
    return { testcase, app };
  }

  /** The device that a call names, if it names one. */
  private async deviceOf({ device_id, session_id }: DeviceRef, context: CallContext) {
    if (device_id === undefined && session_id === undefined) return undefined;
    return this.deps.devices.offering({ device_id, session_id }, context);
  }

  /** Everything that can be known to be wrong, the device's commands included, before the run has a record. */
  private async checkBeforeRun(
    testcase: TestCaseInput,
    request: ExecuteRequest,
    app: AppView | undefined,
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
    const namesDevice = device_id !== undefined || session_id !== undefined;
    if (!namesDevice && !(await usesDevice(testcase, this.ports()))) {
      const called = await validate(testcase, { app, overrides, fresh: false, toRun: true }, this.ports());
      // How an app starts is said of devices.
      return {
        called,
        start: startOf(testcase, undefined, fresh),
        device: "none",
        isFresh: undefined,
        position: undefined,
      };
    }
    const grant = await this.deps.devices.acquire({ device_id, session_id }, context, { drives: false });
    try {
      const { device } = grant;
      const check = () => {
        const against = { device: offeringOf(device, device), app, overrides, fresh, toRun: true };
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

  /** Where a run begins that goes on in what the device shows. */
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

  /** Test cases of a list as its test case calls them. */
  private portsAmong({ source }: TestCase, all: readonly TestCase[]): ValidationPorts {
    const own = all.filter((other) => other.source.project === source.project);
    return this.ports({ among: new Map(own.map((other) => [other.name, other])) });
  }

  private ports(given: PortsWithin = {}): ValidationPorts {
    const { actions, verifications, secrets, schemas, scripts, apps } = this.deps;
    const { stored } = this;
    const { rows = this.deps.rows, among, apps: known = [], tx } = given;
    return {
      actions,
      verifications,
      secrets,
      schemas,
      scripts,
      async findTestcase(ref) {
        const listed = among?.get(ref);
        if (listed) return listed;
        const saved = await stored.find(ref, rows);
        return saved && contentOf(saved);
      },
      testcaseNames: async () => [...(among?.keys() ?? []), ...(await rows.names())],
      app: async (name) => known.find((app) => app.name === name) ?? apps.describe(name, tx),
    };
  }
}

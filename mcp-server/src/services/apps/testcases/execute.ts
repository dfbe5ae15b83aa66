import { besideVerdict, type FinalStatus, noticesOf, type TestCaseInput } from "../../../domain/index.ts";
import { type Cookies, openConnections } from "../../policy/allowedFetch.ts";
import type { CallContext, Run, RunReply, RunSpec, StepStops } from "../../ports.ts";
import { abortEnding, reasonOf } from "../../records/executions/index.ts";
import { versionOf } from "../../records/executions/newExecution.ts";
import { storable } from "../../records/executions/storable.ts";
import { projectInUse } from "../../records/inUse.ts";
import { verdictOfClass } from "../../records/verdicts.ts";
import { withPlainNumbers } from "../../values/exactNumbers.ts";
import { settled } from "../../values/expressions.ts";
import type { AppView } from "../userinterfaces/index.ts";
import { inAttempts, retryRule } from "./attempts.ts";
import type { Frame, GraphEnd, Session } from "./blocks/block.ts";
import { frameOf } from "./blocks/call.ts";
import { canStartFresh, type Setups, type Start, type Starting, startedFresh } from "./freshStart.ts";
import { inRows } from "./inRows.ts";
import { type PastStart, rerunText } from "./rerun.ts";
import type { Row } from "./rows.ts";
import { runGraph } from "./runner.ts";
import { outputsOf, startScope } from "./scope.ts";
import type { Called, ExecuteRequest, TestcaseDependencies, TestcaseResult } from "./types.ts";

export type Prepared = {
  kind: "testcase" | "plan";
  testcase: TestCaseInput;
  /** `rows`: a run for each. `row`: the name of the row, if this is one of these runs. */
  rows: readonly Row[] | undefined;
  row: string | undefined;
  request: ExecuteRequest;
  app: AppView | undefined;
  called: Called;
  start: Start;
  device: RunSpec["device"];
  /** Undefined without a device; false on a device that cannot start fresh. */
  isFresh: boolean | undefined;
  /** The node of a run that does not start fresh. */
  position: string | undefined;
  setups: Setups;
  stops: (StepStops & NonNullable<Session["stops"]>) | undefined;
  context: CallContext;
};

/** Runs a validated test case as one execution, or as one with a run for each row. */
export function runTestcase(
  prepared: Prepared,
  deps: TestcaseDependencies,
): Promise<RunReply<TestcaseResult>> {
  const { rows } = prepared;
  if (!rows) return runAs(prepared, deps, (run) => body(run, prepared, deps));
  return runAs(prepared, deps, (run) =>
    inRows(run, rows, deps.clock, ({ label, inputs }) => {
      const { device, request } = rowOf(run, prepared);
      const context = { ...run.context, within: run.id, deadline: Number.POSITIVE_INFINITY };
      return runTestcase(
        { ...prepared, device, request: { ...request, inputs }, context, rows: undefined, row: label },
        deps,
      );
    }),
  );
}

/** A row runs on the device of the run of all rows. */
const rowOf = ({ device, session_id }: Run, { request, device: asked }: Prepared) => ({
  device: asked === "none" ? asked : { device_id: device.id, session_id },
  request: { ...request, wait_ms: request.timeout_ms, correlation_id: undefined },
});

const nameOf = ({ testcase, row }: Prepared) =>
  row === undefined ? testcase.name : `${testcase.name} [${row}]`;

function runAs(
  prepared: Prepared,
  deps: TestcaseDependencies,
  work: Parameters<typeof deps.executions.run<TestcaseResult>>[2],
): Promise<RunReply<TestcaseResult>> {
  const { request, app, context } = prepared;
  const { wait_ms, timeout_ms, environment, release, build } = request;
  return deps.executions.run<TestcaseResult>(
    {
      kind: prepared.kind,
      name: nameOf(prepared),
      device: prepared.device,
      input: inputOf(prepared),
      userinterface: app?.name,
      environment,
      release,
      build,
      correlation_id: request.correlation_id,
      wait_ms,
      timeout_ms,
      stops: prepared.stops,
    },
    context,
    work,
  );
}

/** What is recorded of how a run was called and what it started from. */
const inputOf = ({ testcase, row, request, start, isFresh, position, context }: Prepared) => ({
  testcase: testcase.name,
  ...(row !== undefined && { row }),
  inputs: request.inputs,
  ...(request.allow_production === true && { allow_production: true }),
  start: { by: context.client, ...start, fresh: isFresh, ...(position !== undefined && { position }) },
});

async function body(run: Run, prepared: Prepared, deps: TestcaseDependencies) {
  const { testcase, request } = prepared;
  const deviceVersion = versionOf(run.device);
  const heard: string[] = [];
  const step: Run["step"] = async (one) => {
    const notices = await run.step(one);
    heard.push(...noticesOf({ ...one, notices: [...notices] }));
    return notices;
  };
  let counted = 0;
  const { end, attempts, flaky } = await inAttempts(
    { ...run, step, device: { ...run.device, pauseMs: request.slow_ms } },
    retryRule(testcase, request),
    deps,
    async (own, prefix) => {
      // Only the checks of the attempt that decides are those of the run.
      run.verified(-counted);
      const ended = await attempt(own, prefix, prepared, deps);
      counted = ended.output.verified_count;
      return ended;
    },
  );
  const start = { device: run.device.id || undefined, device_version: deviceVersion };
  const rerun = run.signal.aborted ? undefined : await rerunOf(start, end.status, prepared, deps);
  // Page errors and dismissed dialogs may be why a test did not pass.
  const notices = besideVerdict(heard, { all: end.status !== "passed" });
  const output: TestcaseResult = {
    ...end.output,
    ...(attempts.length > 1 && { attempts }),
    ...(flaky && { flaky }),
    ...(rerun !== undefined && { rerun }),
    ...(notices.length > 0 && { notices }),
  };
  return { ...end, output };
}

/** Undefined for a first run, and for one that ended like the last run of this test on this build. */
async function rerunOf(
  device: Pick<PastStart, "device" | "device_version">,
  status: FinalStatus,
  prepared: Prepared,
  deps: TestcaseDependencies,
): Promise<string | undefined> {
  const { request, app } = prepared;
  const { environment, release, build } = request;
  if (prepared.kind === "plan") return undefined;
  const before = await deps.lastRun({ name: nameOf(prepared), project: projectInUse(), build });
  if (!before) return undefined;
  const input = deps.secrets.mask(storable(inputOf(prepared)));
  const facts = { environment, release, build, userinterface: app?.name, input };
  return rerunText({ ...facts, ...device, status }, before);
}

async function attempt(run: Run, prefix: string, prepared: Prepared, deps: TestcaseDependencies) {
  const { testcase, request, app, called } = prepared;
  let verifiedCount = 0;
  const session: Session = {
    run,
    ports: deps,
    called,
    stops: prepared.stops,
    verified(count = 1) {
      verifiedCount += count;
      run.verified(count);
    },
    app: async (userinterface) => (app?.name === userinterface ? app : deps.apps.describe(userinterface)),
    cookies: await createCookies(),
    connections: openConnections(),
    place: { environment: request.environment, grant: request.allow_production },
    answers: new WeakSet(),
    userinterfaceOverride: request.userinterface_name,
    lastFailure: undefined,
    lastFailureClass: undefined,
    refused: undefined,
    saidSlow: false,
    lastPicture: undefined,
  };
  const env = deps.environments?.[request.environment ?? ""]?.variables ?? {};
  const scope = await settled(() => startScope(testcase, request.inputs, app?.variables ?? {}, env));
  const types = testcase.types ?? {};
  const frame: Frame = { session, userinterface: app?.name, scope, types, prefix, depth: 0 };
  const { start, setups } = prepared;
  const starting = { run, start, setups, devices: deps.devices, setup: setupOf(prepared, frame) };
  const end = await startedFresh(starting, () => runGraph(testcase, frame))
    .catch((error: unknown) => stopped(run, error))
    .finally(session.connections.close);
  const verdict = run.signal.aborted ? abortEnding(run.signal.reason) : verdictOf(end, verifiedCount);
  const outputs = withPlainNumbers(await settled(() => outputsOf(testcase, scope)));
  const failedStep = verdict.status === "passed" ? undefined : session.lastFailure;
  const output: TestcaseResult = {
    testcase: testcase.name,
    verified_count: verifiedCount,
    outputs,
    ...(failedStep && { failed_step: failedStep }),
  };
  return { ...verdict, outputs, output };
}

/** A run that was stopped still says at which step. Its status and reason are those of the stop. */
function stopped({ signal }: Run, error: unknown): GraphEnd {
  if (!signal.aborted) throw error;
  return { ok: false, kind: "environment", ...reasonOf(signal.reason) };
}

/** The set-up test's checks do not count, and its failed step is the run's. */
function setupOf({ start, setups, called, app }: Prepared, frame: Frame): Starting["setup"] {
  const { session } = frame;
  const setup = start.setup === undefined ? undefined : called.get(start.setup);
  if (!setup) return undefined;
  return {
    stateName: setups.nameOf(setup, app, frame.scope.env),
    async run() {
      // A set-up that leaves a storage state does not run each time, so it has its own cookies.
      const cookies = canStartFresh(session.run.device) ? await createCookies() : session.cookies;
      const own: Session = { ...session, cookies, verified: () => undefined };
      const end = await runGraph(setup, await frameOf(setup, {}, "setup/", { ...frame, session: own }));
      session.lastFailure = own.lastFailure;
      return end.ok ? end : { ...end, message: `the set-up ${setup.name}: ${end.message}` };
    },
  };
}

/** `passed` only with something verified; `failed` for what is tested, `error` for what is around it. */
function verdictOf(
  end: GraphEnd,
  verifiedCount: number,
): { status: FinalStatus; reason?: { code: string; message: string } } {
  if (!end.ok) {
    const { code, message, kind } = end;
    return { status: verdictOfClass(kind), reason: { code, message } };
  }
  if (verifiedCount > 0) return { status: "passed" };
  const message = "The test came to its end, but no check and no verified navigation was made on the way.";
  return { status: "error", reason: { code: "NOTHING_VERIFIED", message } };
}

/** A jar of its own for one run, as a browser keeps cookies. */
async function createCookies(): Promise<Cookies> {
  // Loaded when used. It is a package in CommonJS: in a bundle it has only a default export.
  const { default: tough } = await import("tough-cookie");
  const jar = new tough.CookieJar();
  return {
    for: (url) => jar.getCookieStringSync(url),
    keep(url, setCookies) {
      // A browser ignores a cookie that is not allowed there.
      for (const cookie of setCookies) jar.setCookieSync(cookie, url, { ignoreError: true });
    },
  };
}

import type { FinalStatus, TestCaseInput } from "../../domain/index.ts";
import type { CallContext, Run, RunReply } from "../ports.ts";
import { verdictOfClass } from "../verdicts.ts";
import type { Frame, GraphEnd, Session } from "./blocks/block.ts";
import { type Setups, type Starting, startedFresh } from "./freshStart.ts";
import { runGraph } from "./runner.ts";
import { outputsOf, startScope } from "./scope.ts";
import type { Start } from "./startOf.ts";
import type { AppView, ExecuteRequest, TestcaseDependencies, TestcaseResult } from "./types.ts";
import type { Called } from "./validate.ts";

type Prepared = {
  testcase: TestCaseInput;
  request: ExecuteRequest;
  app: AppView | undefined;
  called: Called;
  start: Start;
  /** Where a run that does not start fresh finds the device. */
  position: string | undefined;
  setups: Setups;
  context: CallContext;
};

/** Runs a validated test case as an execution. */
export function runTestcase(
  prepared: Prepared,
  deps: TestcaseDependencies,
): Promise<RunReply<TestcaseResult>> {
  const { testcase, request, app, start, position, context } = prepared;
  const { device_id, session_id, inputs, wait_ms, timeout_ms, environment, release, build } = request;
  return deps.executions.run<TestcaseResult>(
    {
      kind: "testcase",
      name: testcase.name,
      device: { device_id, session_id },
      input: {
        testcase: testcase.name,
        inputs,
        start: { ...start, ...(position !== undefined && { position }) },
      },
      userinterface: app?.name,
      environment,
      release,
      build,
      correlation_id: request.correlation_id,
      wait_ms,
      timeout_ms,
    },
    context,
    (run) => body(run, prepared, deps),
  );
}

async function body(run: Run, prepared: Prepared, deps: TestcaseDependencies) {
  const { testcase, request, app, called } = prepared;
  let verifiedCount = 0;
  const apps = new Map(app ? [[app.name, Promise.resolve(app)]] : []);
  const session: Session = {
    run,
    ports: deps,
    called,
    verified(count = 1) {
      verifiedCount += count;
      run.verified(count);
    },
    app(userinterface) {
      const found = apps.get(userinterface) ?? deps.apps.describe(userinterface);
      apps.set(userinterface, found);
      return found;
    },
    userinterfaceOverride: request.userinterface_name,
    lastFailure: undefined,
    lastFailureClass: undefined,
    refused: undefined,
    lastPicture: undefined,
  };
  const scope = startScope(testcase, request.inputs, app?.variables ?? {});
  const frame: Frame = {
    session,
    testcase: testcase.name,
    userinterface: app?.name,
    scope,
    prefix: "",
    depth: 0,
  };
  const { start, setups } = prepared;
  const starting = { run, start, setups, devices: deps.devices, setup: setupOf(prepared, frame) };
  const verdict = verdictOf(await startedFresh(starting, () => runGraph(testcase, frame)), verifiedCount);
  const outputs = outputsOf(testcase, scope);
  const failedStep = verdict.status === "passed" ? undefined : session.lastFailure;
  const output: TestcaseResult = {
    testcase: testcase.name,
    verified_count: verifiedCount,
    outputs,
    ...(failedStep && { failed_step: failedStep }),
  };
  return { ...verdict, outputs, output: deps.secrets.mask(output) };
}

/** The set-up test of the start: its checks prove nothing of the test case, and its failed step is the run's. */
function setupOf({ start, setups, called, app }: Prepared, { session }: Frame): Starting["setup"] {
  const setup = start.setup === undefined ? undefined : called.get(start.setup);
  if (!setup) return undefined;
  return {
    stateName: setups.nameOf(setup, app),
    async run() {
      const own: Session = { ...session, verified: () => undefined };
      const userinterface = session.userinterfaceOverride ?? setup.userinterface_name ?? app?.name;
      const ofSetup = userinterface === undefined ? undefined : await session.app(userinterface);
      const scope = startScope(setup, {}, ofSetup?.variables ?? {});
      const frame = { session: own, testcase: setup.name, userinterface, scope, prefix: "setup/", depth: 1 };
      const end = await runGraph(setup, frame);
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

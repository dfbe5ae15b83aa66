import type { FinalStatus, TestCaseInput } from "../../domain/index.ts";
import type { CallContext, Run, RunReply } from "../ports.ts";
import { verdictOfClass } from "../verdicts.ts";
import type { Frame, GraphEnd, Session } from "./blocks/block.ts";
import { runGraph } from "./runner.ts";
import { outputsOf, startScope } from "./scope.ts";
import type { AppView, ExecuteRequest, TestcaseDependencies, TestcaseResult } from "./types.ts";
import type { Called } from "./validate.ts";

type Prepared = {
  testcase: TestCaseInput;
  request: ExecuteRequest;
  app: AppView | undefined;
  called: Called;
  context: CallContext;
};

/** Runs a validated test case as an execution. */
export function runTestcase(
  prepared: Prepared,
  deps: TestcaseDependencies,
): Promise<RunReply<TestcaseResult>> {
  const { testcase, request, app, context } = prepared;
  const { device_id, session_id, inputs, wait_ms, timeout_ms, environment, release, build } = request;
  return deps.executions.run<TestcaseResult>(
    {
      kind: "testcase",
      name: testcase.name,
      device: { device_id, session_id },
      input: { testcase: testcase.name, inputs },
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

async function body(run: Run, { testcase, request, app, called }: Prepared, deps: TestcaseDependencies) {
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
  const verdict = verdictOf(await runGraph(testcase, frame), verifiedCount);
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

/** `passed` only with something verified; `failed` for what is tested, `error` for what is around it. */
export function verdictOf(
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

import { z } from "zod";
import { callTyped, ifFailed, ToolFailure } from "../../mcp/calls.ts";
import { contextSchema, type Scenario } from "../../messages/contents.ts";
import { contentOf } from "../../messages/envelope.ts";
import type { Executor, ExecutorDeps, Job, Outcome } from "../executor.ts";
import { denialOf } from "../policy.ts";
import { giveBack, hostsAt, type Place, placesFor } from "./places.ts";
import { type CaseEnd, type CaseRun, ended, errorIn } from "./runCase.ts";
import { noneRun, runCases } from "./runCases.ts";
import { type Work, works } from "./work.ts";

type ExecutorRole = "web" | "api";

/**
 * Does one request after the other, without a model: `web` runs UI scenarios on the browsers of its host; `api` tests by an
 * OpenAPI document, by single operations, and by cases made of requests.
 */
export function createExecutor(role: ExecutorRole, host: string, deps: ExecutorDeps): Executor {
  let load = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...{ name: `${role}@${host}`, role },
    async health(signal) {
      const hosts = await hostsAt(deps.toolbox, signal);
      if (role === "api") return { isUp: true, load, reason: "the server answers" };
      const found = hosts.find(({ name }) => name === host);
      if (!found) return { isUp: false, load, reason: `there is no host ${host}` };
      const isUp = found.status === "online" && found.devices.length > 0;
      return { isUp, load, reason: `${found.status}, ${found.devices.length} devices` };
    },
    run(job) {
      load += 1;
      const turn = last.then(() => execute(role, host, job, deps));
      last = turn.catch(() => undefined);
      return turn.finally(() => {
        load -= 1;
      });
    },
  };
}

async function execute(role: ExecutorRole, host: string, job: Job, deps: ExecutorDeps): Promise<Outcome> {
  const { message, signal } = job;
  const other = role === "web" ? "api" : "web";
  if (!works[role].safeParse(message.payload).success && works[other].safeParse(message.payload).success)
    return { forward: other, reason: `its content is for the ${other} executor` };
  const work = contentOf(works[role], message, "payload");
  const why = await whyNot(work, job, deps);
  if (why) {
    const planned = work.browsers.flatMap((browser) =>
      work.scenarios.map((scenario) => ({ scenario, browser })),
    );
    return { payload: noneRun(planned, { case: "*", severity: "high", ...why }) };
  }
  const places =
    role === "web"
      ? await placesFor(work.browsers, host, deps.toolbox, signal)
      : [{ browser: undefined, on: {}, isOurs: false }];
  try {
    const runs = places.flatMap((place) => work.scenarios.map((scenario) => ({ scenario, place })));
    const started = await Promise.all(runs.map((run) => caseOf(run, work, role === "api", { job, deps })));
    const payload = await runCases(started, job, deps);
    // One that could start none of them was unable, so that another may try.
    const isUnable = payload.results.every((one) => one.status === "BLOCKED" && !one.execution_id);
    return { payload, ...(isUnable && { unable: payload.errors[0]?.message ?? "nothing could be started" }) };
  } finally {
    await giveBack(places, deps.toolbox);
  }
}

/** Why the work may not be done: the policy, or a service that is down. Undefined: it may. */
async function whyNot(work: Work, { message, signal }: Job, { policy, toolbox }: ExecutorDeps) {
  const { environment, dependent_services } = contentOf(contextSchema, message, "context");
  const denial = await denialOf({ ...work, environment, grants: message.constraints.grants }, policy);
  if (denial) return { code: "POLICY_DENIED", message: `${denial.message} ${denial.hint}` };
  // The first service given by its address that does not answer, or answers that it is broken.
  for (const url of dependent_services.filter((service) => /^https?:\/\//.test(service))) {
    const use = { name: "execute_api_request", input: { url, timeout_ms: serviceMs } };
    const said = await callTyped(toolbox, use, z.object({ status: z.int() }), signal).then(
      ({ status }) => (status < 500 ? undefined : `status ${status}`),
      ifFailed(({ message }) => message),
    );
    if (said === undefined) continue;
    return { code: "DEPENDENCY_DOWN", message: `${url}, which these tests depend on: ${said}` };
  }
  return undefined;
}
const serviceMs = 10_000;

type At = { job: Job; deps: ExecutorDeps };

/** A scenario as the call that runs it at a place; its end where it cannot be called. */
async function caseOf(
  { scenario, place }: { scenario: Scenario; place: Place },
  work: Work,
  isApi: boolean,
  { job, deps }: At,
): Promise<CaseRun | CaseEnd> {
  const { message } = job;
  const { browser } = place;
  if ("missing" in place) {
    const error = { case: scenario.id, code: "BROWSER_MISSING", message: place.missing };
    return ended({ scenario, browser }, "NOT_RUN", [{ ...error, severity: "medium" }]);
  }
  const { environment, release, build } = contentOf(contextSchema, message, "context");
  const allow_production = message.constraints.grants.includes("write:production") || undefined;
  if (scenario === work.document?.scenario)
    return ofDocument(work.document, { environment, allow_production }, { job, deps });
  const input = {
    ...{ environment, release, build, allow_production, correlation_id: message.correlation_id },
    ...{ userinterface_name: work.app, ...place.on },
    ...{ testcase: scenario.testcase ?? scenario.id, inputs: scenario.inputs },
    ...(scenario.testcase === undefined && {
      unsaved: unsavedTest(scenario, work, message.constraints.grants),
    }),
  };
  return { scenario, browser, isApi, use: { name: "execute_testcase", input } };
}

/** The test of a scenario that names no saved one. Test data are its variables, personal ones only with a grant. */
function unsavedTest(
  { id, steps, gherkin, covers }: Scenario,
  { app, test_data: { pii, ...data } }: Work,
  grants: readonly string[],
) {
  const hidden = grants.includes("pii:log") ? [] : pii;
  const variables = Object.fromEntries(Object.entries(data).filter(([name]) => !hidden.includes(name)));
  return {
    ...{ name: id, variables, app, ...(gherkin === undefined ? { steps } : { gherkin }) },
    ...(covers.length > 0 && { covers }),
  };
}

const isPlace = (spec: string) => /^https?:|[\\/]|\.(?:ya?ml|json)$/i.test(spec);

/** A run of `run_api_tests` over the document, which is imported first unless it is the name of one. */
async function ofDocument(
  { scenario, spec, input }: NonNullable<Work["document"]>,
  shared: object,
  { job, deps }: At,
): Promise<CaseRun | CaseEnd> {
  const use = { name: "import_api_spec", input: { source: spec, replace: true } };
  const found = isPlace(spec)
    ? await callTyped(deps.toolbox, use, z.object({ api: z.string() }), job.signal).catch(
        ifFailed((why) => why),
      )
    : { api: spec };
  if (found instanceof ToolFailure)
    return ended({ scenario }, "BLOCKED", [errorIn({ scenario, isApi: true }, found)]);
  const given = { api: found.api, ...input, ...shared };
  return { scenario, isApi: true, use: { name: "run_api_tests", input: given } };
}

import { z } from "zod";
import { callTyped, ToolFailure } from "../../mcp/calls.ts";
import {
  type ApiRequestContent,
  apiRequestSchema,
  type Endpoint,
  prioritySchema,
  type Scenario,
} from "../../messages/contents.ts";
import { contentOf } from "../../messages/envelope.ts";
import type { Executor, ExecutorDeps, Job, Outcome } from "../executor.ts";
import { endpointId } from "../plan.ts";
import { writesOf } from "../policy.ts";
import {
  inTurn,
  type Judging,
  notMine,
  outcomeOf,
  refused,
  sharedArgs,
  unsavedTest,
} from "./executeCases.ts";
import { hostsAt } from "./hosts.ts";
import { type CaseEnd, type CaseRun, ended, errorOfStart } from "./runCase.ts";

/** Tests an API by its document, by single operations, and by cases made of requests. It asks no model. */
export function apiExecutor(deps: ExecutorDeps): Executor {
  const { run, load } = inTurn((job) => runApi(job, deps));
  return {
    ...{ name: "api@local", role: "api", run },
    async health(signal) {
      await hostsAt(deps.toolbox, signal);
      return { isUp: true, load: load(), reason: "the server answers" };
    },
  };
}

const order = prioritySchema.options;

/** `single`: each a run by itself, the most important first. `whole`: what is generated from a document. */
function scenariosOf(content: ApiRequestContent): { single: Scenario[]; whole: Scenario[] } {
  const { openapi_spec, endpoints, test_scenarios } = content;
  const ofEndpoints = openapi_spec === undefined ? endpoints.map((one) => scenarioFor(one, content)) : [];
  return {
    single: [...test_scenarios, ...ofEndpoints].sort(
      (a, b) => order.indexOf(a.priority) - order.indexOf(b.priority),
    ),
    whole: openapi_spec === undefined ? [] : [documentScenario(openapi_spec, endpoints)],
  };
}

/** What the policy judges of a request. */
export function judgedApi(content: ApiRequestContent): Judging {
  const { single, whole } = scenariosOf(content);
  const { base_url = "", openapi_spec = "", test_data } = content;
  // A document without another address is tested where it comes from.
  const place = base_url || (/^https?:/.test(openapi_spec) ? openapi_spec : "");
  const scenarios = [...single, ...whole];
  return { scenarios, writes: scenarios.flatMap((one) => writesOf(one, place)), test_data };
}

async function runApi(job: Job, deps: ExecutorDeps): Promise<Outcome> {
  const { message } = job;
  if (message.message_type !== "ApiTestExecutionRequest") return notMine(message, "web");
  const content = contentOf(apiRequestSchema, message, "payload");
  const { test_data } = content;
  const { single, whole } = scenariosOf(content);
  const args = sharedArgs(message);
  const runs: CaseRun[] = single.map((scenario) => ({
    ...{ scenario, isApi: true, args, unsaved: unsavedTest(scenario, { test_data, message }) },
  }));
  const all = [...runs, ...whole.map((scenario) => ({ scenario }))];
  const denied = await refused(all, judgedApi(content), job, deps);
  if (denied) return denied;
  const ofDocument = await Promise.all(whole.map((one) => documentRun(one, content, args, { job, deps })));
  return outcomeOf([...runs, ...ofDocument], job, deps);
}

/** What stands in results for the tests that are generated from a document. */
const documentScenario = (openapi_spec: string, endpoints: readonly Endpoint[]): Scenario => ({
  ...{ id: openapi_spec.split(/[\\/]/).at(-1)?.slice(0, 100) ?? openapi_spec, testcase: openapi_spec },
  ...{ priority: "P1", inputs: {}, estimate: 60_000, retries: 0 },
  covers: [...new Set(endpoints.flatMap(({ covers }) => covers))],
  reads_only: endpoints.length > 0 && endpoints.every(({ method }) => reads.has(method)),
});
const reads = new Set(["GET", "HEAD", "OPTIONS"]);

const importedSchema = z.object({ api: z.string() });
const isPlace = (spec: string) => /^https?:|[\\/]|\.(?:ya?ml|json)$/i.test(spec);

/** A run of `run_api_tests` over the document, which is imported first unless it is the name of one. */
async function documentRun(
  scenario: Scenario,
  { openapi_spec = "", base_url, endpoints, authentication_tokens }: ApiRequestContent,
  { environment, allow_production }: Record<string, unknown>,
  { job, deps }: { job: Job; deps: ExecutorDeps },
): Promise<CaseRun | CaseEnd> {
  try {
    const use = { name: "import_api_spec", input: { source: openapi_spec } };
    const api = isPlace(openapi_spec)
      ? (await callTyped(deps.toolbox, use, importedSchema, job.signal)).api
      : openapi_spec;
    const hasTokens = Object.keys(authentication_tokens).length > 0;
    const input = {
      ...{ api, base_url, environment, allow_production },
      ...(endpoints.length > 0 && { operations: endpoints.map(endpointId) }),
      ...(hasTokens && { auth: { user: authentication_tokens } }),
    };
    return { scenario, isApi: true, args: {}, use: { name: "run_api_tests", input } };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return ended({ scenario }, "BLOCKED", [errorOfStart(scenario, error)]);
  }
}

/** One request with the rules of the message as its checks. */
function scenarioFor(endpoint: Endpoint, content: ApiRequestContent): Scenario {
  const { method, path, priority, covers, retries } = endpoint;
  const { base_url = "", assertion_rules: rules, request_payloads, authentication_tokens: headers } = content;
  const id = endpointId(endpoint);
  const body = request_payloads[id];
  const checks = [
    { status: rules.status ?? "2xx" },
    ...(rules.response_time === undefined ? [] : [{ time_below_ms: rules.response_time }]),
    ...(rules.schema === undefined ? [] : [{ json_schema: rules.schema }]),
  ];
  const url = `${base_url.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  const request = { method, url, headers, checks, ...(body !== undefined && { body }) };
  return {
    ...{ id, priority, covers, steps: [{ api_request: request }], inputs: {} },
    ...{ reads_only: false, estimate: 1_000, retries },
  };
}

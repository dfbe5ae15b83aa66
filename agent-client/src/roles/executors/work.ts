import type { z } from "zod";
import {
  apiRequestSchema,
  type Endpoint,
  type Scenario,
  type TestData,
  webRequestSchema,
} from "../../messages/contents.ts";
import { endpointId } from "../plan.ts";

/** What an executor is to do, from the content of a message. */
export type Work = {
  scenarios: readonly Scenario[];
  /** Addresses that a case may change. */
  places: readonly string[];
  test_data: TestData;
  /** The userinterface of the cases. */
  app?: string | undefined;
  /** Browsers by name, each for every scenario; undefined is the server's own choice. */
  browsers: readonly (string | undefined)[];
  /** Tests that `run_api_tests` generates from a document; `scenario` stands for them. */
  document?: { scenario: Scenario; spec: string; input: Record<string, unknown> };
};

/** The contents of messages as work, by executor. */
export const works = {
  web: webRequestSchema.transform(
    ({
      test_scenarios: scenarios,
      target_urls,
      browser_matrix,
      userinterface_name: app,
      test_data,
    }): Work => ({
      ...{ scenarios, test_data, app, places: target_urls.length > 0 ? target_urls : [""] },
      browsers: browser_matrix.length > 0 ? browser_matrix.map((name) => name.toLowerCase()) : [undefined],
    }),
  ),
  api: apiRequestSchema.transform((content): Work => {
    const { openapi_spec: spec, base_url, endpoints, test_scenarios, test_data } = content;
    // A document without another address is tested where it comes from.
    const place = base_url ?? (spec !== undefined && /^https?:/.test(spec) ? spec : "");
    const shared = { test_data, places: [place], browsers: [undefined] };
    const scenarios = spec === undefined ? endpoints.map((one) => scenarioFor(one, content)) : [];
    const sorted = [...test_scenarios, ...scenarios].sort((a, b) => a.priority.localeCompare(b.priority));
    if (spec === undefined) return { ...shared, scenarios: sorted };
    const document = documentOf(spec, content);
    return { ...shared, scenarios: [...sorted, document.scenario], document };
  }),
} as const;

type ApiContent = z.output<typeof apiRequestSchema>;

const reads = ["GET", "HEAD", "OPTIONS"];

function documentOf(spec: string, { base_url, endpoints, authentication_tokens: user }: ApiContent) {
  return {
    spec,
    scenario: {
      ...{ id: spec.split(/[\\/]/).at(-1)?.slice(0, 100) ?? spec, testcase: spec, inputs: {}, retries: 0 },
      ...{ priority: "P1" as const, estimate: 60_000 },
      covers: [...new Set(endpoints.flatMap(({ covers }) => covers))],
      reads_only: endpoints.length > 0 && endpoints.every(({ method }) => reads.includes(method)),
    },
    input: {
      base_url,
      ...(endpoints.length > 0 && { operations: endpoints.map(endpointId) }),
      ...(Object.keys(user).length > 0 && { auth: { user } }),
    },
  };
}

/** One request with the rules of the message as its checks. */
function scenarioFor(endpoint: Endpoint, content: ApiContent): Scenario {
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

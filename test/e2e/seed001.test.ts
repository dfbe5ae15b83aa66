import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { daemonHeaders, daemonUrl } from "#mcp-server/server/daemonFile.ts";
import { type DaemonProcess, startDaemonProcess } from "../fixtures/daemonProcess.ts";
import { serve } from "../fixtures/loopback.ts";
import { says } from "../fixtures/messagesApi/reply.ts";
import { byConversation } from "../fixtures/messagesApi/script.ts";
import { startMessagesApi, testKey } from "../fixtures/messagesApi/server.ts";
import { openPrograms, type Programs } from "../fixtures/program.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const config = `
devices: [{ name: chrome, model: web }]
environments:
  staging: { pii: [email] }
  live: { production: true }
`;

let daemon: DaemonProcess;
let folder: string;
let programs: Programs;
let shop: Awaited<ReturnType<typeof serve>>;
/** The sign-up form fails every second time; /slow never answers. */
let signUps = 0;
const written: string[] = [];
const total = (type: string) => ({
  description: "The orders",
  content: { "application/json": { schema: { type: "object", properties: { total: { type } } } } },
});
/** Its total is a number, not the text that it promises. */
const openapi = {
  ...{ openapi: "3.0.3", info: { title: "Shop", version: "1" }, servers: [{ url: "/" }] },
  paths: { "/api/orders": { get: { operationId: "orders", responses: { 200: total("string") } } } },
};
function answerApi(path: string, isSignedIn: boolean, response: ServerResponse): void {
  if (path === "/api/openapi.json") return void response.end(JSON.stringify(openapi));
  const status = path === "/api/me" && !isSignedIn ? 401 : 200;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(path === "/api/orders" ? { total: 3 } : { name: "Ada" }));
}
beforeAll(async () => {
  shop = await serve((request, response) => {
    const { url: path = "/", method, headers } = request;
    if (method !== "GET") written.push(`${method} ${path}`);
    if (path === "/slow") return;
    if (path.startsWith("/api/")) return answerApi(path, headers.authorization === "Bearer good", response);
    const works = path !== "/signup" || ++signUps % 2 === 0;
    const onclick = `document.querySelector('p').textContent='${works ? "Done" : "Sorry"}'`;
    response.setHeader("content-type", "text/html");
    response.end(`<title>Shop</title><h1>Welcome</h1><button onclick="${onclick}">Send</button><p></p>`);
  });
  folder = await mkdtemp(join(tmpdir(), "labwright-seed001-"));
  daemon = await startDaemonProcess({ dataDir: join(folder, "data"), config });
  programs = openPrograms(daemon.dataDir);
  const { error } = await daemon.call("create_userinterface", { name: "shop", models: ["web"] });
  expect(error).toBeUndefined();
});
afterAll(async () => {
  await programs.end();
  daemon.signal("SIGTERM");
  await daemon.ended;
  await shop.close();
  await rm(folder, { recursive: true, force: true });
});

const envelope = z.looseObject({
  message_type: z.string(),
  in_reply_to: z.string().optional(),
  payload: z.looseObject({}),
});

/** Newest first. */
async function runsOf(name: string) {
  const { result } = await daemon.call("get_execution_results", { name, max_tokens: 500 });
  return z.object({ executions: z.array(z.looseObject({ status: z.string() })) }).parse(result).executions;
}

async function send(message: unknown, signal?: AbortSignal) {
  const file = daemon.file();
  const response = await fetch(daemonUrl(file, "/api/v1/messages"), {
    method: "POST",
    headers: { ...daemonHeaders(file, "test/1"), "content-type": "application/json" },
    body: JSON.stringify(message),
    ...(signal && { signal }),
  });
  return { status: response.status, body: z.looseObject({}).parse(await response.json()) };
}

async function stored(correlation_id: unknown) {
  const file = daemon.file();
  const url = daemonUrl(file, `/api/v1/messages?correlation_id=${correlation_id}`);
  const response = await fetch(url, { headers: daemonHeaders(file, "test/1") });
  const { messages } = z
    .object({ messages: z.array(z.object({ message: envelope })) })
    .parse(await response.json());
  return messages.map(({ message }) => message);
}

/** A message as the seed writes it, in YAML. */
const asSeed = (yaml: string) =>
  z
    .record(z.string(), z.unknown())
    .parse(
      parse(
        `MessageId: ${randomUUID()}\nCorrelationId: ${randomUUID()}\nTimestamp: "2026-11-28T08:00:00Z"\n${yaml}`,
      ),
    );

const open = (path: string) => `open ${shop.url}${path}`;
const webRequest = (given: {
  scenarios: unknown[];
  constraints?: string;
  environment?: string;
  data?: unknown;
}) =>
  asSeed(`
MessageType: WebTestExecutionRequest
Sender: PlannerAgent
Recipient: WebExecutorAgent
Intent: Execute prioritized UI test scenarios for validated user flows
Payload:
  - Test scenarios: ${JSON.stringify(given.scenarios)}
  - Target URLs: [${shop.url}/]
  - Browser matrix (Chrome, Firefox): [Chrome, Netscape]
  - Test data: ${JSON.stringify(given.data ?? { users: ["ada"], roles: ["buyer"] })}
  - Selector strategy: data-testid
  - userinterface_name: shop
Context:
  - Environment: ${given.environment ?? "staging"}
  - Release version: v1.4.0
  - Known risks: flaky signup form
Constraints: ${given.constraints ?? "\n  - Max execution time: 10 minutes\n  - Max retries: 2"}
ExpectedResponse:
  type: WebExecutionResult
  required_fields: [status, artifacts, errors]
Notes:
  - Executors should return a structured JSON result schema and deterministic status codes.
`);
const passing = { id: "welcome", steps: () => [open("/"), 'check text "Welcome"'] };
const welcome = (id: string) => ({ id, steps: passing.steps() });

const step = (path: string) => [{ api_request: { url: `${shop.url}${path}`, checks: [{ status: 200 }] } }];

describe("the three messages of seed 001", () => {
  test("WebTestExecutionRequest in the seed's spelling gives a WebExecutionResult, stored under its correlation id", async () => {
    signUps = 0;
    const gherkin = `Scenario: Signing up\n  Given I ${open("/signup")}\n  When I click "Send"\n  Then wait for text "Done" for 1 s`;
    const request = webRequest({ scenarios: [{ id: "sign-up", priority: "P1", gherkin }, welcome("home")] });
    const { status, body } = await send(request);
    expect([status, body]).toMatchObject([
      200,
      {
        message_type: "WebExecutionResult",
        in_reply_to: request.MessageId,
        correlation_id: request.CorrelationId,
        sender: "WebExecutorAgent",
        recipient: "PlannerAgent",
        payload: {
          // The second browser is on no machine: reported, and never passed.
          status: "NOT_RUN",
          results: [
            {
              case: "sign-up",
              browser: "chrome",
              status: "PASSED",
              flaky: true,
              attempts: 2,
              verified_count: 1,
            },
            { case: "home", browser: "chrome", status: "PASSED", verified_count: 1 },
            { case: "sign-up", browser: "netscape", status: "NOT_RUN" },
            { case: "home", browser: "netscape", status: "NOT_RUN" },
          ],
          errors: [
            { case: "sign-up", code: "BROWSER_MISSING" },
            { case: "home", code: "BROWSER_MISSING" },
          ],
          artifacts: [{ case: "*", kind: "report", uri: expect.stringMatching(/^artifact:/) }],
          metrics: { passed: 2, checks: 2, retries: 1 },
        },
      },
    ]);
    expect((await stored(request.CorrelationId)).map(({ message_type }) => message_type)).toEqual([
      "WebTestExecutionRequest",
      "RoutingDecision",
      "WebExecutionResult",
    ]);
  });

  test("ApiTestExecutionRequest gives an ApiExecutionResult with metrics", async () => {
    const request = asSeed(`
MessageType: ApiTestExecutionRequest
Sender: PlannerAgent
Recipient: ApiExecutorAgent
Intent: Validate API contracts, business rules, and auth flows
Payload:
  - Endpoint list with priorities: [{ method: GET, path: /api/orders, priority: P1 }, { method: GET, path: /api/me }]
  - base_url: ${shop.url}
  - Request payloads: {}
  - Authentication tokens: { authorization: Bearer good }
  - Assertion rules (status, schema, response time): { status: 200, schema: { required: [total] }, response time: 5 s }
Context:
  - Environment: staging
  - Dependent services: Auth, User
  - Known issues: intermittent token expiry
Constraints:
  - Max execution time: 5 minutes
  - Max cost: $0.30
ExpectedResponse:
  type: ApiExecutionResult
  required_fields: [status, results, metrics, errors]
`);
    const { body } = await send(request);
    expect(body, JSON.stringify(body)).toMatchObject({
      message_type: "ApiExecutionResult",
      payload: {
        status: "FAILED",
        results: [
          { case: "GET /api/orders", status: "PASSED", verified_count: 3 },
          { case: "GET /api/me", status: "FAILED" },
        ],
        errors: [{ case: "GET /api/me", code: "BROKEN_CONTRACT" }],
        metrics: { cases: 2, passed: 1, p95_ms: expect.any(Number), cost_usd: 0 },
      },
    });
  });

  test("an OpenAPI document is tested by run_api_tests, and its findings are the errors", async () => {
    const program = programs.start("qa", [
      "Is the API sound?",
      "--openapi",
      `${shop.url}/api/openapi.json`,
      "--json",
    ]);
    const { code, out, err } = await program.ended;
    expect(err).toContain("by its document alone");
    expect([code, JSON.parse(out)]).toMatchObject([
      1,
      {
        status: "FAILED",
        parts: [
          {
            layer: "API",
            result: {
              results: [{ case: "openapi.json", status: "FAILED", execution_id: expect.any(String) }],
              errors: [{ code: "F101", message: expect.stringContaining("curl") }],
            },
          },
        ],
      },
    ]);
  });

  test("TestExecutionResultReview gives a CriticReview by what is on record", async () => {
    const ran = await send(webRequest({ scenarios: [welcome("reviewed")] }));
    const { results } = z
      .object({
        payload: z.object({ results: z.array(z.looseObject({ execution_id: z.string().optional() })) }),
      })
      .parse(ran.body).payload;
    const sound = { ...results[0], covers: ["home"] };
    const review = (cases: unknown[]) =>
      send(
        asSeed(`
MessageType: TestExecutionResultReview
Sender: ExecutorAgent
Recipient: CriticAgent
Intent: Evaluate test execution results for quality, coverage, and risk
Payload:
  - Test execution summary: { status: PASSED }
  - Passed/failed test cases: ${JSON.stringify(cases)}
  - Logs and artifacts: []
  - Environment metadata: { browser: chrome }
  - Failure severity hints (low/medium/high): []
  - aims: [{ id: home, isCritical: true }]
Context:
  - Test layer: Web
  - Release version: v1.4.0
  - Historical failure patterns: []
Constraints:
  - Max analysis time: 30s
ExpectedResponse:
  type: CriticReview
  required_fields: [quality_score, risk_flags, recommendations, feedback_target, severity_level]
`),
      );
    expect((await review([sound])).body).toMatchObject({
      payload: { quality_score: 100, risk_flags: [], feedback_target: "none", severity_level: "info" },
    });
    const claimed = { case: "claimed", status: "PASSED", execution_id: randomUUID(), verified_count: 1 };
    expect((await review([claimed])).body).toMatchObject({
      payload: {
        severity_level: "blocker",
        risk_flags: [
          { flag: "FALSE_PASS", cases: ["claimed"] },
          { flag: "SKIPPED_RISK", evidence: ["home"] },
        ],
      },
    });
  });
});

describe("constraints and refusals", () => {
  test("a message that lacks a field, or asks for a field that the reply has not, is refused", async () => {
    const { Sender: _, ...message } = webRequest({ scenarios: [welcome("home")] });
    expect(await send(message)).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT", message: expect.stringContaining("sender") } },
    });
    const asked = { ...webRequest({ scenarios: [welcome("home")] }) };
    asked.ExpectedResponse = { type: "WebExecutionResult", required_fields: ["status", "video"] };
    expect(await send(asked)).toMatchObject({
      status: 502,
      body: { error: { code: "INVALID_RESPONSE", message: expect.stringContaining("video") } },
    });
  });

  const slow = () => ({ id: "slow", steps: [open("/"), 'wait for text "Never" for 60 s'] });
  const chromeOnly = (message: Record<string, unknown>) => {
    const [scenarios, urls, , ...rest] = z.array(z.unknown()).parse(message.Payload);
    return { ...message, Payload: [scenarios, urls, { "Browser matrix": ["chrome"] }, ...rest] };
  };
  const statusesOf = (body: unknown) => {
    const { payload } = z
      .object({
        payload: z.object({ status: z.string(), results: z.array(z.object({ status: z.string() })) }),
      })
      .parse(body);
    return [payload.status, ...payload.results.map(({ status }) => status)];
  };

  test("time is crossed: TIMEOUT, with what ran before", async () => {
    const scenarios = [welcome("first"), slow(), welcome("last")];
    const request = webRequest({ scenarios, constraints: "[Max execution time: 5 s]" });
    const { body } = await send(chromeOnly(request));
    expect(statusesOf(body)).toEqual(["TIMEOUT", "PASSED", "TIMEOUT", "NOT_RUN"]);
  });

  test("a client that leaves ends the work", async () => {
    const leaving = new AbortController();
    const sent = send(chromeOnly(webRequest({ scenarios: [slow()] })), leaving.signal).catch(String);
    await expect.poll(async () => (await runsOf("slow"))[0]?.status, { timeout: 60_000 }).toBe("running");
    leaving.abort();
    expect(await sent).toContain("Abort");
    await expect.poll(async () => (await runsOf("slow"))[0]?.status, { timeout: 60_000 }).toBe("cancelled");
  });

  test("retries are crossed: BUDGET_EXCEEDED, since the second failure could not be confirmed", async () => {
    const check = { text_visible: { text: "Nowhere" }, timeout_ms: 200 };
    const fails = (id: string) => ({ id, steps: [open("/"), check] });
    const scenarios = [fails("one"), fails("two"), welcome("last")];
    const { body } = await send(chromeOnly(webRequest({ scenarios, constraints: "[Max retries: 1]" })));
    expect(statusesOf(body)).toEqual(["BUDGET_EXCEEDED", "FAILED", "FAILED", "PASSED"]);
    expect(body).toMatchObject({ payload: { results: [{ attempts: 2 }, { attempts: 1 }, { attempts: 1 }] } });
  });

  const apiRequest = (constraints: Record<string, string>) => ({
    ...webRequest({ scenarios: [] }),
    MessageType: "ApiTestExecutionRequest",
    Recipient: "ApiExecutorAgent",
    Payload: {
      test_scenarios: [
        { id: "quick", steps: step("/api/orders") },
        { id: "slow", steps: step("/slow") },
        { id: "last", steps: step("/api/orders") },
      ],
    },
    Constraints: constraints,
  });

  test("the API executor's time is crossed: TIMEOUT, with what ran before", async () => {
    const { body } = await send(apiRequest({ "Max execution time": "2 s" }));
    expect(statusesOf(body)).toEqual(["TIMEOUT", "PASSED", "TIMEOUT", "NOT_RUN"]);
  });

  test("the API executor's cost is crossed: BUDGET_EXCEEDED, with what ran before", async () => {
    const { body } = await send(apiRequest({ "Max cost": "$0.30", "Cost per minute": "$9" }));
    expect(statusesOf(body)).toEqual(["BUDGET_EXCEEDED", "PASSED", "BUDGET_EXCEEDED", "NOT_RUN"]);
  });

  test("writing to production is refused by the executor, and allowed by a grant", async () => {
    written.length = 0;
    const steps = [
      { api_request: { method: "POST", url: `${shop.url}/api/orders`, checks: [{ status: 200 }] } },
    ];
    const request = (grants: string[]) => ({
      ...webRequest({ scenarios: [], environment: "live" }),
      MessageType: "ApiTestExecutionRequest",
      Recipient: "ApiExecutorAgent",
      Payload: { test_scenarios: [{ id: "order", steps }] },
      Constraints: { grants },
    });
    const refused = await send(request([]));
    expect(refused.body).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "POLICY_DENIED" }], results: [{ status: "NOT_RUN" }] },
    });
    expect(written).toEqual([]);
    expect((await send(request(["write:production"]))).body).toMatchObject({ payload: { status: "PASSED" } });
    expect(written).toEqual(["POST /api/orders"]);
  });

  test("a service that the tests depend on is down: BLOCKED, and nothing runs", async () => {
    const request = { ...apiRequest({}), Context: [{ "Dependent services": `Auth, http://127.0.0.1:9/` }] };
    expect((await send(request)).body).toMatchObject({
      payload: {
        status: "BLOCKED",
        errors: [{ code: "DEPENDENCY_DOWN" }],
        results: [{ status: "NOT_RUN" }, {}, {}],
      },
    });
  });

  test("personal data reach no log without a grant: a case that uses them is refused, and the message is stored without them", async () => {
    const scenarios = [{ id: "typed", steps: [open("/"), 'check text "{{phone}}"'] }];
    const request = webRequest({ scenarios, data: { phone: "555-0199", pii: ["phone"] } });
    expect((await send(request)).body).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "POLICY_DENIED" }] },
    });
    expect(JSON.stringify(await stored(request.CorrelationId))).not.toContain("555-0199");
  });
});

describe("labwright qa", () => {
  const plan = () => `
goal: The shop can be released
strategy: The sign-up form in the browser, the orders over HTTP.
app: shop
urls: [${shop.url}/]
base_url: ${shop.url}
environment: staging
risks: [{ id: signup, area: the sign-up form, level: high }]
budget: { retries: 0 }
cases:
  - id: sign-up
    executor: web
    priority: P1
    covers: [signup]
    steps: ["${open("/signup")}", 'click "Send"', 'check text "Done"']
endpoints: [{ method: GET, path: /api/orders }]
`;

  test("runs a plan file, reports JSON and files, and passes", async () => {
    const file = join(folder, "plan.yaml");
    await writeFile(file, plan());
    signUps = 1;
    const { code, out, err } = await programs.start("qa", ["--plan", file, "--json", "--report", folder])
      .ended;
    expect(err).toContain("[1/1] PASSED sign-up");
    expect([code, JSON.parse(out)]).toMatchObject([
      0,
      {
        status: "PASSED",
        quality_score: 100,
        severity_level: "info",
        plan: {
          coverage_map: { signup: ["sign-up"] },
          agent_assignments: { web: ["sign-up"], api: ["GET /api/orders"] },
        },
        parts: [{ layer: "Web" }, { layer: "API" }],
      },
    ]);
    const page = await readFile(join(folder, "report.html"), "utf8");
    expect(page).toContain("sign-up");
    expect(page).toContain("PASSED: quality score 100, info");
    const { correlation_id } = z.object({ correlation_id: z.string() }).parse(JSON.parse(out));
    const types = (await stored(correlation_id)).map(({ message_type }) => message_type);
    expect(types).toEqual(expect.arrayContaining(["TestPlanReview", "CriticReview", "ApiExecutionResult"]));
  });

  test("a plan that writes to production is refused before anything runs", async () => {
    const file = join(folder, "live.yaml");
    await writeFile(file, plan().replace("environment: staging", "environment: live"));
    const { code, out } = await programs.start("qa", ["--plan", file, "--json"]).ended;
    expect([code, JSON.parse(out)]).toMatchObject([
      2,
      { status: "BLOCKED", parts: [], errors: [{ code: "POLICY_DENIED" }] },
    ]);
  });

  test("with a model: the critic's finding goes back to the planner, and the second plan runs", async () => {
    const cases = [
      { id: "order", executor: "api", covers: [] as string[], steps: step("/api/orders"), priority: "P1" },
    ];
    const planned = (covers: string[]) => ({
      ...{ goal: "Orders work", strategy: "One request", cases: cases.map((one) => ({ ...one, covers })) },
      risks: [{ id: "orders", area: "ordering", level: "high" }],
    });
    const replies = (firstText: string) => {
      if (firstText.startsWith("Put this review"))
        return [
          says("Seen."),
          says(JSON.stringify({ comment: "All of it was checked.", recommendations: [] })),
        ];
      const isSecond = firstText.includes("MISSED_CRITICAL_PATH");
      return [says("Read."), says(JSON.stringify(planned(isSecond ? ["orders"] : [])))];
    };
    const model = await startMessagesApi({ respond: byConversation(replies) });
    try {
      const env = { ANTHROPIC_API_KEY: testKey, ANTHROPIC_BASE_URL: model.url };
      const { code, out, err } = await programs.start("qa", ["Do orders work?", "--json"], env).ended;
      expect(err).toContain("MISSED_CRITICAL_PATH");
      expect([code, JSON.parse(out)]).toMatchObject([
        0,
        {
          status: "PASSED",
          plan: { coverage_map: { orders: ["order"] } },
          rounds: [{ round: 1, to: "planner", why: [expect.stringContaining("MISSED_CRITICAL_PATH")] }],
          parts: [{ layer: "API", review: { quality_score: 100, comment: "All of it was checked." } }],
          cost_usd: expect.any(Number),
        },
      ]);
    } finally {
      await model.close();
    }
  });

  test("an error in a plan file is named with its line, and nothing runs", async () => {
    const file = join(folder, "wrong.yaml");
    await writeFile(file, plan().replace("executor: web", "executor: phone"));
    const { code, err } = await programs.start("qa", ["--plan", file]).ended;
    expect(code).toBe(2);
    expect(err).toMatch(/wrong\.yaml:12: cases\.0\.executor/);
  });

  test("Ctrl-C cancels what runs and ends with 130", async () => {
    const file = join(folder, "slow.yaml");
    await writeFile(file, plan().replace('check text "Done"', 'wait for text "Never" for 60 s'));
    const program = programs.start("qa", ["--plan", file]);
    await expect.poll(async () => (await runsOf("sign-up"))[0]?.status, { timeout: 60_000 }).toBe("running");
    program.signal("SIGINT");
    expect((await program.ended).code).toBe(130);
    expect((await runsOf("sign-up"))[0]).toMatchObject({ status: "cancelled" });
  });
});

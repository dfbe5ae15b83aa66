import { randomUUID } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { shared } from "../fixtures/shared.ts";
import { startSeed001 } from "./seed001Lab.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const lab = shared(startSeed001);

/** A message as the seed writes it, in YAML. */
const asSeed = (yaml: string) =>
  z
    .record(z.string(), z.unknown())
    .parse(
      parse(
        `MessageId: ${randomUUID()}\nCorrelationId: ${randomUUID()}\nTimestamp: "2026-11-28T08:00:00Z"\n${yaml}`,
      ),
    );

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
  - Target URLs: [${lab.shop.url}/]
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
const passing = { id: "welcome", steps: () => [lab.shop.open("/"), 'check text "Welcome"'] };
const welcome = (id: string) => ({ id, steps: passing.steps() });

describe("the three messages of seed 001", () => {
  test("WebTestExecutionRequest in the seed's spelling gives a WebExecutionResult, stored under its correlation id", async () => {
    lab.shop.traffic.signUps = 0;
    const gherkin = `Scenario: Signing up\n  Given I ${lab.shop.open("/signup")}\n  When I click "Send"\n  Then wait for text "Done" for 1 s`;
    const request = webRequest({ scenarios: [{ id: "sign-up", priority: "P1", gherkin }, welcome("home")] });
    const { status, body } = await lab.send(request);
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
    expect((await lab.stored(request.CorrelationId)).map(({ message_type }) => message_type)).toEqual([
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
  - base_url: ${lab.shop.url}
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
    const { body } = await lab.send(request);
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

  test("TestExecutionResultReview gives a CriticReview by what is on record", async () => {
    const ran = await lab.send(webRequest({ scenarios: [welcome("reviewed")] }));
    const { results } = z
      .object({
        payload: z.object({ results: z.array(z.looseObject({ execution_id: z.string().optional() })) }),
      })
      .parse(ran.body).payload;
    const sound = { ...results[0], covers: ["home"] };
    const review = (cases: unknown[]) =>
      lab.send(
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
    expect(await lab.send(message)).toMatchObject({
      status: 400,
      body: { error: { code: "INVALID_INPUT", message: expect.stringContaining("sender") } },
    });
    const asked = { ...webRequest({ scenarios: [welcome("home")] }) };
    asked.ExpectedResponse = { type: "WebExecutionResult", required_fields: ["status", "video"] };
    expect(await lab.send(asked)).toMatchObject({
      status: 502,
      body: { error: { code: "INVALID_RESPONSE", message: expect.stringContaining("video") } },
    });
  });

  const slow = () => ({ id: "slow", steps: [lab.shop.open("/"), 'wait for text "Never" for 60 s'] });
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
    const { body } = await lab.send(chromeOnly(request));
    expect(statusesOf(body)).toEqual(["TIMEOUT", "PASSED", "TIMEOUT", "NOT_RUN"]);
  });

  test("a client that leaves ends the work", async () => {
    const leaving = new AbortController();
    const sent = lab.send(chromeOnly(webRequest({ scenarios: [slow()] })), leaving.signal).catch(String);
    await expect.poll(async () => (await lab.runsOf("slow"))[0]?.status, { timeout: 60_000 }).toBe("running");
    leaving.abort();
    expect(await sent).toContain("Abort");
    await expect
      .poll(async () => (await lab.runsOf("slow"))[0]?.status, { timeout: 60_000 })
      .toBe("cancelled");
  });

  test("retries are crossed: BUDGET_EXCEEDED, since the second failure could not be confirmed", async () => {
    const check = { text_visible: { text: "Nowhere" }, timeout_ms: 200 };
    const fails = (id: string) => ({ id, steps: [lab.shop.open("/"), check] });
    const scenarios = [fails("one"), fails("two"), welcome("last")];
    const { body } = await lab.send(chromeOnly(webRequest({ scenarios, constraints: "[Max retries: 1]" })));
    expect(statusesOf(body)).toEqual(["BUDGET_EXCEEDED", "FAILED", "FAILED", "PASSED"]);
    expect(body).toMatchObject({ payload: { results: [{ attempts: 2 }, { attempts: 1 }, { attempts: 1 }] } });
  });

  const apiRequest = (constraints: Record<string, string>) => ({
    ...webRequest({ scenarios: [] }),
    MessageType: "ApiTestExecutionRequest",
    Recipient: "ApiExecutorAgent",
    Payload: {
      test_scenarios: [
        { id: "quick", steps: lab.shop.request("/api/orders") },
        { id: "slow", steps: lab.shop.request("/slow") },
        { id: "last", steps: lab.shop.request("/api/orders") },
      ],
    },
    Constraints: constraints,
  });

  test("the API executor's time is crossed: TIMEOUT, with what ran before", async () => {
    const { body } = await lab.send(apiRequest({ "Max execution time": "2 s" }));
    expect(statusesOf(body)).toEqual(["TIMEOUT", "PASSED", "TIMEOUT", "NOT_RUN"]);
  });

  test("the API executor's cost is crossed: BUDGET_EXCEEDED, with what ran before", async () => {
    const { body } = await lab.send(apiRequest({ "Max cost": "$0.30", "Cost per minute": "$9" }));
    expect(statusesOf(body)).toEqual(["BUDGET_EXCEEDED", "PASSED", "BUDGET_EXCEEDED", "NOT_RUN"]);
  });

  test("writing to production is refused by the executor, and allowed by a grant", async () => {
    lab.shop.traffic.writes.length = 0;
    const steps = [
      { api_request: { method: "POST", url: `${lab.shop.url}/api/orders`, checks: [{ status: 200 }] } },
    ];
    const request = (grants: string[]) => ({
      ...webRequest({ scenarios: [], environment: "live" }),
      MessageType: "ApiTestExecutionRequest",
      Recipient: "ApiExecutorAgent",
      Payload: { test_scenarios: [{ id: "order", steps }] },
      Constraints: { grants },
    });
    const refused = await lab.send(request([]));
    expect(refused.body).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "POLICY_DENIED" }], results: [{ status: "NOT_RUN" }] },
    });
    expect(lab.shop.traffic.writes).toEqual([]);
    expect((await lab.send(request(["write:production"]))).body).toMatchObject({
      payload: { status: "PASSED" },
    });
    expect(lab.shop.traffic.writes).toEqual(["POST /api/orders"]);
  });

  test("a service that the tests depend on is down: BLOCKED, and nothing runs", async () => {
    const request = { ...apiRequest({}), Context: [{ "Dependent services": `Auth, http://127.0.0.1:9/` }] };
    expect((await lab.send(request)).body).toMatchObject({
      payload: {
        status: "BLOCKED",
        errors: [{ code: "DEPENDENCY_DOWN" }],
        results: [{ status: "NOT_RUN" }, {}, {}],
      },
    });
  });

  test("personal data reach no log without a grant: a case that uses them is refused, and the message is stored without them", async () => {
    const scenarios = [{ id: "typed", steps: [lab.shop.open("/"), 'check text "{{phone}}"'] }];
    const request = webRequest({ scenarios, data: { phone: "555-0199", pii: ["phone"] } });
    expect((await lab.send(request)).body).toMatchObject({
      payload: { status: "BLOCKED", errors: [{ code: "POLICY_DENIED" }] },
    });
    expect(JSON.stringify(await lab.stored(request.CorrelationId))).not.toContain("555-0199");
  });
});

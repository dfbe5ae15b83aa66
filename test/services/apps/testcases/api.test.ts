import { describe, expect, it } from "vitest";
import { callContext } from "../../../fixtures/callContext.ts";
import { apiTests, type Given } from "./apiBench.ts";
import { chain, runSaved, testcase } from "./testcaseBench.ts";

const { bench, answering, json, ask, run } = apiTests();
const person = { user: { id: 7, name: "Ada", mail: null, tags: ["a", "b"] }, items: [{ n: 1 }, { n: "2" }] };

describe("checks of an answer", () => {
  it("holds each of them and counts it", async () => {
    const url = await json(person, { "x-kind": "person v2" });
    const checks = [
      { status: "2xx" },
      { header: "X-Kind", matches: "^person" },
      { json_path: "$.user.name", equals: "Ada", type: "string" },
      { json_path: "user.tags[-1]", equals: "b" },
      { json_path: "$['user'].mail", type: "null" },
      { json_path: "$.user.age", present: false },
      { json_path: "$.items[*].n", matches: "^[12]$" },
      { time_below_ms: 20_000 },
      { json_schema: { type: "object", required: ["user"] } },
    ];
    const reply = await run([ask(url, { expect_status: [200, 201], checks })]);
    expect(reply).toMatchObject({ status: "passed", verified_count: 11 });
  });

  const broken: [string, Given, string, RegExp][] = [
    ["a status", { status: ["2xx", 404] }, "status 2xx, 404", /^status 500$/],
    ["a header", { header: "x-kind", equals: "person" }, 'header x-kind equals "person"', /^"none"$/],
    [
      "a header that is missing",
      { header: "etag", present: true },
      "header etag is present",
      /^nothing: the answer has /,
    ],
    ["a value", { json_path: "$.user.id", equals: 8 }, "$.user.id equals 8", /^7$/],
    ["a pattern", { json_path: "$.user.name", matches: "^B" }, '$.user.name matches "^B"', /^"Ada"$/],
    [
      "a type",
      { json_path: "$.items[*].n", type: "integer" },
      "$.items[1].n is of type integer",
      /^string "2"$/,
    ],
    [
      "a field that is missing",
      { json_path: "$.user.age", equals: 1 },
      "$.user.age equals 1",
      /^nothing: \$\.user is an object with id, name, mail, tags$/,
    ],
    ["null", { json_path: "$.user.mail", type: "string" }, "$.user.mail is of type string", /^null null$/],
    [
      "a schema",
      { json_schema: { properties: { items: { items: { properties: { n: { type: "integer" } } } } } } },
      "$.items[1].n must be integer",
      /^"2"$/,
    ],
    ["the time", { time_below_ms: 0 }, "an answer in less than 0 ms", /^\d+ ms$/],
  ];
  it.each(
    broken,
  )("is failed when %s breaks the contract, with what was expected and found", async (_, check, expected, found) => {
    const url = await answering((_request, response) => {
      const headers = { "content-type": "application/json", "x-kind": "none" };
      response.writeHead(500, headers).end(JSON.stringify(person));
    });
    const { steps, ...reply } = await run([ask(url, { checks: [check] })]);
    expect(reply).toMatchObject({
      status: "failed",
      reason: { code: "VERIFICATION_FAILED" },
      failed_step: { expected, found: expect.stringMatching(found) },
    });
    expect(steps[0]?.output).toMatchObject({ expected, actual: expect.stringMatching(found) });
  });

  it("judges JSON that is none, and an answer later than its time", async () => {
    const url = await answering((request, response) => {
      if (request.url === "/late") return;
      response.writeHead(200, { "content-type": "application/json" }).end('{"user":');
    });
    expect(await run([ask(url, { checks: [{ json_path: "$.user", present: true }] })])).toMatchObject({
      status: "failed",
      failed_step: { expected: "a body that is JSON" },
    });
    const late = ask(`${url}/late`, { timeout_ms: 50, checks: [{ time_below_ms: 20 }] });
    expect(await run([late])).toMatchObject({
      status: "failed",
      failed_step: { expected: "an answer in less than 20 ms", found: "50 ms" },
    });
  });

  it("goes on behind a status that nothing expects, for a condition to judge", async () => {
    const url = await answering((_request, response) => response.writeHead(404).end("no"));
    const judged = (status: number) => ({
      id: "gate",
      type: "condition",
      expression: `ask.output.status == ${status}`,
    });
    expect(await run([ask(url), judged(404)])).toMatchObject({ status: "passed", verified_count: 1 });
    expect(await run([ask(url), judged(200)])).toMatchObject({ status: "failed", verified_count: 1 });
  });
});

describe("a condition on an answer", () => {
  it.each([
    [
      "ask.output.body.user.age > 3",
      /ask\.output\.body\.user\.age is missing: ask\.output\.body\.user is an object with id, name/,
    ],
    ["ask.output.body.user.mail.size() > 3", /ask\.output\.body\.user\.mail is null/],
    ["ask.output.body.user.mail", /ask\.output\.body\.user\.mail is null/],
    ["ask.output.body.user.name > 3", /ask\.output\.body\.user\.name is "Ada"/],
    ["ask.output.body.items[5].n == 1", /ask\.output\.body\.items\[5\] is missing|items\[5\]\.n is missing/],
    ["ask.output.body.items.all(i, i.m > 0)", /ask\.output\.body\.items is a list of 2/],
  ])("finds what %s reads and is not there", async (expression, message) => {
    const reply = await run([ask(await json(person)), { id: "gate", type: "condition", expression }]);
    expect(reply).toMatchObject({
      status: "failed",
      reason: { code: "VERIFICATION_FAILED", message: expect.stringMatching(message) },
    });
  });

  it("leaves a wrong expression an error", async () => {
    const gate = { id: "gate", type: "condition", expression: "nothing_known(ask.output.body.user.id)" };
    expect(await run([ask(await json(person)), gate])).toMatchObject({
      status: "error",
      reason: { code: "INVALID_INPUT" },
    });
  });
});

describe("a JSON Schema", () => {
  const tree = {
    $ref: "#/$defs/node",
    $defs: {
      node: {
        type: "object",
        required: ["n"],
        properties: { n: { type: "integer" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      },
    },
  };
  const judge = async (json_schema: unknown, value: unknown) =>
    run([ask(await json(value), { checks: [{ json_schema }] })]);

  it("may refer to itself", async () => {
    expect(await judge(tree, { n: 1, children: [{ n: 2, children: [] }] })).toMatchObject({
      status: "passed",
    });
    expect(await judge(tree, { n: 1, children: [{ children: [] }] })).toMatchObject({
      status: "failed",
      failed_step: { expected: expect.stringMatching(/^\$\.children\[0\] must have required property 'n'/) },
    });
  });

  it("that only refers to itself has no verdict", async () => {
    expect(await judge({ $ref: "#" }, {})).toMatchObject({
      status: "error",
      reason: { code: "INVALID_INPUT", message: expect.stringMatching(/without end/) },
    });
  });

  it.each([
    [{ $ref: "https://example.test/other.json" }, /nothing is fetched/],
    [{ type: "strin" }, /type/],
    [
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      /refers to itself without end/,
    ],
    [{ propertys: {} }, /unknown keyword/],
  ])("that is none is refused when it is saved: %j", async (schema, message) => {
    const graph = chain([ask("http://127.0.0.1:1/", { checks: [{ json_schema: schema }] })]);
    await expect(bench().testcases.save(testcase(graph), {})).rejects.toMatchObject({
      code: "TESTCASE_INVALID",
      message: expect.stringMatching(message),
    });
  });

  it("that takes too long or too much memory ends with a code, and the next one is judged", async () => {
    const one = bench();
    const slow = { type: "string", pattern: "^(a+)+$" };
    const graph = (url: string, schema: unknown) =>
      testcase(chain([ask(url, { checks: [{ json_schema: schema }] })]));
    const url = await json(`${"a".repeat(40)}!`);
    expect(await runSaved(one, graph(url, slow))).toMatchObject({
      status: "error",
      reason: { code: "EXECUTION_TIMEOUT" },
    });
    expect(await runSaved(one, graph(url, { type: "string" }))).toMatchObject({ status: "passed" });
  }, 30_000);
});

describe("a wrong request", () => {
  it.each([
    [{ body: {}, form: {} }, /give one of body, form/],
    [{ checks: [{}] }, /it names none of status/],
    [{ checks: [{ status: 200, equals: 1 }] }, /status does not go with equals/],
    [{ checks: [{ json_path: "$..a", equals: 1 }] }, /not a JSON path/],
    [{ checks: [{ json_path: "$.a" }] }, /json_path needs one of/],
    [{ checks: [{ header: "a", matches: "(" }] }, /checks\[0\]: .*matches/],
    [{ checks: [{ status: "2x" }] }, /a status is a code such as 200/],
    [{ form: { a: {} } }, /a form's value is/],
  ])("is refused when it is saved: %j", async (more, message) => {
    const graph = chain([ask("http://127.0.0.1:1/", { method: "POST", expect_status: 200, ...more })]);
    await expect(bench().testcases.save(testcase(graph), {})).rejects.toMatchObject({
      message: expect.stringMatching(message),
    });
  });
});

describe("a test case of requests alone", () => {
  it("runs once for each row without a device too", async () => {
    const one = bench();
    await one.devices.takeControl(undefined, callContext({ client: "other" }), false);
    const url = await json(person);
    const graph = chain([
      ask(`${url}?id={{id}}`, { checks: [{ json_path: "$.user.id", equals: "{{id}}" }] }),
    ]);
    const given = { inputs: [{ name: "id" }], for_each: [{ id: 7 }, { id: 8 }] };
    expect(await runSaved(one, testcase(graph, given))).toMatchObject({
      status: "failed",
      rows: { total: 2, passed: 1, not_passed: [{ row: "2 id=8", status: "failed" }] },
    });
  });

  it("is failed by a placeholder that reads what an answer lacks, with the path and what is there", async () => {
    const url = await json(person);
    const next = (path: string) =>
      run([ask(url, { expect_status: 200 }), ask(`${url}?a={{ask.output.${path}}}`, { id: "next" })]);
    expect(await next("body.user.age")).toMatchObject({
      status: "failed",
      reason: {
        code: "VERIFICATION_FAILED",
        message: expect.stringContaining("ask.output.body.user is an object with id, name, mail, tags"),
      },
    });
    expect(await next("bdy")).toMatchObject({ status: "error", reason: { code: "UNKNOWN_VARIABLE" } });
  });

  it("runs without a device, while another client holds it, and has its reports", async () => {
    const one = bench();
    const other = callContext({ client: "other" });
    await one.devices.takeControl(undefined, other, false);
    const { steps, ...reply } = await runSaved(
      one,
      testcase(chain([ask(await json(person), { expect_status: 200 })])),
    );
    expect(reply).toMatchObject({ status: "passed", verified_count: 1 });
    expect(steps).toHaveLength(1);
    const { execution } = await one.executions.get(reply.execution_id);
    expect(execution).not.toHaveProperty("device");
    for (const format of ["html", "junit", "ctrf"] as const) {
      const { artifact } = await one.reports.create([reply.execution_id], format);
      expect(new TextDecoder().decode((await one.artifacts.get(artifact.sha256)).bytes)).not.toContain(
        "undefined",
      );
    }
  });
});

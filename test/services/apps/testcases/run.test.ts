import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ToolError } from "../../../../mcp-server/src/errors.ts";
import { openStorage, type Storage } from "../../../../mcp-server/src/storage/index.ts";
import { engineFiles } from "../../../fixtures/engine.ts";
import {
  type BenchOptions,
  chain,
  click,
  eventsOf,
  openBench,
  runSaved,
  sees,
  serve,
  testcase,
} from "./testcaseBench.ts";

let storage: Storage;
let dataDir: string;
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "labwright-testcases-"));
  storage = await openStorage({ dataDir, ...(await engineFiles()) });
});
afterAll(async () => {
  await storage.close();
  await rm(dataDir, { recursive: true, force: true });
});
const bench = (options: BenchOptions = {}) => openBench(storage, options);
const statuses = (steps: readonly { path: string; status: string }[]) =>
  steps.map(({ path, status }) => `${path} ${status}`);

describe("a run's verdict", () => {
  it("is passed when its checks held, with pictures before and after", async () => {
    const one = bench();
    const { steps, ...reply } = await runSaved(
      one,
      testcase(chain([click("go", "Movies"), sees("look", "All movies")])),
    );
    expect(reply).toMatchObject({ status: "passed", verified_count: 1, steps_done: 2 });
    expect(steps.map(({ artifacts }) => artifacts.map(({ kind }) => kind))).toEqual([
      ["screenshot_before", "screenshot_after"],
      ["screenshot_before", "screenshot_after"],
    ]);
    expect(steps[0]?.artifacts[0]?.uri).not.toBe(steps[0]?.artifacts[1]?.uri);
    expect(await eventsOf(one, reply.execution_id)).toMatchObject([
      { type: "testcase.completed", priority: "normal", payload: { status: "passed" } },
    ]);
  });

  it("is failed when a check did not hold, with what was expected, found and nearest", async () => {
    const { steps, ...reply } = await runSaved(bench(), testcase(chain([sees("look", "All movie stars")])));
    expect(reply).toMatchObject({
      status: "failed",
      reason: { code: "VERIFICATION_FAILED" },
      failed_step: { path: "look", expected: 'the screen shows "All movie stars"' },
    });
    expect(reply.failed_step?.found).toContain("Welcome home");
    expect(reply.failed_step?.evidence).toEqual([steps[0]?.artifacts[1]?.uri]);
  });

  it("is failed when an action met an app that has not what it asks for", async () => {
    const { steps, ...reply } = await runSaved(
      bench(),
      testcase(chain([click("go", "Moovies"), sees("look", "x")])),
    );
    expect(reply).toMatchObject({
      status: "failed",
      reason: { code: "ELEMENT_NOT_FOUND" },
      verified_count: 0,
    });
    expect(statuses(steps)).toEqual(["go failed"]);
  });

  it("is error when nothing was verified on the way to success", async () => {
    const graph = chain(
      [{ id: "gate", type: "condition", expression: "skip" }, sees("look", "Welcome")],
      [{ from: "gate", to: "done", on: "failure" }],
    );
    const { status, reason } = await runSaved(bench(), testcase(graph, { variables: { skip: false } }));
    expect({ status, code: reason?.code }).toEqual({ status: "error", code: "NOTHING_VERIFIED" });
  });

  it("is error when a navigation arrived unverified and nothing else was checked", async () => {
    const options = { navigate: async () => ({ reached: true, verified: false }) };
    const graph = chain([{ id: "go", type: "navigation", target: "Home" }]);
    const { status, reason } = await runSaved(bench(options), testcase(graph, { userinterface_name: "box" }));
    expect({ status, code: reason?.code }).toEqual({ status: "error", code: "NOTHING_VERIFIED" });
  });

  it("is passed by a navigation that was verified", async () => {
    const graph = chain([{ id: "go", type: "navigation", target: "Home" }]);
    const reply = await runSaved(bench(), testcase(graph, { userinterface_name: "box" }));
    expect(reply).toMatchObject({ status: "passed", verified_count: 1 });
  });

  it("is failed by a navigation that was not reached, and error when the device was at fault", async () => {
    const graph = () =>
      testcase(chain([{ id: "go", type: "navigation", target: "Home" }]), { userinterface_name: "box" });
    const lost = (code: string) => ({
      navigate: async () => ({ reached: false, verified: false, error: { code, message: "It broke." } }),
    });
    expect(await runSaved(bench(lost("NAVIGATION_FAILED")), graph())).toMatchObject({ status: "failed" });
    for (const code of ["DEVICE_LOST", "APP_UNREACHABLE", "PAGE_UNRESPONSIVE", "ENVIRONMENT_SLOW", "NO_PATH"])
      expect(await runSaved(bench(lost(code)), graph())).toMatchObject({ status: "error", reason: { code } });
  });

  it("is failed at a failure block, telling what led there, and passed where an edge for failure leads to success", async () => {
    const end = { id: "bad", type: "failure", label: "No such movie" };
    const graph = chain(
      [sees("look", "Nothing"), sees("more", "Welcome")],
      [{ from: "look", to: "bad", on: "failure" }],
    );
    const failed = await runSaved(bench(), testcase({ ...graph, blocks: [...graph.blocks, end] }));
    expect(failed).toMatchObject({ status: "failed", failed_step: { path: "look" } });
    expect(failed.reason?.message).toContain('ended at "No such movie" after the screen shows "Nothing"');
    const caught = chain([sees("look", "Nothing")], [{ from: "look", to: "done", on: "failure" }]);
    expect(await runSaved(bench(), testcase(caught))).toMatchObject({ status: "passed", verified_count: 1 });
  });

  it("is error at once when the device is at fault, whatever edges there are", async () => {
    const one = bench({
      navigate: async () => {
        throw new ToolError("LEASE_LOST", "Another took the device.", "Take control again.");
      },
    });
    const graph = chain(
      [{ id: "go", type: "navigation", target: "Home" }, sees("look", "Welcome")],
      [{ from: "go", to: "done", on: "failure" }],
    );
    const reply = await runSaved(one, testcase(graph, { userinterface_name: "box" }));
    expect(reply).toMatchObject({ status: "error", reason: { code: "LEASE_LOST" } });
    expect(await eventsOf(one, reply.execution_id)).toMatchObject([{ priority: "high" }]);
  });

  it("stands even when a picture cannot be kept, and the step says so", async () => {
    const screenFault = new ToolError("ARTIFACT_STORE_FULL", "The disk is full.", "Free some space.");
    const { status, steps } = await runSaved(
      bench({ screenFault }),
      testcase(chain([sees("look", "Welcome")])),
    );
    expect(status).toBe("passed");
    expect(steps[0]?.output).toMatchObject({
      notes: [expect.stringContaining("ARTIFACT_STORE_FULL"), expect.stringContaining("ARTIFACT_STORE_FULL")],
    });
  });
});

describe("data", () => {
  it("flows from inputs, variables, the app and outputs of blocks", async () => {
    const graph = chain([
      sees("first", "{{greeting}} home"),
      click("go", "{{screen}}"),
      { id: "keep", type: "set", values: { title: "All {{first.output.pass}}", wanted: "{{where}}" } },
      {
        id: "gate",
        type: "condition",
        expression: "first.output.pass && count + 1 == 4 && title == 'All true'",
      },
      sees("second", "{{wanted}}"),
    ]);
    const given = testcase(graph, {
      userinterface_name: "box",
      inputs: [
        { name: "screen", required: true },
        { name: "count", default: 3 },
      ],
      variables: { where: "All {{screen}}", title: "" },
      outputs: { shown: "title", found: "{{second.output.actual}}", never: "{{gate.output.missing}}" },
    });
    const one = bench();
    const small = await runSaved(one, given, { inputs: { screen: "movies" } });
    expect(small).toMatchObject({ status: "passed", verified_count: 2, outputs: { shown: "All true" } });
    expect(small.outputs).not.toHaveProperty("never");
    expect((await one.executions.get(small.execution_id)).execution).toMatchObject({
      outputs: { shown: "All true" },
      userinterface: "box",
    });
  });

  it("takes another app at execution, with that app's variables", async () => {
    const given = testcase(chain([sees("look", "{{greeting}}")]), { userinterface_name: "box" });
    const one = bench();
    expect(await runSaved(one, given)).toMatchObject({ status: "passed" });
    const other = await runSaved(one, given, { userinterface_name: "other" });
    expect(other).toMatchObject({
      status: "failed",
      failed_step: { expected: 'the screen shows "Nothing"' },
    });
  });

  it("that a block did not make yet ends the run with what is missing", async () => {
    const graph = chain([
      sees("look", "Welcome"),
      { id: "use", type: "set", values: { x: "{{look.output.no.such}}" } },
    ]);
    const { status, reason, steps } = await runSaved(bench(), testcase(graph));
    expect({ status, code: reason?.code }).toEqual({ status: "error", code: "UNKNOWN_VARIABLE" });
    expect(statuses(steps)).toEqual(["look passed", "use error"]);
  });

  it("keeps secrets out of the record while the device gets them", async () => {
    const one = bench({ secrets: { NAME: "hidden-value" } });
    const type = {
      id: "type",
      type: "action",
      command: "input_text",
      params: { selector: "Device name", text: "{{secret.NAME}}" },
    };
    const check = {
      id: "look",
      type: "verification",
      command: "element_value",
      params: { selector: "Device name", value: "{{secret.NAME}}" },
    };
    const reply = await runSaved(one, testcase(chain([click("go", "Settings"), type, check])));
    expect(reply.status).toBe("passed");
    expect(reply.steps[1]?.input).toMatchObject({ params: { text: "{{secret.NAME}}" } });
    expect(JSON.stringify(reply)).not.toContain("hidden-value");
  });

  it("survives what JSON columns refuse", async () => {
    const one = bench();
    const graph = chain([sees("look", "{{bad}}", { negate: true })]);
    const given = testcase(graph, { inputs: [{ name: "bad" }] });
    const reply = await runSaved(one, given, { inputs: { bad: "a\u0000b\ud800" } });
    expect(reply.steps[0]?.input).toMatchObject({ params: { text: "a\ufffdb\ufffd" } });
    expect(reply.status).toBe("passed");
  });
});

describe("loops", () => {
  const body = (...blocks: Record<string, unknown>[]) => chain(blocks);

  it("repeat, with the round's number in values and expressions", async () => {
    const graph = chain([
      {
        id: "rounds",
        type: "loop",
        iterations: 3,
        body: body({ id: "keep", type: "set", values: { last: "{{loop.index}}" } }),
      },
      { id: "gate", type: "condition", expression: "last == 2 && rounds.output.iterations == 3" },
      sees("look", "Welcome"),
    ]);
    const { status, steps } = await runSaved(bench(), testcase(graph));
    expect(status).toBe("passed");
    expect(statuses(steps)).toEqual([
      "rounds[0]/keep passed",
      "rounds[1]/keep passed",
      "rounds[2]/keep passed",
      "rounds passed",
      "gate passed",
      "look passed",
    ]);
  });

  it("nest, the inner number hiding the outer one", async () => {
    const inner = {
      id: "inner",
      type: "loop",
      iterations: 2,
      body: body({ id: "in", type: "set", values: { seen: "{{seen}}{{loop.index}}" } }),
    };
    const after = { id: "out", type: "set", values: { seen: "{{seen}}|{{loop.index}}," } };
    const graph = chain([
      { id: "outer", type: "loop", iterations: 2, body: body(inner, after) },
      sees("look", "Welcome"),
    ]);
    const reply = await runSaved(
      bench(),
      testcase(graph, { variables: { seen: "" }, outputs: { seen: "seen" } }),
    );
    expect(reply.outputs).toEqual({ seen: "01|0,01|1," });
  });

  it("go on while a condition holds, not at all when it never does", async () => {
    const press = { id: "press", type: "set", values: { n: "{{loop.index}}" } };
    const loop = (id: string, condition: string) => ({
      id,
      type: "loop",
      while: condition,
      body: chain([{ ...press, id: `${id}_set` }]),
    });
    const graph = chain([loop("some", "loop.index < 4"), loop("none", "n > 100"), sees("look", "Welcome")]);
    const { steps } = await runSaved(bench(), testcase(graph, { variables: { n: 0 } }));
    const loops = steps.filter(({ kind }) => kind === "loop");
    expect(loops.map(({ output }) => output)).toEqual([
      { iterations: 4, failed: [] },
      { iterations: 0, failed: [] },
    ]);
  });

  it("break at the first round that fails", async () => {
    const graph = chain([{ id: "rounds", type: "loop", iterations: 3, body: body(sees("look", "Nothing")) }]);
    const { status, steps, failed_step } = await runSaved(bench(), testcase(graph));
    expect(status).toBe("failed");
    expect(statuses(steps)).toEqual(["rounds[0]/look failed", "rounds failed"]);
    expect(failed_step).toMatchObject({ path: "rounds[0]/look", expected: 'the screen shows "Nothing"' });
  });

  it("make all rounds with continue, then fail and say which failed", async () => {
    const gate = { id: "gate", type: "condition", expression: "loop.index != 1" };
    const graph = chain([
      {
        id: "rounds",
        type: "loop",
        iterations: 3,
        on_failure: "continue",
        body: body(sees("look", "Welcome"), gate),
      },
    ]);
    const { status, reason, steps } = await runSaved(bench(), testcase(graph));
    expect(status).toBe("failed");
    expect(reason?.message).toMatch(
      /^1 of 3 rounds failed \(index 1\): loop\.index != 1 is false; loop is \{.*"index":1/,
    );
    expect(steps.at(-1)?.output).toMatchObject({ iterations: 3, failed: [{ index: 1 }] });
  });

  it("stop at a thousand rounds when the condition never ends", async () => {
    const graph = chain([
      {
        id: "rounds",
        type: "loop",
        while: "true",
        body: {
          blocks: [
            { id: "s", type: "start" },
            { id: "e", type: "success" },
          ],
          edges: [{ from: "s", to: "e" }],
        },
      },
      sees("look", "Welcome"),
    ]);
    const { status, reason } = await runSaved(bench(), testcase(graph));
    expect({ status, code: reason?.code }).toEqual({ status: "error", code: "MAX_RETRIES_EXCEEDED" });
  });
});

describe("api_request", () => {
  it("sends secrets, reads JSON into data, and hides what comes back of them", async () => {
    const seen: string[] = [];
    const server = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        seen.push(`${request.method} ${request.headers.authorization} ${Buffer.concat(chunks).toString()}`);
        response.setHeader("content-type", "application/json");
        response.statusCode = 201;
        response.end(JSON.stringify({ count: 2, echo: request.headers.authorization }));
      });
    });
    try {
      const graph = chain([
        {
          id: "make",
          type: "api_request",
          method: "POST",
          url: "{{base}}/things",
          headers: { authorization: "Bearer {{secret.TOKEN}}" },
          body: { n: "{{n}}" },
          expect_status: 201,
        },
        {
          id: "gate",
          type: "condition",
          expression: "make.output.status == 201 && make.output.body.count == 2",
        },
      ]);
      const one = bench({ secrets: { TOKEN: "hidden-token" } });
      const { steps, ...reply } = await runSaved(
        one,
        testcase(graph, { variables: { base: server.url, n: 7 } }),
      );
      expect(reply).toMatchObject({ status: "passed", verified_count: 2 });
      expect(seen).toEqual(['POST Bearer hidden-token {"n":7}']);
      expect(JSON.stringify(steps)).not.toContain("hidden-token");
    } finally {
      await server.close();
    }
  });

  it("fails on another status, and is error when nobody answers unless an edge catches it", async () => {
    const server = await serve((_request, response) => response.writeHead(500).end("no"));
    const ask = (url: string) => ({ id: "ask", type: "api_request", url, expect_status: 200 });
    const answered = await runSaved(bench(), testcase(chain([ask(server.url)])));
    expect(answered).toMatchObject({
      status: "failed",
      failed_step: { expected: "status 200", found: "status 500" },
    });
    await server.close();
    const down = await runSaved(bench(), testcase(chain([ask(server.url)])));
    expect(down).toMatchObject({ status: "error", reason: { code: "APP_UNREACHABLE" } });
    const caught = chain(
      [ask(server.url), sees("look", "Welcome")],
      [{ from: "ask", to: "look", on: "failure" }],
    );
    expect(await runSaved(bench(), testcase(caught))).toMatchObject({ status: "passed" });
  });

  it("obeys the URL policy", async () => {
    const ask = { id: "ask", type: "api_request", url: "http://169.254.169.254/latest", expect_status: 200 };
    const graph = chain([ask], [{ from: "ask", to: "done", on: "failure" }]);
    expect(await runSaved(bench(), testcase(graph))).toMatchObject({
      status: "error",
      reason: { code: "URL_DENIED" },
    });
  });

  it("gives up at its time", async () => {
    const server = await serve(() => {});
    try {
      const ask = { id: "ask", type: "api_request", url: server.url, expect_status: 200, timeout_ms: 1 };
      expect(await runSaved(bench(), testcase(chain([ask])))).toMatchObject({
        status: "error",
        reason: { code: "REQUEST_TIMEOUT" },
      });
    } finally {
      await server.close();
    }
  });
});

describe("call_testcase", () => {
  it("runs another with inputs, gives its outputs back, and counts its checks", async () => {
    const one = bench();
    const part = testcase(chain([click("go", "{{screen}}"), sees("look", "All {{screen}}")]), {
      inputs: [{ name: "screen", required: true }],
      outputs: { shown: "{{look.output.actual}}" },
    });
    await one.testcases.save(part, {});
    const graph = chain([
      { id: "open", type: "call_testcase", testcase: part.name, inputs: { screen: "{{where}}" } },
      { id: "gate", type: "condition", expression: "open.output.outputs.shown.contains('All movies')" },
    ]);
    const { steps, ...reply } = await runSaved(one, testcase(graph, { variables: { where: "movies" } }));
    expect(reply).toMatchObject({ status: "passed", verified_count: 1 });
    expect(statuses(steps)).toEqual(["open/go passed", "open/look passed", "open passed", "gate passed"]);
  });

  it("fails as the called one fails, naming the step inside", async () => {
    const one = bench();
    const part = testcase(chain([sees("look", "Nothing")]));
    await one.testcases.save(part, {});
    const graph = chain([{ id: "open", type: "call_testcase", testcase: part.name }]);
    const reply = await runSaved(one, testcase(graph));
    expect(reply).toMatchObject({ status: "failed", failed_step: { path: "open/look" } });
  });

  it("runs on the app given at execution, else on its own, and is checked against that one", async () => {
    const one = bench();
    const part = testcase(chain([sees("look", "{{greeting}}")]), { userinterface_name: "other" });
    await one.testcases.save(part, {});
    const call = { id: "open", type: "call_testcase", testcase: part.name };
    const whole = testcase(chain([call, sees("more", "Welcome")]), { userinterface_name: "box" });
    const own = await runSaved(one, whole);
    expect(own).toMatchObject({ status: "failed", failed_step: { expected: 'the screen shows "Nothing"' } });
    expect(await runSaved(one, whole, { userinterface_name: "box" })).toMatchObject({ status: "passed" });
  });

  it("is refused when it would call itself, before anything runs", async () => {
    const one = bench();
    const a = testcase(chain([sees("look", "Welcome")]), { name: "round a" });
    await one.testcases.save(a, {});
    const b = testcase(chain([{ id: "call", type: "call_testcase", testcase: "round a" }]), {
      name: "round b",
    });
    await one.testcases.save(b, {});
    const again = testcase(chain([{ id: "call", type: "call_testcase", testcase: "round b" }]), {
      name: "round a",
    });
    await expect(one.testcases.save(again, {})).rejects.toThrow("round a calls round b calls round a");
  });
});

describe("data of a run", () => {
  const set = (id: string, values: object) => ({ id, type: "set", values });

  it("is computed by set, in a loop from the items of a list, and keeps its types", async () => {
    const loop = {
      id: "each",
      type: "loop",
      iterations: 3,
      body: chain([
        set("add", {
          total: "{{total + items[loop.index].price}}",
          all: "{{all + [items[loop.index].name]}}",
        }),
      ]),
    };
    const items = [
      { name: "a", price: 1 },
      { name: "b", price: 2.5 },
      { name: "c", price: 4 },
    ];
    const given = testcase(chain([loop, sees("look", "{{'Wel' + 'come'}}")]), {
      variables: { total: 0, all: [], items },
      types: { total: "number", all: "list" },
      outputs: { total: "total", all: "{{all}}" },
    });
    const reply = await runSaved(bench(), given);
    expect(reply).toMatchObject({ status: "passed", outputs: { total: 7.5, all: ["a", "b", "c"] } });
  });

  it.each([
    ["its value, typed as declared", { value: "12.50", x: 1 }, { read: "number" }, 12.5],
    ["a number as it is", { value: 3 }, {}, 3],
    ["its rows", { rows: [["a"]] }, { read: "list" }, [["a"]]],
    ["all of it", { url: "u" }, {}, { url: "u" }],
  ])("takes what a command read: %s", async (_what, reads, types, value) => {
    const graph = chain([click("go", "Movies", { into: "read" }), sees("look", "All movies")]);
    const reply = await runSaved(bench({ reads }), testcase(graph, { types, outputs: { read: "read" } }));
    expect(reply).toMatchObject({ status: "passed", outputs: { read: value } });
  });

  it("fails where what was read is not of its type, with what was found, and is an error where nothing is read", async () => {
    const graph = chain([click("go", "Movies", { into: "read" }), sees("look", "All movies")]);
    const given = () => testcase(graph, { types: { read: "number" } });
    expect(await runSaved(bench({ reads: { value: "n/a" } }), given())).toMatchObject({
      status: "failed",
      reason: { code: "VERIFICATION_FAILED" },
      failed_step: { path: "go", expected: "read: it is to be a number", found: 'the text "n/a"' },
    });
    expect(await runSaved(bench(), given())).toMatchObject({
      status: "error",
      reason: { code: "INVALID_INPUT", message: expect.stringContaining("reads nothing") },
    });
  });

  it("takes nothing that names a secret into a variable, from where it would be filled in", async () => {
    const graph = chain([click("go", "Movies", { into: "read" }), sees("look", "All movies")]);
    const reads = { value: "Hello {{secret.PASSWORD}}" };
    const reply = await runSaved(bench({ reads, secrets: { PASSWORD: "hunter2" } }), testcase(graph, {}));
    expect(reply).toMatchObject({ status: "error", reason: { code: "INVALID_INPUT" } });
    expect(JSON.stringify(reply)).not.toContain("hunter2");
  });

  it("names a type of nothing, an expression that cannot be read and an unknown name before anything runs", async () => {
    const graph = chain([
      set("one", { x: "{{1 +}}" }),
      set("two", { y: "{{size(nobody)}}" }),
      sees("look", "Welcome"),
    ]);
    const saving = bench().testcases.save(testcase(graph, { types: { z: "number" } }), {});
    await expect(saving).rejects.toMatchObject({
      code: "TESTCASE_INVALID",
      details: {
        problems: expect.arrayContaining([
          expect.objectContaining({ path: "one", code: "INVALID_INPUT" }),
          expect.objectContaining({ path: "two", code: "UNKNOWN_VARIABLE" }),
          expect.objectContaining({ path: "types" }),
        ]),
      },
    });
  });

  it("does not grow without end", async () => {
    const loop = {
      id: "each",
      type: "loop",
      iterations: 60,
      body: chain([set("double", { list: ["{{list}}", "{{list}}"] })]),
    };
    const reply = await runSaved(
      bench(),
      testcase(chain([loop, sees("look", "Welcome")]), { variables: { list: [1] } }),
    );
    expect(reply).toMatchObject({ status: "error", reason: { code: "INVALID_INPUT" } });
  });
});

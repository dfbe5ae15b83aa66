import { describe, expect, it } from "vitest";
import { storageForTests } from "./apiBench.ts";
import {
  type BenchOptions,
  chain,
  click,
  openBench,
  runSaved,
  sees,
  statuses,
  testcase,
} from "./testcaseBench.ts";

const { storage } = storageForTests();
const bench = (options: BenchOptions = {}) => openBench(storage(), options);

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

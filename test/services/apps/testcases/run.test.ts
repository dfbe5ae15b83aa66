import { ToolError } from "@labwright/mcp-server";
import { describe, expect, it } from "vitest";
import { callContext } from "../../../fixtures/callContext.ts";
import { storageForTests } from "./apiBench.ts";
import {
  type BenchOptions,
  chain,
  click,
  eventsOf,
  openBench,
  runSaved,
  sees,
  statuses,
  testcase,
} from "./testcaseBench.ts";

const { storage } = storageForTests();
const bench = (options: BenchOptions = {}) => openBench(storage(), options);

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

  it("is none when it is stopped; it says at which step and whether that sent its input", async () => {
    const one = bench();
    const caller = new AbortController();
    const context = callContext({ signal: caller.signal });
    const graph = testcase(chain([click("go", "Movies"), sees("look", "All movies")]), { retries: 1 });
    const running = runSaved(one, graph, { slow_ms: 60_000 }, context);
    const { device } = await one.devices.acquire({}, callContext(), { drives: false });
    const signal = new AbortController().signal;
    const screen = () => device.controllers[0]?.elements?.dump({ interactiveOnly: true }, signal);
    await expect.poll(async () => (await screen())?.location).toBe("movies");
    caller.abort();
    const { steps, ...reply } = await running;
    expect(reply).toMatchObject({
      status: "cancelled",
      reason: { code: "CANCELLED" },
      failed_step: { path: "go", dispatched: "yes" },
    });
    expect(reply).not.toHaveProperty("attempts");
    expect(steps).toMatchObject([{ status: "cancelled", error: { code: "CANCELLED", dispatched: "yes" } }]);
    const view = { waitMs: 0, maxTokens: 2_000 };
    expect(await one.reports.status(reply.execution_id, view, callContext())).toMatchObject({
      failed_step: { path: "go", dispatched: "yes" },
    });
  });

  it("is none when it is stopped on its way to a screen; it says whether that sent its input", async () => {
    const caller = new AbortController();
    const leg = { path: "", kind: "edge", label: "Home → Movies", status: "cancelled" as const };
    const error = { code: "CANCELLED", message: "Cancelled.", dispatched: "yes" as const };
    const navigate: BenchOptions["navigate"] = async (_request, run) => {
      caller.abort();
      const rest = { started_at: new Date(0).toISOString(), duration_ms: 1, input: null, output: null };
      await run.step({ ...leg, ...rest, error, artifacts: [] });
      throw run.signal.reason;
    };
    const graph = testcase(chain([{ id: "go", type: "navigation", target: "Movies" }]), {
      userinterface_name: "box",
    });
    const context = callContext({ signal: caller.signal });
    expect(await runSaved(bench({ navigate }), graph, {}, context)).toMatchObject({
      status: "cancelled",
      failed_step: { path: "go", dispatched: "yes" },
    });
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

  it("is failed at a failure block, reporting what led there, and passed where an edge for failure leads to success", async () => {
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
    expect(steps[0]?.notices).toEqual([
      expect.stringContaining("no screenshot before: ARTIFACT_STORE_FULL"),
      expect.stringContaining("no screenshot after: ARTIFACT_STORE_FULL"),
    ]);
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

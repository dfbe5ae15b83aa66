import { beforeAll, expect, it } from "vitest";
import type { NavigationOutcome } from "#mcp-server/services/apps/testcases/index.ts";
import type { Storage } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../../../fixtures/database.ts";
import { type Bench, chain, eventsOf, openBench, runSaved, sees, testcase } from "./testcaseBench.ts";

const lost: NavigationOutcome = {
  reached: false,
  verified: false,
  error: { code: "DEVICE_LOST", message: "The browser is gone." },
};
const elsewhere: NavigationOutcome = {
  reached: false,
  verified: false,
  error: { code: "NAVIGATION_FAILED", message: "It ended elsewhere." },
};
const there: NavigationOutcome = { reached: true, verified: true };

describeEachDatabase("a test case with retries", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });

  /** Goes to Home and looks for a text; `outcomes` are those of one navigation after the other. */
  function benchOf(outcomes: readonly NavigationOutcome[]): Bench {
    const left = [...outcomes];
    return openBench(storage, { navigate: async () => left.shift() ?? there });
  }
  const goes = (more = {}) =>
    testcase(chain([{ id: "go", type: "navigation", target: "Home" }]), {
      userinterface_name: "box",
      ...more,
    });

  it("is tried again on error, keeps every attempt, and is flaky when it passes then", async () => {
    const bench = benchOf([lost, there]);
    const { steps, ...reply } = await runSaved(bench, goes({ retries: 2 }));
    expect(reply).toMatchObject({ status: "passed", flaky: true, verified_count: 1 });
    expect(reply.attempts).toEqual([
      {
        id: `${reply.execution_id}.1`,
        status: "error",
        reason: { code: "DEVICE_LOST", message: "The browser is gone." },
        duration_ms: expect.any(Number),
      },
      { id: `${reply.execution_id}.2`, status: "passed", duration_ms: expect.any(Number) },
    ]);
    expect(steps.map(({ path, status }) => [path, status])).toEqual([
      ["go", "error"],
      ["attempt2/go", "passed"],
    ]);
    const { execution } = await bench.executions.get(reply.execution_id);
    expect(execution).toMatchObject({ status: "passed", flaky: true, attempts: [{}, {}] });
    const [event] = await eventsOf(bench, reply.execution_id);
    expect(event?.payload).toMatchObject({ status: "passed", flaky: true });
  });

  it("is tried again when it failed, unless it asks for errors alone", async () => {
    const once = await runSaved(benchOf([elsewhere, there]), goes({ retries: 1, retry_on: "error" }));
    expect(once).toMatchObject({ status: "failed" });
    expect(once.attempts).toBeUndefined();
    const asked = await runSaved(benchOf([elsewhere, there]), goes({ retries: 1 }));
    expect(asked).toMatchObject({ status: "passed", flaky: true });
    const called = await runSaved(benchOf([elsewhere, there]), goes(), { retries: 1 });
    expect(called).toMatchObject({ status: "passed", flaky: true });
  });

  it("ends as its last attempt did, with that one's own step, and is not flaky", async () => {
    const bench = benchOf([lost, elsewhere, elsewhere]);
    const { steps, ...reply } = await runSaved(bench, goes({ retries: 2, retry_on: "any" }));
    expect(reply).toMatchObject({
      status: "failed",
      reason: { code: "NAVIGATION_FAILED" },
      failed_step: { path: "attempt3/go" },
    });
    expect(reply.flaky).toBeUndefined();
    expect(reply.attempts?.map(({ status }) => status)).toEqual(["error", "failed", "failed"]);
    expect(steps).toHaveLength(3);
  });

  it("says how the starts differed when a rerun on the same build ends otherwise, and nothing where no difference is known", async () => {
    const bench = openBench(storage);
    const looks = testcase(chain([sees("look", "{{text}}")]), {
      inputs: [{ name: "text", default: "Welcome" }],
    });
    const run = (inputs: Record<string, unknown>, build = "812") => runSaved(bench, looks, { inputs, build });
    const first = await run({});
    expect(first.rerun).toBeUndefined();
    expect((await run({ text: "Welcome" })).rerun).toBeUndefined();
    const failed = await run({ text: "Nothing" });
    expect(failed.rerun).toMatch(
      /^Its last run passed \(\w+, .* UTC, same build 812\)\. The starts differed: inputs\.text was "Welcome", now "Nothing"\.$/,
    );
    expect((await run({ text: "Welcome" }, "813")).rerun).toBeUndefined();
    const { execution } = await bench.executions.get(failed.execution_id);
    expect(execution.rerun).toBe(failed.rerun);
    const moving = benchOf([there, elsewhere]);
    const goesHome = goes();
    await runSaved(moving, goesHome);
    expect((await runSaved(moving, goesHome)).rerun).toBeUndefined();
  });
});

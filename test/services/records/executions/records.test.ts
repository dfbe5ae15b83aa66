import { getEventListeners } from "node:events";
import { ToolError } from "@labwright/mcp-server";
import { expect, it } from "vitest";
import type { FinishedRun, Run } from "#mcp-server/services/index.ts";
import { createExecutions } from "#mcp-server/services/records/executions/index.ts";
import { RunRecord } from "#mcp-server/services/records/executions/runRecord.ts";
import { createNotices } from "#mcp-server/services/records/notices.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { runOf } from "../../../fixtures/executionRecords.ts";
import { simulatedDevices, testSecrets } from "../../../fixtures/simulated.ts";
import { describeExecutions, gate, passing, spec, step, until } from "./world.ts";

describeExecutions("the records of executions", (t) => {
  it("a batch of actions that ends soon is stored whole, with its step and its end", async () => {
    const touched: object[] = [];
    const context = callContext({ note: (facts) => void touched.push(facts) });
    const reply = await t.executions.run(spec({ kind: "actions" }), context, async (run) => {
      await run.step(step("tap", { output: { pressed: true } }));
      expect(await t.rows.find(run.id)).toBeUndefined();
      return { status: "passed", outputs: { a: 1 }, output: { answer: 42 } };
    });
    expect(touched).toEqual([expect.objectContaining({ execution_id: reply.execution_id, fence: 1 })]);
    expect(await t.rows.find(reply.execution_id)).toMatchObject({
      execution: { status: "passed", kind: "actions", outputs: { a: 1 }, duration_ms: 0 },
      result: { answer: 42 },
    });
    expect(await t.rows.steps(reply.execution_id)).toMatchObject([
      { label: "tap", output: { pressed: true } },
    ]);
  });

  it("a run that has ended leaves nothing listening to the lease that it ran under", async () => {
    const signals: AbortSignal[] = [];
    for (const kind of ["actions", "navigation"] as const)
      await t.executions.run(spec({ kind }), callContext(), async (run) => {
        signals.push(run.signal);
        return { status: "passed", output: {} };
      });
    expect(signals).toHaveLength(2);
    for (const signal of signals) expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("a batch of actions that lasts, or is asked for, is there while it runs, with its steps so far", async () => {
    for (const look of [(id: string) => t.executions.get(id), () => t.clock.advance(250)]) {
      const { open: end, opened } = gate();
      let id = "";
      const running = t.executions.run(spec({ kind: "actions" }), callContext(), async (run) => {
        id = run.id;
        await run.step(step("first"));
        await opened;
        await run.step(step("second"));
        return { status: "passed", output: {} };
      });
      await expect.poll(() => id).not.toBe("");
      await look(id);
      await expect.poll(() => t.rows.steps(id)).toMatchObject([{ label: "first" }]);
      expect((await t.rows.find(id))?.execution.status).toBe("running");
      end();
      await running;
      expect((await t.rows.find(id))?.execution.status).toBe("passed");
      expect(await t.rows.steps(id)).toHaveLength(2);
    }
  });

  it("a batch of actions whose record the database refuses is said to have failed so, and is stored later", async () => {
    let refuses = true;
    const failing = createExecutions({
      notices: createNotices(),
      rows: {
        ...t.rows,
        insertFinished: async (...given) => {
          if (refuses) throw new Error("disk full");
          return t.rows.insertFinished(...given);
        },
      },
      devices: simulatedDevices(),
      events: { append: async () => {} },
      secrets: testSecrets({}),
      clock: t.clock,
      host: "lab",
      onError: () => {},
    });
    let id = "";
    const refused = failing.run(spec({ kind: "actions" }), callContext(), async (run) => {
      id = run.id;
      return { status: "passed", output: {} };
    });
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    refuses = false;
    expect((await failing.get(id)).execution.status).toBe("passed");
  });

  it("loses no step when the database refuses one while the row is made late", async () => {
    let refusals = 1;
    const appendStep: typeof t.rows.appendStep = async (id, one) => {
      if (one.index === 1 && refusals-- > 0) throw new Error("disk full");
      return t.rows.appendStep(id, one);
    };
    const { execution, end } = runOf("late", { kind: "actions" });
    const record = new RunRecord({ ...t.rows, appendStep }, execution);
    for (const index of [0, 1, 2]) await record.step({ ...step("some"), index });
    await expect(record.open()).rejects.toThrow("disk full");
    await record.step({ ...step("last"), index: 3 });
    await record.end(end, undefined);
    expect((await t.rows.steps("late")).map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect((await t.rows.find("late"))?.execution.status).toBe("passed");
  });

  it("a batch of actions that ends soon is left to the end of its call, unless that is over", async () => {
    const left: FinishedRun[] = [];
    const { open: stored, opened } = gate();
    const tap = async (run: Run) => {
      await run.step(step("tap"));
      return { status: "passed" as const, output: { answer: 42 } };
    };
    const leave = (run: FinishedRun) => {
      left.push(run);
      return opened;
    };
    const reply = await t.executions.run(spec({ kind: "actions" }), callContext({ leave }), tap);
    const id = reply.execution_id;
    expect(reply).toMatchObject({ status: "passed", output: { answer: 42 } });
    expect(left).toMatchObject([{ execution: { id }, steps: [{ label: "tap" }], end: { status: "passed" } }]);
    expect(await t.rows.find(id)).toBeUndefined();
    stored();
    const over = await t.executions.run(
      spec({ kind: "actions" }),
      callContext({ leave: () => undefined }),
      tap,
    );
    expect((await t.executions.get(over.execution_id)).execution.status).toBe("passed");
    const test = await t.executions.run(spec(), callContext({ leave }), passing);
    expect((await t.executions.get(test.execution_id)).execution.status).toBe("passed");
    expect(left).toHaveLength(1);
  });

  it("a batch of actions that was left and could not be stored is stored when it is asked for", async () => {
    const leave = () => Promise.reject(new Error("disk full"));
    const reply = await t.executions.run(spec({ kind: "actions" }), callContext({ leave }), async (run) => {
      await run.step(step("tap"));
      return { status: "passed", output: {} };
    });
    expect((await t.executions.get(reply.execution_id)).steps).toMatchObject([{ label: "tap" }]);
  });

  it("keep a run with its caller, input, steps, outputs, result and event", async () => {
    const context = callContext({ trace_id: "trace-1", principal: "ci" });
    const given = spec({
      environment: "staging",
      release: "1.2",
      build: "7",
      userinterface: "box",
      correlation_id: "c-1",
    });
    const reply = await t.executions.run(given, context, passing);
    expect(reply).toMatchObject({ status: "passed", steps_done: 1, output: { answer: 42 } });
    const { execution, steps } = await t.executions.get(reply.execution_id);
    expect(execution).toMatchObject({
      kind: "testcase",
      status: "passed",
      host_name: "lab",
      device: "lab/box",
      device_model: "simulated",
      environment: "staging",
      release: "1.2",
      build: "7",
      userinterface: "box",
      triggered_by: "ci",
      correlation_id: "c-1",
      verified_count: 2,
      outputs: { a: 1 },
    });
    expect(execution.finished_at).toBeDefined();
    expect(steps).toEqual([{ ...step("one"), index: 0 }]);
    expect(await t.executions.wait(reply.execution_id, 0, context)).toMatchObject({
      status: "passed",
      output: { answer: 42 },
    });
    expect(t.events).toMatchObject([
      { type: "testcase.completed", execution_id: reply.execution_id, device_id: "lab/box" },
    ]);
    expect([t.released, t.executions.running()]).toEqual([1, 0]);
  });

  it("have a row that runs, and its steps so far, before the body is over", async () => {
    const held = gate();
    const reply = await t.now(
      t.start(async (run) => {
        await run.step(step("one"));
        await held.opened;
        return passing(run);
      }),
    );
    expect(reply).toMatchObject({ status: "running" });
    const mid = await until(
      () => t.executions.get(reply.execution_id),
      ({ steps }) => steps.length === 1,
    );
    expect(mid.execution).toMatchObject({ status: "running" });
    expect(t.executions.running()).toBe(1);
    held.open();
    expect(await t.executions.wait(reply.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
      steps_done: 2,
    });
  });

  it("say so when their end cannot be stored, keep it, and store it when asked again", async () => {
    t.eventFault = new Error("the disk is full");
    const waiting = t.executions.run(spec({ name: "unstored" }), callContext(), passing);
    await expect(waiting).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining(
        "The run ended passed, but its end could not be stored: the disk is full",
      ),
    });
    const [left] = (await t.rows.openOn("lab")).filter(({ name }) => name === "unstored");
    expect(left).toMatchObject({ status: "running" });
    const id = left?.id ?? "";
    await expect(t.executions.get(id)).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    t.eventFault = undefined;
    expect((await t.executions.get(id)).execution).toMatchObject({ status: "passed", verified_count: 2 });
    expect([t.released, t.executions.running()]).toEqual([1, 0]);
  });

  it("end with error when a step cannot be stored, and do not start without a row", async () => {
    const broken = await t.executions.run(spec(), callContext(), async (run) => {
      t.rowFault = new Error("no connection");
      await run.step(step("one"));
      return passing(run);
    });
    expect(broken).toMatchObject({ status: "error", reason: { code: "STORAGE_FAILED" } });
    let ran = false;
    const refused = t.executions.run(spec(), callContext(), async (run) => {
      ran = true;
      return passing(run);
    });
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect([ran, t.released]).toEqual([false, 2]);
  });

  it("that waited end with error when their start cannot be stored, and are not left in the queue", async () => {
    const held = gate();
    const first = await t.now(
      t.start(async (run) => {
        await held.opened;
        return passing(run);
      }),
    );
    let ran = false;
    const second = await t.now(
      t.start(async (run) => {
        ran = true;
        return passing(run);
      }),
    );
    expect(second.status).toBe("queued");
    t.rowFault = new Error("no connection");
    held.open();
    await t.executions.wait(first.execution_id, 60_000, callContext()).catch(() => undefined);
    await expect.poll(() => t.executions.running()).toBe(0);
    t.rowFault = undefined;
    expect((await t.executions.get(second.execution_id)).execution).toMatchObject({
      status: "error",
      reason: { code: "STORAGE_FAILED" },
    });
    expect(ran).toBe(false);
  });

  it("without a device end with error too when their last step cannot be stored", async () => {
    const broken = await t.executions.run(spec({ device: "none" }), callContext(), async (run) => {
      await run.step(step("one"));
      await expect.poll(() => t.rows.steps(run.id)).toHaveLength(1);
      t.rowFault = new Error("no connection");
      await run.step(step("two"));
      return passing(run);
    });
    t.rowFault = undefined;
    expect(broken).toMatchObject({ status: "error", reason: { code: "STORAGE_FAILED" } });
    expect(await t.rows.steps(broken.execution_id)).toMatchObject([{ label: "one" }]);
  });

  it("keep steps in their order however fast they come, bounded and without what JSON columns refuse", async () => {
    const reply = await t.executions.run(spec(), callContext(), async (run) => {
      const labels = Array.from({ length: 20 }, (_, index) => `s${index}`);
      await Promise.all(
        labels.map((label) =>
          run.step(step(label, { output: { text: `\u0000${"x".repeat(30_000)}`, huge: 10n } })),
        ),
      );
      return passing(run);
    });
    const { steps } = await t.executions.get(reply.execution_id);
    expect(steps.slice(0, 20).map(({ label, index }) => `${label} ${index}`)).toEqual(
      Array.from({ length: 20 }, (_, index) => `s${index} ${index}`),
    );
    const { output } = steps[0] ?? {};
    expect(JSON.stringify(output).length).toBeLessThan(21_000);
    expect(output).toMatchObject({ text: expect.stringMatching(/^\ufffdx+\[10001 more\]$/), huge: "10" });
  });

  it("survive text that no column takes, in whatever a page or a caller gives", async () => {
    const bad = "a\u0000b\ud800";
    const reply = await t.executions.run(
      spec({ name: bad, build: bad, correlation_id: bad }),
      callContext(),
      async (run) => {
        await run.step(step(bad, { error: { code: "X", message: bad }, input: { [bad]: bad } }));
        throw new ToolError("VERIFICATION_FAILED", bad, bad);
      },
    );
    const { execution, steps } = await t.executions.get(reply.execution_id);
    expect(execution).toMatchObject({
      name: "a\ufffdb\ufffd",
      status: "error",
      reason: { code: "VERIFICATION_FAILED" },
    });
    expect(steps[0]).toMatchObject({
      label: "a\ufffdb\ufffd",
      input: { "a\ufffdb\ufffd": "a\ufffdb\ufffd" },
    });
  });
});

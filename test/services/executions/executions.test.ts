import { DeviceError } from "@labwright/controllers";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Step } from "../../../mcp-server/src/domain/index.ts";
import { ToolError } from "../../../mcp-server/src/errors.ts";
import { createExecutions } from "../../../mcp-server/src/services/executions/index.ts";
import type {
  CallContext,
  DeviceService,
  EventInput,
  ExecutionService,
  FinishedRun,
  Run,
  RunSpec,
} from "../../../mcp-server/src/services/ports.ts";
import { type ExecutionRows, executionRows } from "../../../mcp-server/src/storage/executionRows.ts";
import { eventRows, type Storage } from "../../../mcp-server/src/storage/index.ts";
import { callContext } from "../../fixtures/callContext.ts";
import { describeEachDatabase } from "../../fixtures/database.ts";
import { fakeClock } from "../../fixtures/fakeClock.ts";
import { simulatedDevices, testSecrets } from "../../fixtures/simulated.ts";

const step = (label: string, more: Partial<Step> = {}): Omit<Step, "index"> => ({
  path: label,
  kind: "set",
  label,
  status: "passed",
  started_at: "2026-01-01T00:00:00.000Z",
  duration_ms: 1,
  input: null,
  output: null,
  artifacts: [],
  ...more,
});

/** A promise with its ends outside. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

describeEachDatabase("executions", (open) => {
  let storage: Storage;
  let rows: ExecutionRows;
  beforeAll(async () => {
    storage = await open();
    rows = executionRows(storage.db);
  });

  let clock: ReturnType<typeof fakeClock>;
  let lost: AbortController;
  let events: EventInput[];
  let faults: unknown[];
  let released: number;
  let eventFault: Error | undefined;
  let rowFault: Error | undefined;
  let executions: ExecutionService;

  beforeEach(() => {
    clock = fakeClock();
    lost = new AbortController();
    events = [];
    faults = [];
    released = 0;
    eventFault = undefined;
    rowFault = undefined;
    executions = createExecutions({
      rows: {
        ...rows,
        appendStep: async (id, one) => {
          if (rowFault) throw rowFault;
          return rows.appendStep(id, one);
        },
        insert: async (one) => {
          if (rowFault) throw rowFault;
          return rows.insert(one);
        },
      },
      devices: leasable(simulatedDevices()),
      events: {
        async append(tx, event) {
          if (eventFault) throw eventFault;
          await eventRows(tx).append(tx, { ...event, at: new Date(clock.now()).toISOString() });
          events.push(event);
        },
      },
      secrets: testSecrets({ PIN: "4711-secret" }),
      clock,
      host: "lab",
      onError: (error) => faults.push(error),
    });
  });

  /** The same devices, whose lease a test can take away. */
  function leasable(devices: DeviceService): DeviceService {
    return {
      ...devices,
      async acquire(ref, context, options) {
        const grant = await devices.acquire(ref, context, options);
        const done = () => {
          released += 1;
          grant.done();
        };
        return { ...grant, signal: AbortSignal.any([context.signal, lost.signal]), done };
      },
    };
  }

  const spec = (more: Partial<RunSpec> = {}): RunSpec => ({
    kind: "testcase",
    name: "t",
    device: {},
    input: { given: true },
    wait_ms: 60_000,
    timeout_ms: 600_000,
    ...more,
  });
  const passing = async (run: Run) => {
    await run.step(step("one"));
    run.verified(2);
    return { status: "passed" as const, outputs: { a: 1 }, output: { answer: 42 } };
  };
  const start = (
    body: Parameters<ExecutionService["run"]>[2],
    more: Partial<RunSpec> = {},
    context: CallContext = callContext(),
  ) => executions.run(spec({ wait_ms: 0, ...more }), context, body);
  /** The reply of a call that waits no time on a clock that the test moves. */
  async function now<T>(reply: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    reply.then(mark, mark);
    await until(
      () => clock.advance(0),
      () => settled,
    );
    return reply;
  }

  it("a batch of actions that ends soon is stored whole, with its step and its end", async () => {
    const touched: object[] = [];
    const context = callContext({ note: (facts) => void touched.push(facts) });
    const reply = await executions.run(spec({ kind: "actions" }), context, async (run) => {
      await run.step(step("tap", { output: { pressed: true } }));
      expect(await rows.find(run.id)).toBeUndefined();
      return { status: "passed", outputs: { a: 1 }, output: { answer: 42 } };
    });
    expect(touched).toEqual([expect.objectContaining({ execution_id: reply.execution_id, fence: 1 })]);
    expect(await rows.find(reply.execution_id)).toMatchObject({
      execution: { status: "passed", kind: "actions", outputs: { a: 1 }, duration_ms: 0 },
      result: { answer: 42 },
    });
    expect(await rows.steps(reply.execution_id)).toMatchObject([{ label: "tap", output: { pressed: true } }]);
  });

  it("a batch of actions that lasts, or is asked for, is there while it runs, with its steps so far", async () => {
    for (const look of [(id: string) => executions.get(id), () => clock.advance(250)]) {
      const { open: end, opened } = gate();
      let id = "";
      const running = executions.run(spec({ kind: "actions" }), callContext(), async (run) => {
        id = run.id;
        await run.step(step("first"));
        await opened;
        await run.step(step("second"));
        return { status: "passed", output: {} };
      });
      await expect.poll(() => id).not.toBe("");
      await look(id);
      await expect.poll(() => rows.steps(id)).toMatchObject([{ label: "first" }]);
      expect((await rows.find(id))?.execution.status).toBe("running");
      end();
      await running;
      expect((await rows.find(id))?.execution.status).toBe("passed");
      expect(await rows.steps(id)).toHaveLength(2);
    }
  });

  it("a batch of actions whose record the database refuses is said to have failed so, and is stored later", async () => {
    let refuses = true;
    const failing = createExecutions({
      rows: {
        ...rows,
        insertFinished: async (...given) => {
          if (refuses) throw new Error("disk full");
          return rows.insertFinished(...given);
        },
      },
      devices: simulatedDevices(),
      events: { append: async () => {} },
      secrets: testSecrets({}),
      clock,
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
    const reply = await executions.run(spec({ kind: "actions" }), callContext({ leave }), tap);
    const id = reply.execution_id;
    expect(reply).toMatchObject({ status: "passed", output: { answer: 42 } });
    expect(left).toMatchObject([{ execution: { id }, steps: [{ label: "tap" }], end: { status: "passed" } }]);
    expect(await rows.find(id)).toBeUndefined();
    stored();
    const over = await executions.run(
      spec({ kind: "actions" }),
      callContext({ leave: () => undefined }),
      tap,
    );
    expect((await executions.get(over.execution_id)).execution.status).toBe("passed");
    const test = await executions.run(spec(), callContext({ leave }), passing);
    expect((await executions.get(test.execution_id)).execution.status).toBe("passed");
    expect(left).toHaveLength(1);
  });

  it("a batch of actions that was left and could not be stored is stored when it is asked for", async () => {
    const leave = () => Promise.reject(new Error("disk full"));
    const reply = await executions.run(spec({ kind: "actions" }), callContext({ leave }), async (run) => {
      await run.step(step("tap"));
      return { status: "passed", output: {} };
    });
    expect((await executions.get(reply.execution_id)).steps).toMatchObject([{ label: "tap" }]);
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
    const reply = await executions.run(given, context, passing);
    expect(reply).toMatchObject({ status: "passed", steps_done: 1, output: { answer: 42 } });
    const { execution, steps } = await executions.get(reply.execution_id);
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
    expect(await executions.wait(reply.execution_id, 0, context)).toMatchObject({
      status: "passed",
      output: { answer: 42 },
    });
    expect(events).toMatchObject([
      { type: "testcase.completed", execution_id: reply.execution_id, device_id: "lab/box" },
    ]);
    expect([released, executions.running()]).toEqual([1, 0]);
  });

  it("have a row that runs, and its steps so far, before the body is over", async () => {
    const held = gate();
    const reply = await now(
      start(async (run) => {
        await run.step(step("one"));
        await held.opened;
        return passing(run);
      }),
    );
    expect(reply).toMatchObject({ status: "running" });
    const mid = await until(
      () => executions.get(reply.execution_id),
      ({ steps }) => steps.length === 1,
    );
    expect(mid.execution).toMatchObject({ status: "running" });
    expect(executions.running()).toBe(1);
    held.open();
    expect(await executions.wait(reply.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
      steps_done: 2,
    });
  });

  it("answer after wait_ms where they stand, and go on", async () => {
    const held = gate();
    const waiting = start(
      async (run) => {
        await held.opened;
        return passing(run);
      },
      { wait_ms: 45_000 },
    );
    await until(
      async () => executions.running(),
      (count) => count === 1,
    );
    await until(
      async () => clock.waiting(),
      (count) => count === 3,
    );
    await clock.advance(44_999);
    await clock.advance(1);
    const reply = await waiting;
    expect(reply).toMatchObject({ status: "running", steps_done: 0 });
    const again = executions.wait(reply.execution_id, 45_000, callContext());
    held.open();
    expect(await again).toMatchObject({ status: "passed", output: { answer: 42 } });
  });

  it("send growing progress at least every five seconds", async () => {
    const told: { at: number; done: number; message: string }[] = [];
    const begin = clock.now();
    const context = callContext({
      progress: (done, _total, message) => told.push({ at: clock.now() - begin, done, message }),
    });
    const held = gate();
    const waiting = start(
      async (run) => {
        await run.step(step("types 4711-secret"));
        await held.opened;
        return passing(run);
      },
      { wait_ms: 20_000 },
      context,
    );
    await until(async () => clock.waiting() === 3 && told.length > 0, Boolean);
    await clock.advance(20_000);
    const reply = await waiting;
    held.open();
    await executions.wait(reply.execution_id, 60_000, callContext());
    const gaps = told.slice(1).map(({ at }, index) => at - (told[index]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000);
    expect(told.length).toBeGreaterThan(4);
    expect(told.every(({ done }, index) => index === 0 || done > (told[index - 1]?.done ?? done))).toBe(true);
    expect(told[0]?.message).toContain("types [secret PIN]");
  });

  it("are cancelled by a call: the signal aborts, the row ends cancelled with who did it", async () => {
    let stopped: unknown;
    const reply = await now(
      start(async (run) => {
        await run.step(step("one"));
        return untilAborted(run.signal).catch((error: unknown) => {
          stopped = error;
          throw error;
        });
      }),
    );
    const execution = await executions.cancel(reply.execution_id, "anna");
    expect(execution).toMatchObject({ status: "cancelled", reason: { code: "CANCELLED" } });
    expect(execution.reason?.message).toContain("anna");
    expect(stopped).toMatchObject({ code: "CANCELLED" });
    expect(await executions.cancel(reply.execution_id, "bob")).toEqual(execution);
    expect(released).toBe(1);
  });

  it("are cancelled when their caller goes away while it waits, and not after", async () => {
    const caller = new AbortController();
    const held = gate();
    const waiting = start(
      (run) => {
        held.open();
        return untilAborted(run.signal);
      },
      { wait_ms: 60_000 },
      callContext({ signal: caller.signal, client: "host-1" }),
    );
    await held.opened;
    caller.abort();
    expect(await waiting).toMatchObject({
      status: "cancelled",
      reason: { message: expect.stringContaining("host-1") },
    });

    const gone = new AbortController();
    const on = gate();
    const reply = await now(
      start(
        async (run) => {
          await on.opened;
          run.signal.throwIfAborted();
          return passing(run);
        },
        {},
        callContext({ signal: gone.signal }),
      ),
    );
    gone.abort();
    on.open();
    expect(await executions.wait(reply.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
    });
  });

  it("end with error when their lease is lost", async () => {
    const held = gate();
    const waiting = start(
      (run) => {
        held.open();
        return untilAborted(run.signal);
      },
      { wait_ms: 60_000 },
    );
    await held.opened;
    lost.abort(new ToolError("LEASE_LOST", "bob took lab/box.", "Take control again."));
    expect(await waiting).toMatchObject({ status: "error", reason: { code: "LEASE_LOST" } });
    expect(events).toMatchObject([{ priority: "high" }]);
  });

  it("end with timeout at timeout_ms", async () => {
    const held = gate();
    const waiting = start(
      (run) => {
        held.open();
        return untilAborted(run.signal);
      },
      { wait_ms: 60_000, timeout_ms: 30_000 },
    );
    await held.opened;
    await clock.advance(30_000);
    expect(await waiting).toMatchObject({
      status: "timeout",
      duration_ms: 30_000,
      reason: { code: "EXECUTION_TIMEOUT" },
    });
  });

  it("do not wait for ever for a body that ignores its signal, and take no steps of it afterwards", async () => {
    const held = gate();
    const later = gate();
    let late: Promise<unknown> | undefined;
    const reply = await now(
      start(async (run) => {
        held.open();
        await later.opened;
        late = run.step(step("late"));
        await late;
        return passing(run);
      }),
    );
    await held.opened;
    const cancelling = executions.cancel(reply.execution_id, "anna");
    await clock.advance(10_000);
    expect(await cancelling).toMatchObject({ status: "cancelled" });
    expect(faults).toEqual([expect.objectContaining({ message: expect.stringContaining("did not stop") })]);
    later.open();
    await until(async () => late !== undefined, Boolean);
    await expect(late).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect((await executions.get(reply.execution_id)).steps).toEqual([]);
  });

  it("end with the code of what their body threw, without secrets", async () => {
    const thrown = async (error: Error) => {
      const reply = await executions.run(spec(), callContext(), async () => {
        throw error;
      });
      return [reply.status, reply.reason?.code, reply.reason?.message];
    };
    expect(await thrown(new DeviceError("BROWSER_LOST", "It died of 4711-secret."))).toEqual([
      "error",
      "BROWSER_LOST",
      "It died of [secret PIN].",
    ]);
    expect(await thrown(new TypeError("x is not a function"))).toEqual([
      "error",
      "INTERNAL",
      "x is not a function",
    ]);
  });

  it("keep one device to one run at a time, in order; a waiting one can be cancelled", async () => {
    const order: string[] = [];
    const first = gate();
    const a = await now(
      start(async (run) => {
        await first.opened;
        order.push("a");
        return passing(run);
      }),
    );
    const b = await now(
      start(async (run) => {
        order.push("b");
        return passing(run);
      }),
    );
    const c = await now(
      start(async (run) => {
        order.push("c");
        return passing(run);
      }),
    );
    expect((await executions.get(b.execution_id)).execution.status).toBe("queued");
    const cancelling = executions.cancel(b.execution_id, "anna");
    first.open();
    expect(await cancelling).toMatchObject({ status: "cancelled" });
    expect(await executions.wait(c.execution_id, 60_000, callContext())).toMatchObject({ status: "passed" });
    expect(await executions.wait(a.execution_id, 60_000, callContext())).toMatchObject({ status: "passed" });
    expect(order).toEqual(["a", "c"]);
  });

  it("say so when their end cannot be stored, keep it, and store it when asked again", async () => {
    eventFault = new Error("the disk is full");
    const waiting = executions.run(spec({ name: "unstored" }), callContext(), passing);
    await expect(waiting).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining(
        "The run ended passed, but its end could not be stored: the disk is full",
      ),
    });
    const [left] = (await rows.openOn("lab")).filter(({ name }) => name === "unstored");
    expect(left).toMatchObject({ status: "running" });
    const id = left?.id ?? "";
    await expect(executions.get(id)).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    eventFault = undefined;
    expect((await executions.get(id)).execution).toMatchObject({ status: "passed", verified_count: 2 });
    expect([released, executions.running()]).toEqual([1, 0]);
  });

  it("end with error when a step cannot be stored, and do not start without a row", async () => {
    const broken = await executions.run(spec(), callContext(), async (run) => {
      rowFault = new Error("no connection");
      await run.step(step("one"));
      return passing(run);
    });
    expect(broken).toMatchObject({ status: "error", reason: { code: "STORAGE_FAILED" } });
    let ran = false;
    const refused = executions.run(spec(), callContext(), async (run) => {
      ran = true;
      return passing(run);
    });
    await expect(refused).rejects.toMatchObject({ code: "STORAGE_FAILED" });
    expect([ran, released]).toEqual([false, 2]);
  });

  it("keep steps in their order however fast they come, bounded and without what JSON columns refuse", async () => {
    const reply = await executions.run(spec(), callContext(), async (run) => {
      const labels = Array.from({ length: 20 }, (_, index) => `s${index}`);
      await Promise.all(
        labels.map((label) =>
          run.step(step(label, { output: { text: `\u0000${"x".repeat(30_000)}`, huge: 10n } })),
        ),
      );
      return passing(run);
    });
    const { steps } = await executions.get(reply.execution_id);
    expect(steps.slice(0, 20).map(({ label, index }) => `${label} ${index}`)).toEqual(
      Array.from({ length: 20 }, (_, index) => `s${index} ${index}`),
    );
    const { output } = steps[0] ?? {};
    expect(JSON.stringify(output).length).toBeLessThan(21_000);
    expect(output).toMatchObject({ text: expect.stringMatching(/^\ufffdx+\[10001 more\]$/), huge: "10" });
  });

  it("survive text that no column takes, in whatever a page or a caller gives", async () => {
    const bad = "a\u0000b\ud800";
    const reply = await executions.run(
      spec({ name: bad, build: bad, correlation_id: bad }),
      callContext(),
      async (run) => {
        await run.step(step(bad, { error: { code: "X", message: bad }, input: { [bad]: bad } }));
        throw new ToolError("VERIFICATION_FAILED", bad, bad);
      },
    );
    const { execution, steps } = await executions.get(reply.execution_id);
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

  it("that are not there are named", async () => {
    for (const call of [
      () => executions.get("nope"),
      () => executions.wait("nope", 0, callContext()),
      () => executions.cancel("nope", "anna"),
    ])
      await expect(call()).rejects.toMatchObject({ code: "EXECUTION_NOT_FOUND" });
  });

  it("of another host are not touched", async () => {
    const reply = await executions.run(spec(), callContext(), passing);
    const { execution } = await executions.get(reply.execution_id);
    const { reason: _r, finished_at: _f, duration_ms: _d, ...open } = execution;
    await rows.insert({ ...open, id: "elsewhere", status: "running", host_name: "other", input: {} });
    await executions.recover();
    expect((await rows.find("elsewhere"))?.execution.status).toBe("running");
    await expect(executions.cancel("elsewhere", "anna")).rejects.toMatchObject({
      details: { host: "other" },
    });
  });

  it("are all cancelled when the server closes", async () => {
    const reply = await now(start((run) => untilAborted(run.signal)));
    await executions.close();
    expect((await executions.get(reply.execution_id)).execution).toMatchObject({ status: "cancelled" });
    expect(executions.running()).toBe(0);
  });
});

/** Asks until the answer is right; gives up before the test's own time limit does. */
async function until<T>(ask: () => Promise<T>, right: (answer: T) => unknown): Promise<T> {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const answer = await ask();
    if (right(answer)) return answer;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("What was waited for did not come.");
}

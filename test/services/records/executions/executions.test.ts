import { DeviceError } from "@labwright/controllers";
import { ToolError } from "@labwright/mcp-server";
import { expect, it } from "vitest";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeExecutions, gate, passing, spec, step, until } from "./world.ts";

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

describeExecutions("executions", (t) => {
  it("answer after wait_ms where they stand, and go on", async () => {
    const held = gate();
    const waiting = t.start(
      async (run) => {
        await held.opened;
        return passing(run);
      },
      { wait_ms: 45_000 },
    );
    await until(
      async () => t.executions.running(),
      (count) => count === 1,
    );
    await until(
      async () => t.clock.waiting(),
      (count) => count === 3,
    );
    await t.clock.advance(44_999);
    await t.clock.advance(1);
    const reply = await waiting;
    expect(reply).toMatchObject({ status: "running", steps_done: 0 });
    const again = t.executions.wait(reply.execution_id, 45_000, callContext());
    held.open();
    expect(await again).toMatchObject({ status: "passed", output: { answer: 42 } });
  });

  it("send growing progress at least every five seconds", async () => {
    const told: { at: number; done: number; message: string }[] = [];
    const begin = t.clock.now();
    const context = callContext({
      progress: (done, _total, message) => told.push({ at: t.clock.now() - begin, done, message }),
    });
    const held = gate();
    const waiting = t.start(
      async (run) => {
        await run.step(step("types 4711-secret"));
        await held.opened;
        return passing(run);
      },
      { wait_ms: 20_000 },
      context,
    );
    await until(async () => t.clock.waiting() === 3 && told.length > 0, Boolean);
    await t.clock.advance(20_000);
    const reply = await waiting;
    held.open();
    await t.executions.wait(reply.execution_id, 60_000, callContext());
    const gaps = told.slice(1).map(({ at }, index) => at - (told[index]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(5_000);
    expect(told.length).toBeGreaterThan(4);
    expect(told.every(({ done }, index) => index === 0 || done > (told[index - 1]?.done ?? done))).toBe(true);
    expect(told[0]?.message).toContain("types [secret PIN]");
  });

  it("are cancelled by a call: the signal aborts, the row ends cancelled with who did it", async () => {
    let stopped: unknown;
    const reply = await t.now(
      t.start(async (run) => {
        await run.step(step("one"));
        return untilAborted(run.signal).catch((error: unknown) => {
          stopped = error;
          throw error;
        });
      }),
    );
    const execution = await t.executions.cancel(reply.execution_id, "anna");
    expect(execution).toMatchObject({ status: "cancelled", reason: { code: "CANCELLED" } });
    expect(execution.reason?.message).toContain("anna");
    expect(stopped).toMatchObject({ code: "CANCELLED" });
    expect(await t.executions.cancel(reply.execution_id, "bob")).toEqual(execution);
    expect(t.released).toBe(1);
  });

  it("are cancelled when their caller goes away while it waits, and not after", async () => {
    const caller = new AbortController();
    const held = gate();
    const waiting = t.start(
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
    const reply = await t.now(
      t.start(
        async (run) => {
          await on.opened;
          run.signal.throwIfAborted();
          return passing(run);
        },
        {},
        callContext({ signal: gone.signal, client: "host-1" }),
      ),
    );
    gone.abort();
    on.open();
    expect(await t.executions.wait(reply.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
    });
  });

  it("end with error when their lease is lost", async () => {
    const held = gate();
    const waiting = t.start(
      (run) => {
        held.open();
        return untilAborted(run.signal);
      },
      { wait_ms: 60_000 },
    );
    await held.opened;
    t.lost.abort(new ToolError("LEASE_LOST", "bob took lab/box.", "Take control again."));
    expect(await waiting).toMatchObject({ status: "error", reason: { code: "LEASE_LOST" } });
    expect(t.events).toMatchObject([{ priority: "high" }]);
  });

  it("end with timeout at timeout_ms", async () => {
    const held = gate();
    const waiting = t.start(
      (run) => {
        held.open();
        return untilAborted(run.signal);
      },
      { wait_ms: 60_000, timeout_ms: 30_000 },
    );
    await held.opened;
    await t.clock.advance(30_000);
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
    const reply = await t.now(
      t.start(async (run) => {
        held.open();
        await later.opened;
        late = run.step(step("late"));
        await late;
        return passing(run);
      }),
    );
    await held.opened;
    const cancelling = t.executions.cancel(reply.execution_id, "anna");
    await t.clock.advance(10_000);
    expect(await cancelling).toMatchObject({ status: "cancelled" });
    expect(t.faults).toEqual([expect.objectContaining({ message: expect.stringContaining("did not stop") })]);
    later.open();
    await until(async () => late !== undefined, Boolean);
    await expect(late).rejects.toMatchObject({ code: "INTERRUPTED" });
    expect((await t.executions.get(reply.execution_id)).steps).toEqual([]);
  });

  it("end with the code of what their body threw, without secrets", async () => {
    const thrown = async (error: Error) => {
      const reply = await t.executions.run(spec(), callContext(), async () => {
        throw error;
      });
      return [reply.status, reply.reason?.code, reply.reason?.message];
    };
    expect(await thrown(new DeviceError("DEVICE_LOST", "It died of 4711-secret."))).toEqual([
      "error",
      "DEVICE_LOST",
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
    const a = await t.now(
      t.start(async (run) => {
        await first.opened;
        order.push("a");
        return passing(run);
      }),
    );
    const b = await t.now(
      t.start(async (run) => {
        order.push("b");
        return passing(run);
      }),
    );
    const c = await t.now(
      t.start(async (run) => {
        order.push("c");
        return passing(run);
      }),
    );
    expect((await t.executions.get(b.execution_id)).execution.status).toBe("queued");
    const cancelling = t.executions.cancel(b.execution_id, "anna");
    first.open();
    expect(await cancelling).toMatchObject({ status: "cancelled" });
    expect(await t.executions.wait(c.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
    });
    expect(await t.executions.wait(a.execution_id, 60_000, callContext())).toMatchObject({
      status: "passed",
    });
    expect(order).toEqual(["a", "c"]);
  });

  it("that are not there are named", async () => {
    for (const call of [
      () => t.executions.get("nope"),
      () => t.executions.wait("nope", 0, callContext()),
      () => t.executions.cancel("nope", "anna"),
    ])
      await expect(call()).rejects.toMatchObject({ code: "EXECUTION_NOT_FOUND" });
  });

  it("of another host are not touched", async () => {
    const reply = await t.executions.run(spec(), callContext(), passing);
    const { execution } = await t.executions.get(reply.execution_id);
    const { reason: _r, finished_at: _f, duration_ms: _d, ...open } = execution;
    await t.rows.insert({ ...open, id: "elsewhere", status: "running", host_name: "other", input: {} });
    await t.executions.recover();
    expect((await t.rows.find("elsewhere"))?.execution.status).toBe("running");
    await expect(t.executions.cancel("elsewhere", "anna")).rejects.toMatchObject({
      details: { host: "other" },
    });
  });

  it("are all cancelled when the server closes", async () => {
    const reply = await t.now(t.start((run) => untilAborted(run.signal)));
    await t.executions.close();
    expect((await t.executions.get(reply.execution_id)).execution).toMatchObject({ status: "cancelled" });
    expect(t.executions.running()).toBe(0);
  });
});

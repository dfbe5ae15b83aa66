import { expect, it } from "vitest";
import { ToolError } from "../../../../mcp-server/src/errors.ts";
import type { Run } from "../../../../mcp-server/src/services/ports.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import { describeExecutions, gate, passing, until } from "./world.ts";

describeExecutions("a call and its run", (t) => {
  const heldBy = (held: ReturnType<typeof gate>) => async (run: Run) => {
    await held.opened;
    run.signal.throwIfAborted();
    return passing(run);
  };
  const running = (count: number) =>
    until(
      async () => t.executions.running(),
      (now) => now === count,
    );
  const timers = (count: number) =>
    until(
      async () => t.clock.waiting(),
      (now) => now === count,
    );

  it("the call is answered before its deadline, and the run goes on", async () => {
    const held = gate();
    const deadline = t.clock.monotonic() + 10_000;
    const waiting = t.start(heldBy(held), { wait_ms: 600_000 }, callContext({ deadline }));
    await running(1);
    await timers(3);
    await t.clock.advance(9_500);
    const reply = await waiting;
    expect(reply).toMatchObject({ status: "running", execution_id: expect.any(String) });
    const again = t.executions.wait(
      reply.execution_id,
      600_000,
      callContext({ deadline: t.clock.monotonic() + 10_000 }),
    );
    held.open();
    expect(await again).toMatchObject({ status: "passed" });
  });

  it("a call that its deadline ends while it waits does not stop the run; its caller does", async () => {
    const held = gate();
    const call = new AbortController();
    const waiting = t.start(heldBy(held), { wait_ms: 600_000 }, callContext({ signal: call.signal }));
    await running(1);
    call.abort(new ToolError("EXECUTION_TIMEOUT", "It did not end within 5 ms.", "Ask for less."));
    const reply = await waiting;
    expect(reply).toMatchObject({ status: "running" });
    const caller = new AbortController();
    const again = t.executions.wait(reply.execution_id, 600_000, callContext({ signal: caller.signal }));
    caller.abort();
    held.open();
    expect(await again).toMatchObject({ status: "cancelled" });
  });

  it("whoever waits for the run of another does not stop it by going", async () => {
    const held = gate();
    const reply = await t.now(t.start(heldBy(held)));
    const stranger = new AbortController();
    const watching = t.executions.wait(
      reply.execution_id,
      600_000,
      callContext({ signal: stranger.signal, client: "stranger" }),
    );
    stranger.abort();
    expect(await watching).toMatchObject({ status: "running" });
    held.open();
    expect(await t.executions.wait(reply.execution_id, 600_000, callContext())).toMatchObject({
      status: "passed",
    });
  });

  it("a run that queues says behind which and where, and ends at once when it is cancelled", async () => {
    const held = gate();
    const told: string[] = [];
    const context = callContext({ progress: (_done, _total, message) => told.push(message) });
    const first = await t.now(t.start(heldBy(held), { name: "first" }));
    const second = await t.now(t.start(passing, {}, context));
    const third = await t.now(t.start(passing));
    expect(first).toMatchObject({ status: "running" });
    const why = `Next on lab/box, behind testcase "first" (${first.execution_id}).`;
    expect(second).toMatchObject({ status: "queued", reason: { code: "QUEUED", message: why } });
    expect(told.join()).toContain(why);
    expect(third).toMatchObject({
      status: "queued",
      reason: { message: expect.stringContaining("Number 2") },
    });
    const { execution } = await t.executions.get(third.execution_id);
    expect(execution).toMatchObject({ status: "queued", reason: { code: "QUEUED" } });
    expect(await t.executions.cancel(second.execution_id, "anna")).toMatchObject({ status: "cancelled" });
    expect(t.executions.running(), "the first and the third").toBe(2);
    held.open();
    for (const { execution_id } of [first, third])
      expect(await t.executions.wait(execution_id, 600_000, callContext())).toMatchObject({
        status: "passed",
      });
  });

  it.each([
    86_400_000, -86_400_000,
  ])("a wall clock that is set by %i ms changes no duration", async (jump) => {
    const held = gate();
    const reply = await t.now(t.start(heldBy(held)));
    await t.clock.advance(2_000);
    t.clock.jump(jump);
    held.open();
    expect(await t.executions.wait(reply.execution_id, 600_000, callContext())).toMatchObject({
      status: "passed",
      duration_ms: 2_000,
    });
  });
});

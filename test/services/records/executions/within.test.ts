import { ToolError } from "@labwright/mcp-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CallContext, Run } from "#mcp-server/services/index.ts";
import { Slots } from "#mcp-server/services/records/executions/queue.ts";
import { callContext } from "../../../fixtures/callContext.ts";
import type { TestClient } from "../../../fixtures/client.ts";
import { openProduct, type Product } from "../../../fixtures/product.ts";
import { describeExecutions, gate, passing, spec, until } from "./world.ts";

describeExecutions("a run within a run", (t) => {
  const inside = (outer: Run): CallContext => callContext({ within: outer.id });

  it("starts at once on the device that the outer run has, as a part of it", async () => {
    const reply = await t.executions.run(
      { ...spec(), correlation_id: "nightly" },
      callContext(),
      async (outer) => {
        const inner = await t.executions.run(spec(), inside(outer), async (run) => passing(run));
        return {
          status: inner.status === "passed" ? "passed" : "error",
          output: { inner: inner.execution_id },
        };
      },
    );
    expect(reply.status).toBe("passed");
    const { execution } = await t.executions.get(reply.output?.inner ?? "");
    expect(execution).toMatchObject({ status: "passed", correlation_id: "nightly" });
  });

  it("keeps everybody else waiting, and ends with the outer run", async () => {
    const order: string[] = [];
    const held = gate();
    const outer = t.executions.run(spec(), callContext(), async (run) => {
      const inner = t.start(
        (part) => {
          order.push("inner");
          return new Promise((_, reject) => {
            part.signal.addEventListener("abort", () => {
              order.push("inner ended");
              reject(part.signal.reason);
            });
          });
        },
        {},
        inside(run),
      );
      await t.now(inner);
      await held.opened;
      return passing(run);
    });
    await until(
      async () => order.length,
      (length) => length === 1,
    );
    const next = t.executions.run(spec(), callContext(), async (run) => {
      order.push("next");
      return passing(run);
    });
    await until(
      async () => t.executions.running(),
      (count) => count === 3,
    );
    held.open();
    expect((await Promise.all([outer, next])).map(({ status }) => status)).toEqual(["passed", "passed"]);
    expect(order).toEqual(["inner", "inner ended", "next"]);
  });

  it("lets its parts have the device one after the other", async () => {
    let together = 0;
    let most = 0;
    await t.executions.run(spec(), callContext(), async (outer) => {
      const part = () =>
        t.executions.run(spec(), inside(outer), async (run) => {
          together += 1;
          most = Math.max(most, together);
          await new Promise((resolve) => setImmediate(resolve));
          together -= 1;
          return passing(run);
        });
      await Promise.all([part(), part(), part()]);
      return passing(outer);
    });
    expect(most).toBe(1);
  });
});

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct(
    "limits: { max_parallel_devices: 1 }\ndevices: [{ name: box, model: simulated, count: 2 }]",
  );
  client = await product.connect();
}, 120_000);
afterAll(() => product.dispose());

const press = { command: "press_key", params: { key: "DOWN" } };
const forever = { command: "wait_for", params: { text: "never there", timeout_ms: 60_000 } };
const run = async (device: string, action: object) =>
  (await client.call("execute_device_action", { device_id: device, actions: [action], wait_ms: 100 }))
    .structured;

it("a run on one device more than may run waits in the queue, says why, and runs when one ends", async () => {
  const first = await run("box", forever);
  expect(first).toMatchObject({ status: "running" });
  const second = await run("box-2", press);
  expect(second).toMatchObject({
    status: "queued",
    queue: expect.stringContaining("limits.max_parallel_devices"),
  });
  // A look drives nothing, and waits for no one.
  expect((await client.call("capture_screenshot", { device_id: "box-2" })).isError).toBe(false);
  await client.call("cancel_execution", { execution_id: first.execution_id });
  await expect
    .poll(async () => {
      const asked = { execution_id: second.execution_id };
      return (await client.call("get_execution_status", asked)).structured;
    })
    .toMatchObject({ status: "passed" });
});

it("one that is cancelled while it waits takes no place", async () => {
  const first = await run("box", forever);
  const second = await run("box-2", forever);
  expect(second).toMatchObject({ status: "queued" });
  await client.call("cancel_execution", { execution_id: second.execution_id });
  await client.call("cancel_execution", { execution_id: first.execution_id });
  expect(await run("box-2", press)).toMatchObject({ status: "passed" });
});

it("places go to those who wait in their order, and never to more than there are", async () => {
  const slots = new Slots(1);
  const NEVER = new AbortController().signal;
  const giveBack = slots.takeNow();
  const order: number[] = [];
  const gone = new AbortController();
  const waiting = [
    slots.take(NEVER).then((end) => [order.push(1), end] as const),
    slots.take(gone.signal).then((end) => [order.push(2), end] as const),
    slots.take(NEVER).then((end) => [order.push(3), end] as const),
  ];
  expect(slots.takeNow()).toBeUndefined();
  gone.abort();
  (await waiting[1])?.[1]();
  giveBack?.();
  (await waiting[0])?.[1]();
  (await waiting[2])?.[1]();
  expect(order).toEqual([2, 1, 3]);
  expect(slots.takeNow()).toBeDefined();
  expect(slots.takeNow()).toBeUndefined();
});

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

  it("a call waits for the end as long as it asks to, and no longer", async () => {
    const held = gate();
    const { execution_id } = await t.now(t.start(heldBy(held)));
    const short = t.executions.wait(execution_id, 5_000, callContext());
    const long = t.executions.wait(execution_id, 5_001, callContext());
    await timers(5);
    await t.clock.advance(5_000);
    held.open();
    expect(await short).toMatchObject({ status: "running" });
    expect(await long).toMatchObject({ status: "passed" });
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

  it("a look that its owner cancels does not stop the run", async () => {
    const held = gate();
    const { execution_id } = await t.now(t.start(heldBy(held)));
    const look = callContext({ signal: AbortSignal.abort() });
    expect(await t.executions.wait(execution_id, 0, look)).toMatchObject({ status: "running" });
    held.open();
    const end = await t.executions.wait(execution_id, 600_000, callContext());
    expect(end).toMatchObject({ status: "passed" });
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

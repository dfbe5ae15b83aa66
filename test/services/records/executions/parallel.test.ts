import { afterAll, beforeAll, expect, it } from "vitest";
import { Slots } from "../../../../mcp-server/src/services/records/executions/slots.ts";
import type { TestClient } from "../../../fixtures/client.ts";
import { openProduct, type Product } from "../../../fixtures/product.ts";

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
  // A look drives nothing, and waits for nobody.
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

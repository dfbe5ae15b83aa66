import type { Toolbox } from "@labwright/agent-client";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createSharedDevices, IdleDevices } from "#agent-client/mcp/sharedDevices.ts";
import type { TestClient } from "../../fixtures/client.ts";
import { openProduct, type Product } from "../../fixtures/product.ts";

let product: Product;
let chat: TestClient;
let other: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated, count: 2 }]");
  chat = await product.connect({ client: "chat" });
  other = await product.connect({ client: "other" });
});
afterAll(() => product.dispose());
afterEach(() => product.services.devices.releaseClient("chat"));

function given() {
  const toolbox: Toolbox = {
    specs: async () => [],
    async call({ name, input }) {
      const { isError, text, structured } = await chat.call(name, { ...input });
      return { isError, parts: [{ type: "text", text }], ...(!isError && { structured }) };
    },
  };
  const devices = createSharedDevices(toolbox);
  const call = (name: string, input: Record<string, unknown>) =>
    devices.toolbox.call({ name, input }, { signal: new AbortController().signal });
  return { ...devices, call };
}
const press = { actions: [{ command: "press_key", params: { key: "DOWN" } }] };
const holders = async () =>
  (await product.services.devices.leases()).map(({ device_id: id, client }) => [id, client]);

test("devices are given back, taken again, and the handle that the model knows still works", async () => {
  const { call, giveBack, takeAgain } = given();
  const { structured = {} } = await call("take_control", { device_id: "box" });
  await call("execute_device_action", { device_id: "box-2", ...press });
  expect(await holders()).toHaveLength(2);
  expect(await giveBack()).toBe(true);
  expect(await holders()).toEqual([]);
  expect(await takeAgain()).toEqual([]);
  expect(await holders()).toEqual([["lab/box", "chat"]]);
  const { session_id } = structured;
  expect(await call("execute_device_action", { session_id, ...press })).toMatchObject({ isError: false });
  expect(await call("release_control", { session_id })).toMatchObject({ isError: false });
  expect(await giveBack()).toBe(true);
  expect(await takeAgain()).toEqual([]);
  expect(await holders()).toEqual([]);
});

test("a device that another client took meanwhile is reported, and is not driven", async () => {
  const { call, giveBack, takeAgain } = given();
  const { structured = {} } = await call("take_control", { device_id: "box" });
  await giveBack();
  await other.call("take_control", { device_id: "box" });
  expect(await takeAgain()).toEqual([expect.stringContaining("held by other")]);
  const again = await call("execute_device_action", { session_id: structured.session_id, ...press });
  expect(again).toMatchObject({ isError: true });
  await other.call("release_control", { device_id: "box" });
});

test("a device on which something runs is kept, since a run ends with its lease", async () => {
  const { call, giveBack } = given();
  const forever = { command: "wait_for", params: { text: "never there", timeout_ms: 60_000 } };
  const input = { device_id: "box", actions: [forever], wait_ms: 300 };
  const { structured = {} } = await call("execute_device_action", input);
  expect(await giveBack()).toBe(false);
  expect(await holders()).toEqual([["lab/box", "chat"]]);
  await call("cancel_execution", { execution_id: structured.execution_id });
  expect(await giveBack()).toBe(true);
});

test("a chat gives back after 30 s without a message, and again while something still ran", async () => {
  vi.useFakeTimers();
  try {
    const told: string[] = [];
    const isAll = [false, true];
    const idle = new IdleDevices({
      async giveBack() {
        told.push("back");
        return isAll.shift() ?? true;
      },
      async takeAgain() {
        told.push("again");
        return [];
      },
    });
    idle.rest();
    await vi.advanceTimersByTimeAsync(29_000);
    idle.rest();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(told).toEqual(["back"]);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(told).toEqual(["back", "back"]);
    await idle.use();
    await vi.advanceTimersByTimeAsync(90_000);
    expect(told).toEqual(["back", "back", "again"]);
  } finally {
    vi.useRealTimers();
  }
});

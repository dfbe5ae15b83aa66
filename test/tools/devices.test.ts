import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let ann: TestClient;
let bob: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated, count: 2 }]");
  ann = await product.connect({ client: "ann" });
  bob = await product.connect({ client: "bob" });
});
afterAll(() => product.dispose());

test("list_hosts says who holds what", async () => {
  const taken = await ann.call("take_control", { device_id: "box" });
  expect(taken.structured).toMatchObject({ device: "lab/box", model: "simulated" });
  const { structured } = await bob.call("list_hosts");
  expect(structured).toMatchObject({
    hosts: [
      {
        name: "lab",
        devices: [{ id: "lab/box", state: expect.stringMatching(/^held by ann/) }, { state: "free" }],
      },
    ],
  });
  await ann.call("release_control", { session_id: taken.structured.session_id });
  expect((await bob.call("list_hosts")).text).toContain("lab/box");
});

test("a held device is refused with the free one named, and force ends its lease with the reason", async () => {
  const { structured } = await ann.call("take_control", { device_id: "box" });
  const refused = await bob.call("take_control", { device_id: "box" });
  expect(refused.error).toMatchObject({ code: "DEVICE_HELD", details: { free: ["lab/box-2"] } });
  expect((await bob.call("take_control", { device_id: "box", force: true })).isError).toBe(false);
  const press = {
    actions: [{ command: "press_key", params: { key: "OK" } }],
    session_id: structured.session_id,
  };
  expect((await ann.call("execute_device_action", press)).error).toMatchObject({ code: "LEASE_LOST" });
  expect((await bob.call("release_control", { device_id: "box" })).structured).toEqual({
    released: "lab/box",
  });
});

test("get_device_info says what a device is without opening it", async () => {
  expect((await ann.call("get_device_info", { device_id: "box-2" })).structured).toMatchObject({
    id: "lab/box-2",
    open: false,
    controllers: "remote, verification_text",
  });
  expect((await ann.call("get_device_info", { device_id: "bax" })).error).toMatchObject({
    code: "DEVICE_NOT_FOUND",
  });
});

test("get_compatible_hosts lists what can run an app and why the rest cannot", async () => {
  await ann.call("create_userinterface", { name: "tv", models: ["simulated"] });
  await ann.call("create_userinterface", { name: "shop", models: ["web"] });
  const tv = await ann.call("get_compatible_hosts", { userinterface_name: "tv" });
  expect(tv.structured).toMatchObject({ devices: [{ id: "lab/box" }, { id: "lab/box-2" }], others: [] });
  const shop = await ann.call("get_compatible_hosts", { userinterface_name: "shop" });
  expect(shop.structured).toMatchObject({
    devices: [],
    others: [{ reason: expect.stringContaining("web") }, {}],
  });
  expect((await ann.call("get_compatible_hosts", { userinterface_name: "shp" })).error).toMatchObject({
    code: "USERINTERFACE_NOT_FOUND",
  });
});

test("diagnose looks at every device", async () => {
  const { structured, isError } = await ann.call("diagnose");
  expect(isError).toBe(false);
  expect(JSON.stringify(structured)).toContain("simulated device for box, box-2");
});

test("an unknown argument is named with the nearest known one", async () => {
  const { error } = await ann.call("take_control", { devise_id: "box" });
  expect(error).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("device_id") });
});

test("of equal devices any that is free is taken, also by clients that ask at once", async () => {
  expect((await ann.call("get_device_info")).structured).toMatchObject({ id: "lab/box" });
  const taken = await Promise.all([ann, bob].map((client) => client.call("take_control")));
  expect(taken.map(({ structured }) => structured.device).sort()).toEqual(["lab/box", "lab/box-2"]);
  const eve = await product.connect({ client: "eve" });
  expect((await eve.call("take_control")).error).toMatchObject({ code: "DEVICE_HELD" });
  // A client that holds both says which one it means.
  await bob.call("release_control");
  await ann.call("take_control", { device_id: "box" });
  await ann.call("take_control", { device_id: "box-2" });
  expect((await ann.call("take_control")).error).toMatchObject({ code: "DEVICE_AMBIGUOUS" });
});

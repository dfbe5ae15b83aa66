import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { startRoku } from "../lab/tv/remotes/roku.ts";
import { startWebos } from "../lab/tv/remotes/webos.ts";

let roku: Awaited<ReturnType<typeof startRoku>>;
let lg: Awaited<ReturnType<typeof startWebos>>;
let product: Product;
let ann: TestClient;
let bob: TestClient;
beforeAll(async () => {
  [roku, lg] = [await startRoku(), await startWebos()];
  product = await openProduct(`devices:
  - { name: player, model: stb, controllers: { roku: { address: 127.0.0.1, port: ${roku.port} } } }
  - name: lounge
    model: stb
    controllers: { webos: { address: 127.0.0.1, port: ${lg.port}, secure: false, keys: { ODD: "ssap://system/echo" } } }
`);
  [ann, bob] = [await product.connect({ principal: "ann" }), await product.connect({ principal: "bob" })];
});
afterAll(async () => {
  await product?.dispose();
  await roku?.close();
  await lg?.close();
});

const press = (client: TestClient, device_id: string, key: string) =>
  client.call("execute_device_action", { device_id, actions: [{ command: "press_key", params: { key } }] });

test("a key of a remote that another client holds is refused, and none arrives", async () => {
  const { error } = await ann.call("take_control", { device_id: "player" });
  expect(error).toBeUndefined();
  roku.keys.length = 0;
  expect((await press(bob, "player", "UP")).error).toMatchObject({
    code: "DEVICE_HELD",
    hint: expect.any(String),
  });
  expect(roku.keys).toEqual([]);
  expect((await press(ann, "player", "OK")).error).toBeUndefined();
  expect(roku.keys).toEqual(["Select"]);
  await ann.call("release_control", { device_id: "player" });
});

test("the token of a TV is masked in what the TV says", async () => {
  lg.tv.key = "token-that-nobody-may-see";
  const folder = join(product.config.data_dir, "pairings");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "lounge.webos.json"), JSON.stringify({ token: lg.tv.key }));
  expect((await ann.call("take_control", { device_id: "lounge" })).error).toBeUndefined();
  const reply = await press(ann, "lounge", "ODD");
  const said = JSON.stringify([reply.structured, reply.error, reply.text]);
  expect(said).toContain("no such key");
  expect(said).not.toContain(lg.tv.key);
  await ann.call("release_control", { device_id: "lounge" });
});

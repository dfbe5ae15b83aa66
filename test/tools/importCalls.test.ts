import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
});
afterAll(() => product.dispose());

const testcase = (name: string, app: string, block: object) => ({
  name,
  userinterface_name: app,
  blocks: [{ id: "start", type: "start" }, block, { id: "done", type: "success" }],
  edges: [
    { from: "start", to: "step", on: "success" },
    { from: "step", to: "done", on: "success" },
  ],
});
const appYaml = (name: string, testcases: readonly object[]) =>
  JSON.stringify({
    ...{ format_version: 1, name, models: ["simulated"], testcases },
    tree: { nodes: [{ label: "Home", type: "entry" }], edges: [] },
  });

test("an import whose test calls a saved one of another app reads that app in its own transaction", async () => {
  const go = { id: "step", type: "navigation", target: "Home" };
  const login = testcase("log in", "accounts", go);
  const first = await client.call("import_userinterface", { yaml: appYaml("accounts", [login]) });
  expect(first.error).toBeUndefined();
  const call = { id: "step", type: "call_testcase", testcase: "log in" };
  const yaml = appYaml("shop", [testcase("buy", "shop", call)]);
  expect((await client.call("import_userinterface", { yaml })).error).toBeUndefined();
  // What that app lacks is found there too.
  const wrong = testcase("browse", "accounts", { ...go, target: "Home" });
  expect((await client.call("save_testcase", { testcase: wrong })).error).toBeUndefined();
  expect(
    (await client.call("delete_node", { userinterface_name: "accounts", node: "Home", confirm: true })).error,
  ).toBeUndefined();
  const again = appYaml("shelf", [testcase("buy more", "shelf", call)]);
  expect((await client.call("import_userinterface", { yaml: again })).error).toMatchObject({
    code: "TESTCASE_INVALID",
  });
});

import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { boxYaml } from "../services/apps/navigation/lab.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]");
  client = await product.connect();
});
afterAll(() => product.dispose());

test("a userinterface is created, listed, read whole and deleted once that is confirmed", async () => {
  const created = await client.call("create_userinterface", {
    name: "shop",
    app: { url: "https://shop.test/" },
  });
  expect(created.structured).toMatchObject({ name: "shop" });
  const listed = await client.call("list_userinterfaces");
  expect(listed.structured.userinterfaces).toMatchObject([{ name: "shop", models: ["simulated"], nodes: 0 }]);
  const whole = await client.call("get_userinterface_complete", { userinterface_name: "shop" });
  expect(whole.structured).toMatchObject({ app: { url: "https://shop.test/" }, nodes: [], edges: [] });
  const asked = await client.call("delete_userinterface", { userinterface_name: "shop" });
  expect(asked.error).toMatchObject({
    code: "CONFIRMATION_REQUIRED",
    hint: expect.stringContaining("confirm: true"),
  });
  const deleted = await client.call("delete_userinterface", { userinterface_name: "shop", confirm: true });
  expect(deleted.structured).toEqual({ nodes: 0, edges: 0, trees: 1 });
});

test("an imported userinterface is exported as the same text it is imported from again", async () => {
  const imported = await client.call("import_userinterface", { yaml: boxYaml("box") });
  expect(imported.structured).toMatchObject({ name: "box", nodes: 7, edges: 4, replaced: false });
  const { yaml } = (await client.call("export_userinterface", { userinterface_name: "box" })).structured;
  expect((await client.call("import_userinterface", { yaml })).error).toMatchObject({
    code: "ALREADY_EXISTS",
  });
  expect((await client.call("import_userinterface", { yaml, replace: true })).structured).toMatchObject({
    replaced: true,
  });
  expect((await client.call("export_userinterface", { userinterface_name: "box" })).structured.yaml).toBe(
    yaml,
  );
});

test("a whole userinterface comes in pages with an honest rest", async () => {
  await client.call("import_userinterface", { yaml: boxYaml("paged") });
  const first = await client.call("get_userinterface_complete", {
    userinterface_name: "paged",
    max_tokens: 100,
  });
  const shown = [first.structured.nodes, first.structured.edges].flat().length;
  expect(first.structured.more).toBe(11 - shown);
  const rest = await client.call("get_userinterface_complete", {
    userinterface_name: "paged",
    offset: shown,
  });
  expect([rest.structured.nodes, rest.structured.edges].flat()).toHaveLength(11 - shown);
  expect(rest.structured).not.toHaveProperty("more");
});

test("YAML with test cases that use what does not exist stores nothing", async () => {
  const broken = {
    ...JSON.parse(boxYaml("untested")),
    testcases: [
      {
        name: "goes nowhere",
        blocks: [
          { id: "start", type: "start" },
          { id: "go", type: "navigation", target: "Movis" },
          { id: "end", type: "success" },
        ],
        edges: [
          { from: "start", to: "go" },
          { from: "go", to: "end" },
        ],
      },
    ],
  };
  const reply = await client.call("import_userinterface", { yaml: JSON.stringify(broken) });
  expect(reply.error?.message).toContain("Movis");
  const missing = await client.call("export_userinterface", { userinterface_name: "untested" });
  expect(missing.error).toMatchObject({ code: "USERINTERFACE_NOT_FOUND" });
});

test("broken YAML is refused with the line of each problem", async () => {
  const reply = await client.call("import_userinterface", {
    yaml: "format_version: 1\nname: x\nmodels: []\n",
  });
  expect(reply.error).toMatchObject({
    code: "INVALID_INPUT",
    message: expect.stringContaining("line 3, column 9 models"),
  });
});

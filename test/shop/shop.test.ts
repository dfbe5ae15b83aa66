import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import type { TestClient } from "../fixtures/client.ts";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

/** A third of the lines that the blocks and edges of seventeen such tests took. */
const mostLines = 445;

const text = await readFile(new URL("shop.yaml", import.meta.url), "utf8");
const tests: { name: string; tags: string[] }[] = parse(text).tests;
const names = tests.filter(({ tags }) => tags.includes("shop")).map(({ name }) => name);

const server = createServer(async (_, response) => {
  response.writeHead(200, { "content-type": "text/html" });
  response.end(await readFile(new URL("index.html", import.meta.url)));
});
let product: Product;
let client: TestClient;
beforeAll(async () => {
  const port = await listenOnLoopback(server);
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
  const yaml = text.replace("http://127.0.0.1/", `http://127.0.0.1:${port}/`);
  const { error, structured } = await client.call("import_userinterface", { yaml, file: "shop.yaml" });
  expect(error).toBeUndefined();
  expect(structured.names).toEqual(tests.map(({ name }) => name));
});
afterAll(async () => {
  await product.dispose();
  await closeServer(server);
});

test("seventeen tests of a shop with their app take a third of the lines of blocks and edges", () => {
  expect(names).toHaveLength(17);
  expect(text.split("\n").length - 1).toBeLessThanOrEqual(mostLines);
});

test.each(names)("%s", async (testcase) => {
  const { structured, text: told } = await client.call("execute_testcase", { testcase });
  expect(structured.status, told).toBe("passed");
});

test("the exported app is as short, and imports to the same app again", async () => {
  const yaml = async () => {
    const { structured } = await client.call("export_userinterface", { userinterface_name: "shop" });
    return String(structured.yaml);
  };
  const exported = await yaml();
  expect(exported.split("\n").length).toBeLessThanOrEqual(mostLines);
  expect(exported).not.toContain("blocks:");
  expect(exported).not.toContain("Start");
  for (const words of ['click "Cart", then click "Check out"', "covers: [ SHOP-4 ]", "Shop -> Lamp: click"])
    expect(exported).toContain(words);
  await client.call("import_userinterface", { yaml: exported, replace: true });
  expect(await yaml()).toBe(exported);
});

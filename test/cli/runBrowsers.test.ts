import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunConnection, type RunOptions, runTestcases } from "../../mcp-server/src/cli/run.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";

let site: Site;
let product: Product;
let client: TestClient;
const display = process.env.DISPLAY;
beforeAll(async () => {
  delete process.env.DISPLAY;
  site = await startSite();
  product = await openProduct("devices: [{ name: web, model: web }]");
  client = await product.connect();
});
afterAll(async () => {
  if (display !== undefined) process.env.DISPLAY = display;
  await product.dispose();
  await site.close();
});

async function save(name: string, path: string, text: string, more: object = {}): Promise<void> {
  const url = `${site.url}${path}`;
  const blocks = [
    { id: "start", type: "start" },
    { id: "go", type: "action", command: "navigate_to_url", params: { url } },
    { id: "look", type: "verification", command: "text_visible", params: { text } },
    { id: "done", type: "success" },
  ];
  const edges = blocks.slice(1).map(({ id }, at) => ({ from: blocks[at]?.id, to: id }));
  const { error } = await client.call("save_testcase", { testcase: { name, blocks, edges, ...more } });
  expect(error).toBeUndefined();
}

const connection: RunConnection = {
  async call(name, args) {
    const { isError, error, structured } = await client.call(name, args);
    return isError && error ? { ok: false, error } : { ok: true, structured };
  },
  artifact: () => Promise.reject(new Error("no report was asked for")),
};

async function run(more: Partial<RunOptions>) {
  let told = "";
  const note = (text: string) => {
    told += text;
  };
  const terminal = { out: note, err: note, cwd: ".", signal: new AbortController().signal };
  const code = await runTestcases({ testcases: [], inputs: [], repeat: 1, ...more }, connection, terminal);
  return { code, told };
}

test("workers are browsers of their own that end with the run, and a set-up test runs once for all", async () => {
  await save("sign in", "/form?setup", "Agree");
  const names = ["one", "two", "three", "four"];
  for (const name of names) await save(name, "/second", "Second", { setup: "sign in" });
  const before = site.requests.length;
  const { code, told } = await run({ testcases: names, workers: 2 });
  expect(told).toContain("2 workers: web, web-2\n");
  expect(code).toBe(0);
  expect(site.requests.slice(before).filter((one) => one === "GET /form?setup")).toHaveLength(1);
  expect(product.services.devices.list().map(({ name }) => name)).toEqual(["web"]);
  expect(product.services.devices.openCount()).toBe(1);
});

test("a browser that cannot show its window says so before the first test", async () => {
  await expect(run({ testcases: ["one"], headed: true })).rejects.toMatchObject({
    code: "BROWSER_UNUSABLE",
    message: expect.stringContaining("there is no display"),
  });
  expect(product.services.devices.list().map(({ name }) => name)).toEqual(["web"]);
  expect(await product.services.devices.leases()).toEqual([]);
});

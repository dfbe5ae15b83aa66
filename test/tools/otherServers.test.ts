import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { serve } from "../services/apps/testcases/testcaseBench.ts";
import { type ForeignCall, foreignCalls } from "./otherServersCalls.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** An unknown tool or argument was answered in some 65 before; the call that is offered may add 120. */
const mostTokens = 185;

const html = `<!doctype html><title>Shop</title><h1>Welcome</h1>
  <label>Email <input id="email" autofocus></label>
  <label><input type="checkbox"> Remember me</label>
  <label>Country <select><option>France</option><option>Spain</option></select></label>
  <button id="sign-in" onclick="this.dataset.clicks = Number(this.dataset.clicks ?? 0) + 1">Sign in</button>
  <button draggable="true">Card</button> <button>Basket</button>`;

type On = ForeignCall["on"];
const products: Product[] = [];
const clients = new Map<On, TestClient>();
let page: Awaited<ReturnType<typeof serve>>;

function clientOn(on: On): TestClient {
  const client = clients.get(on);
  if (client === undefined) throw new Error(`no client on ${on}`);
  return client;
}

async function open(on: On, yaml: string): Promise<TestClient> {
  const product = await openProduct(yaml);
  products.push(product);
  const client = await product.connect();
  clients.set(on, client);
  return client;
}

const testcase = {
  name: "goes home",
  blocks: [
    { id: "start", type: "start" },
    { id: "home", type: "verification", command: "text_visible", params: { text: "Welcome home" } },
    { id: "end", type: "success" },
  ],
  edges: [
    { from: "start", to: "home" },
    { from: "home", to: "end" },
  ],
};

beforeAll(async () => {
  page = await serve((_, response) => void response.setHeader("content-type", "text/html").end(html));
  await open("browser", "unsafe: { javascript: true }\ndevices: [{ name: browser, model: web }]");
  const box = await open("box", "devices: [{ name: box, model: simulated }]");
  await box.call("save_testcase", { testcase });
});
afterAll(async () => {
  for (const product of products) await product.dispose();
  await page.close();
});

/** The screen that every call starts on; a browser has a page before it. */
async function begin(on: On): Promise<void> {
  const visit = (path: string) => ({ command: "navigate_to_url", params: { url: `${page.url}/${path}` } });
  const actions =
    on === "box" ? [{ command: "press_key", params: { key: "HOME" } }] : [visit("first"), visit("")];
  const { isError, text } = await clientOn(on).call("execute_device_action", { actions });
  expect(isError, text).toBe(false);
}

/** Refs and addresses filled in, as a model that has just looked does. */
async function filled(on: On, given: Record<string, unknown>): Promise<Record<string, unknown>> {
  const json = JSON.stringify(given).replaceAll("<page>", `${page.url}/`);
  if (!json.includes("<")) return JSON.parse(json);
  const { structured } = await clientOn(on).call("dump_ui_elements", { detail: "full" });
  const items = z.array(z.object({ ref: z.string(), name: z.string() })).parse(structured.items);
  const refOf = (_: string, wanted: string) => {
    const found = items.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`no ${wanted} in ${JSON.stringify(items)}`);
    return found.ref;
  };
  return JSON.parse(json.replace(/<([^<>]+)>/g, refOf));
}

/** The call in an error's text, read as a model reads it. */
function offeredIn(text: string): { tool: string; arguments: Record<string, unknown> } | undefined {
  const found = /^([a-z_]+) (\{.*\})$/m.exec(text);
  return found ? { tool: found[1] ?? "", arguments: JSON.parse(found[2] ?? "{}") } : undefined;
}

function expectPassed({ isError, text, structured }: Reply): void {
  expect(isError, text).toBe(false);
  expect(structured.pass ?? true, text).toBe(true);
  if ("execution_id" in structured) expect(structured.status, text).toBe("passed");
}

describe.each(
  foreignCalls.map((call) => ({ ...call, shown: JSON.stringify(call.arguments) })),
)("$tool $shown", ({ on, tool, works, arguments: given }) => {
  test(works ? "works as it is" : "is answered once with a call of ours that passes", async () => {
    await begin(on);
    const reply = await clientOn(on).call(tool, await filled(on, given));
    if (works) return expectPassed(reply);
    expect(reply.isError, reply.text).toBe(true);
    const offered = offeredIn(reply.text);
    if (offered === undefined) throw new Error(reply.text);
    expect(encode(reply.text).length).toBeLessThan(mostTokens);
    expectPassed(await clientOn(on).call(offered.tool, offered.arguments));
  });
});

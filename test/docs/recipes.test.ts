import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const page = readFileSync(fileURLToPath(new URL("../../docs/recipes.md", import.meta.url)), "utf8");
const recipes = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = ""]) => text);
const nameOf = (text: string) => z.looseObject({ name: z.string() }).parse(parse(text)).name;
const [app = "", ...tests] = recipes;

/** The small shop that the recipes are of. */
const orders = new Map<number, string>();
const html = (body: string) => `<!doctype html><title>Shop</title><h1>Shop</h1>${body}`;
const prices: Readonly<Record<string, string>> = { lamp: "36 €", chair: "80 €" };
const login = `<form action="/welcome"><label>User <input name="user"></label>
  <label>Password <input name="password" type="password"></label><button>Sign in</button></form>`;
const dialogs = `<button onclick="out.textContent = confirm('Sure?') ? 'deleted' : 'kept'">Delete</button>
  <button onclick="out.textContent = 'named ' + prompt('Name?')">Rename</button><p id="out"></p>`;
const frames = `<iframe srcdoc="<button onclick=&quot;this.nextSibling.textContent='paid'&quot;>Pay</button><p></p>"></iframe>`;
const files = `<label>Picture <input type="file" onchange="out.textContent = this.files[0].name + ' chosen'"></label>
  <a href="data:text/csv,a" download="report.csv">Report</a><p id="out"></p>`;
const dates = `<label>Birthday <input type="date" oninput="out.textContent = new Date(this.value)
  .toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })"></label><p id="out"></p>`;
const slow = `<button onclick="this.disabled = true;
  setTimeout(() => { this.disabled = false; out.textContent = 'Done' }, 1500)">Start</button><p id="out"></p>`;
const pages: Readonly<Record<string, string>> = {
  ...{
    "/login": login,
    "/dialogs": dialogs,
    "/frames": frames,
    "/files": files,
    "/dates": dates,
    "/slow": slow,
  },
};

type Answer = { status: number; body?: string; headers?: Record<string, string> };

const show = (body: string): Answer => ({
  ...{ status: 200, body: html(body), headers: { "content-type": "text/html; charset=utf-8" } },
});
const json = (status: number, value: unknown): Answer => ({
  ...{ status, body: JSON.stringify(value), headers: { "content-type": "application/json" } },
});

function ofApi(path: string, method: string | undefined): Answer {
  const id = Number(path.split("/")[3]);
  if (method === "POST") {
    orders.set(orders.size + 1, "lamp");
    return json(201, { id: orders.size });
  }
  if (method === "GET") return orders.has(id) ? json(200, { id, item: orders.get(id) }) : { status: 404 };
  if (Number.isNaN(id)) orders.clear();
  else orders.delete(id);
  return { status: 204 };
}

function ofPage({ pathname, searchParams }: URL, cookie: string): Answer {
  if (pathname === "/welcome")
    return searchParams.get("password") === "open sesame"
      ? { status: 302, headers: { location: "/", "set-cookie": "user=anna" } }
      : { status: 403 };
  if (pathname === "/") return show(cookie.includes("user=anna") ? "<p>Welcome anna</p>" : "");
  if (pathname === "/orders")
    return show([...orders.values()].map((item) => `<p class="order">${item}</p>`).join(""));
  if (pathname.startsWith("/items/")) return show(`<p>${prices[pathname.slice(7)] ?? "none"}</p>`);
  const found = pages[pathname];
  return found === undefined ? { status: 404 } : show(found);
}

const server = createServer(({ url: path = "/", method, headers: { cookie = "" } }, response) => {
  const address = new URL(path, "http://localhost");
  const isApi = address.pathname.startsWith("/api/");
  const { status, body, headers } = isApi ? ofApi(address.pathname, method) : ofPage(address, cookie);
  response.writeHead(status, headers).end(body);
});
let product: Product;
let client: TestClient;
let url = "";
const placed = (text: string) => text.replaceAll("http://localhost:3000", url);

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  product = await openProduct(
    "devices: [{ name: browser, model: web }]\nsecrets: { PASSWORD: { env: LABWRIGHT_SECRET_PASSWORD } }",
    {
      PASSWORD: "open sesame",
    },
  );
  const { uploads } = product.config.folders;
  mkdirSync(uploads, { recursive: true });
  writeFileSync(join(uploads, "photo.txt"), "x");
  client = await product.connect();
  for (const yaml of [app, ...tests]) {
    const reply = await client.call("import_userinterface", { yaml: placed(yaml), replace: true });
    expect(reply.error, yaml).toBeUndefined();
  }
});
afterAll(async () => {
  await product.dispose();
  server.close();
});

it("are many", () => expect(tests.length).toBeGreaterThan(9));

it.each(tests.map((text) => [nameOf(text)]))("the recipe %s passes", async (testcase) => {
  const reply = await client.call("execute_testcase", { testcase, device_id: "browser", wait_ms: 60_000 });
  expect(reply.structured, reply.text).toMatchObject({ status: "passed" });
});

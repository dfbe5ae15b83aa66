import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const password = "open-sesame";
let product: Product;
let client: TestClient;
let other: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  page = await serve((request, response) => {
    const given = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
    if (request.url === "/staff" && given !== `ada:${password}`) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="Staff"' }).end("<p>No entry</p>");
      return;
    }
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>Shop</title><p id=hello>hello ${given}</p>
      <p id=number>Order  A-17</p><table><tr><th>Item<th>Price</tr><tr><td>Tea<td>1.00</tr></table>
      <label>Search <input oninput="said.textContent = 'you look for ' + this.value"></label><p id=said></p>`);
  });
  product = await openProduct("devices: [{ name: browser, model: web }]", { STAFF: password });
  client = await product.connect({ client: "first" });
  other = await product.connect({ client: "second" });
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

const act = (who: TestClient, command: string, params: Record<string, unknown>) =>
  who.call("execute_device_action", { look: false, actions: [{ command, params }] });
const credentials = (more: Record<string, unknown>) =>
  act(client, "http_credentials", { url: page.url, username: "ada", password: "{{secret.STAFF}}", ...more });

it("a test case takes what a command reads into its variables", async () => {
  const blocks = [
    { id: "open", type: "action", command: "navigate_to_url", params: { url: `${page.url}/` } },
    { id: "read", type: "action", command: "get_text", params: { selector: "css=#number" } },
    { id: "table", type: "action", command: "get_table", params: { selector: "css=table" } },
    { id: "keep", type: "set", values: { order: "{{read.output.data.value}}" } },
    {
      ...{ id: "type", type: "action", command: "input_text" },
      params: { selector: "Search", text: "{{order}} {{table.output.data.rows[0].Price}}" },
    },
    sees("see", "look for Order A-17 1.00", { timeout_ms: 5_000 }),
  ];
  const saved = await client.call("save_testcase", {
    testcase: { name: "reads", ...chain(blocks) },
    replace: true,
  });
  expect(saved.error).toBeUndefined();
  const run = await client.call("execute_testcase", { testcase: "reads", device_id: "browser" });
  expect(run.structured).toMatchObject({ status: "passed" });
});

it("a page that asks for a name and password says so, and a secret answers it and stands nowhere", async () => {
  const asked = await act(client, "navigate_to_url", { url: `${page.url}/staff` });
  expect(asked.text).toMatch(/401.*http_credentials/);
  expect((await credentials({})).error).toBeUndefined();
  const opened = await act(client, "navigate_to_url", { url: `${page.url}/staff` });
  expect(opened.error).toBeUndefined();
  const read = await act(client, "get_text", { selector: "css=#hello" });
  expect(read.text).toContain("hello ada:[secret STAFF]");
  expect(JSON.stringify(read)).not.toContain(password);
});

it("a secret may stand in the password and in no other parameter", async () => {
  for (const more of [
    { url: "{{secret.STAFF}}", password: "xxxx" },
    { username: "{{secret.STAFF}}", password: "xxxx" },
  ])
    expect(await credentials(more)).toMatchObject({ error: { code: "INVALID_INPUT" } });
  const written = await act(client, "write_clipboard", { text: "{{secret.STAFF}}" });
  expect(written).toMatchObject({ error: { code: "INVALID_INPUT" } });
});

it("credentials and permissions of one client are not another's", async () => {
  // A site that no one has opened yet: like a cookie, a login that the browser has made stays.
  const otherSite = page.url.replace("127.0.0.1", "localhost");
  await credentials({ url: otherSite });
  await act(client, "navigate_to_url", { url: `${page.url}/` });
  await act(client, "grant_permissions", { permissions: ["clipboard-read", "clipboard-write"] });
  await act(client, "write_clipboard", { text: "mine" });
  await client.call("release_control", {});
  const refused = await act(other, "read_clipboard", {});
  expect(refused).toMatchObject({ error: { code: "ACTION_REJECTED" } });
  await act(other, "grant_permissions", { permissions: ["clipboard-read"] });
  expect((await act(other, "read_clipboard", {})).text).not.toContain("mine");
  const asked = await act(other, "navigate_to_url", { url: `${otherSite}/staff` });
  expect(asked.text).toContain("401");
});

import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { activitySchema } from "#mcp-server/domain/execution.ts";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { chain, sees } from "../services/apps/testcases/testcaseBench.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const password = "open-sesame";
let product: Product;
let client: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  page = await serve((request, response) => {
    if (request.url === "/api/pay") response.writeHead(503).end(`<b>no bank for ${password}</b>`);
    else
      response
        .setHeader("content-type", "text/html")
        .end(`<!doctype html><title>Shop</title><p id=out>open</p>
        <button onclick="fetch('/api/pay', { method: 'POST', body: '{&quot;amount&quot;:3}' })
          .then((r) => { out.textContent = 'status ' + r.status; console.error('<i>not paid</i>'); })">Pay</button>
        <p>${request.headers.cookie ?? "no cookie"}</p>`);
  });
  product = await openProduct(
    `devices: [{ name: browser, model: web }]
secrets: { BOUND: { env: LABWRIGHT_SECRET_BOUND, hosts: [shop.example] } }`,
    { STAFF: password, BOUND: "only-for-the-shop" },
  );
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

const act = (command: string, params: Record<string, unknown>, look = false) =>
  client.call("execute_device_action", { look, actions: [{ command, params }] });
const failedSteps = async (id: unknown) => {
  const { steps } = await product.services.executions.get(z.string().parse(id));
  return steps.filter(({ status }) => status !== "passed");
};
async function reportOf(execution_id: unknown): Promise<string> {
  const { structured } = await client.call("get_execution_report", { execution_id, format: "html" });
  const { contents } = await client.client.readResource({ uri: z.string().parse(structured.report) });
  const [part] = contents;
  return part && "blob" in part ? Buffer.from(part.blob, "base64").toString("utf8") : String(part?.text);
}

test("a failed step of a test keeps what the page logged and requested, for its report and without secrets", async () => {
  const blocks = [
    { id: "open", type: "action", command: "navigate_to_url", params: { url: `${page.url}/` } },
    { id: "pay", type: "action", command: "click_element", params: { selector: "Pay" } },
    sees("paid", "Thank you", { timeout_ms: 1_000 }),
  ];
  await client.call("save_testcase", { testcase: { name: "pays", ...chain(blocks) } });
  const run = await client.call("execute_testcase", { testcase: "pays", device_id: "browser" });
  expect(run.structured).toMatchObject({ status: "failed" });
  expect(run.text).not.toContain("not paid");
  const [failed, ...others] = await failedSteps(run.structured.execution_id);
  expect(others).toEqual([]);
  const { console, requests } = activitySchema.parse(failed?.activity);
  expect(console).toMatchObject([
    { level: "error", text: expect.stringContaining("503") },
    { level: "error", text: "<i>not paid</i>" },
  ]);
  expect(requests).toMatchObject([
    {
      ...{ method: "POST", url: `${page.url}/api/pay`, status: 503 },
      ...{ sent: '{"amount":3}', answer: "<b>no bank for [secret STAFF]</b>" },
    },
  ]);
  const html = await reportOf(run.structured.execution_id);
  expect(html).toContain("&lt;i>not paid&lt;/i>");
  expect(html).toContain("&lt;b>no bank for [secret STAFF]&lt;/b>");
});

test("actions that fail have it too, in their record and not in the reply", async () => {
  await act("navigate_to_url", { url: `${page.url}/` });
  const run = await client.call("execute_device_action", {
    actions: ["Pay", "Nowhere"].map((selector) => ({
      command: "click_element",
      params: { selector, timeout_ms: 1_000 },
    })),
  });
  expect(JSON.stringify(run)).not.toContain("not paid");
  const [failed] = await failedSteps(run.error?.details.execution_id);
  expect(activitySchema.parse(failed?.activity).requests).toMatchObject([{ method: "POST", status: 503 }]);
});

test("a command reads and mocks requests; the mock of one client does not reach the next", async () => {
  await act("navigate_to_url", { url: `${page.url}/` });
  await act("mock_request", { url: "/api/pay", answer: { status: 202, body: { ok: true } } });
  await act("click_element", { selector: "Pay" });
  const read = await act("read_network", { url: "/api/pay", bodies: true }, true);
  expect(read.text).toMatch(/"?status"?: ?202/);
  expect(read.text).toMatch(/mocked.*ok.*true/);
  expect(read.text).not.toContain("ABORTED");
  await client.call("release_control", {});
  const other = await product.connect({ client: "other" });
  const actions = [
    { command: "click_element", params: { selector: "Pay" } },
    { command: "read_network", params: { url: "/api/pay", bodies: true, limit: 1 } },
  ];
  const answered = await other.call("execute_device_action", { look: false, actions });
  await other.call("release_control", {});
  expect(answered.text).toContain("503");
  expect(JSON.stringify(answered)).not.toContain(password);
});

test("a secret may be the value of a cookie of a site that it is allowed for, and is shown nowhere", async () => {
  await act("navigate_to_url", { url: `${page.url}/` });
  expect((await act("set_cookie", { name: "plan", value: "{{secret.STAFF}}" })).error).toBeUndefined();
  await act("reload", {});
  const cookies = await act("get_cookies", {});
  expect(cookies.text).toContain("[secret STAFF]");
  expect(JSON.stringify(cookies)).not.toContain(password);
  const bound = await act("set_cookie", { name: "plan", value: "{{secret.BOUND}}" });
  expect(bound.error).toMatchObject({ code: "SECRET_NOT_ALLOWED" });
  const stored = await act("set_storage", { name: "plan", value: "{{secret.STAFF}}" });
  expect(stored.error).toMatchObject({ code: "INVALID_INPUT" });
});

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { serve } from "../fixtures/loopback.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let product: Product;
let first: TestClient;
let second: TestClient;
let page: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  page = await serve((request, response) => {
    const mark = String(request.headers["x-mark"] ?? "none");
    response.setHeader("content-type", "text/html").end(`<!doctype html><title>Shop</title>
      <p>mark ${mark}</p><p id=size></p><button onclick="answer.textContent = 'answer ' + confirm('Sure?')">Ask</button>
      <output id=answer></output><button onclick="location.reload()">Again</button>
      <button onclick="setTimeout(() => { late.textContent = 'late news' }, 1000)">Later</button><p><a href="#" id=late>early</a></p>
      <script>size.textContent = "width " + innerWidth + " dark " + matchMedia("(prefers-color-scheme: dark)").matches</script>`);
  });
  product = await openProduct("devices: [{ name: browser, model: web }]");
  first = await product.connect({ client: "first" });
  second = await product.connect({ client: "second" });
});
afterAll(async () => {
  await product.dispose();
  await page.close();
});

const act = (client: TestClient, command: string, params: Record<string, unknown>) =>
  client.call("execute_device_action", { actions: [{ command, params }] });
const sees = async (client: TestClient, ...texts: string[]) => {
  const checks = texts.map((text) => ({ command: "text_visible", params: { text } }));
  expect((await client.call("verify_device_state", { checks, timeout_ms: 3_000 })).structured).toMatchObject({
    pass: true,
  });
};

it("what one client had set of a device does not reach the next one, and its page and login do", async () => {
  await act(first, "navigate_to_url", { url: `${page.url}/` });
  await act(first, "set_viewport_size", { width: 420, height: 500 });
  await act(first, "emulate_media", { color_scheme: "dark" });
  await act(first, "set_network", { headers: { "x-mark": "first" } });
  await act(first, "click_element", { selector: "Again" });
  await sees(first, "mark first", "width 420 dark true");
  await act(first, "handle_dialog", { accept: true });
  await first.call("release_control", {});

  await act(second, "click_element", { selector: "Again" });
  await sees(second, "mark none", "width 1280 dark false");
  await act(second, "click_element", { selector: "Ask" });
  await sees(second, "answer false");
});

it("what a client had set stays when it comes back itself", async () => {
  await act(second, "set_viewport_size", { width: 600, height: 500 });
  await second.call("release_control", {});
  await act(second, "click_element", { selector: "Again" });
  await sees(second, "width 600 dark false");
});

it("what is new to the holder of a device is not reported to another client in its place", async () => {
  await act(second, "navigate_to_url", { url: `${page.url}/` });
  await act(second, "click_element", { selector: "Later" });
  await vi.waitFor(
    async () => expect((await first.call("dump_ui_elements", {})).text).toContain("late news"),
    { timeout: 10_000 },
  );
  expect((await act(second, "scroll", {})).text).toContain("late news");
});

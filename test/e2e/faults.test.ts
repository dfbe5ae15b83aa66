import { readdirSync, readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Reply, TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type Site, startSite } from "../fixtures/site.ts";

let site: Site;
let product: Product;
let client: TestClient;
beforeAll(async () => {
  site = await startSite();
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
});
afterAll(async () => {
  await product.dispose();
  await site.close();
});
afterEach(async () => {
  expect(product.services.executions.running()).toBe(0);
});

const act = (command: string, params: Record<string, unknown> = {}) =>
  client.call("execute_device_action", { actions: [{ command, params }] });
const go = (path: string) => act("navigate_to_url", { url: site.url + path });

/** A failure that a model or a person can act on: a code, a hint, and no structured result that a client would check. */
function expectFailure(reply: Reply, code: string, text?: string | RegExp): void {
  expect(reply.isError).toBe(true);
  expect(reply.error?.code).toBe(code);
  expect(reply.error?.hint.length).toBeGreaterThan(10);
  expect(reply.raw.structuredContent).toBeUndefined();
  if (text !== undefined) expect(reply.text).toMatch(text);
}

test("an unknown tool, device, command and node are answered with the nearest", async () => {
  expectFailure(await client.call("take_contrl"), "TOOL_NOT_FOUND", "take_control");
  expectFailure(
    await client.call("dump_ui_elements", { device_id: "browsr" }),
    "DEVICE_NOT_FOUND",
    "browser",
  );
  expectFailure(await act("click_elment"), "ACTION_NOT_FOUND", "click_element");
  await client.call("create_userinterface", { name: "shop", models: ["web"] });
  await client.call("create_node", { userinterface_name: "shop", label: "Cart" });
  const asked = { userinterface_name: "shop", node: "Crt" };
  expectFailure(await client.call("navigate_to_node", asked), "NODE_NOT_FOUND", "Cart");
});

test("a label that two trees share is ambiguous, and the candidates are named", async () => {
  await client.call("create_userinterface", { name: "twice", models: ["web"] });
  await client.call("create_node", { userinterface_name: "twice", label: "Menu" });
  const sub = await client.call("create_subtree", { userinterface_name: "twice", node: "Menu" });
  for (const tree of [undefined, sub.structured.id]) {
    const made = await client.call("create_node", { userinterface_name: "twice", tree, label: "Help" });
    expect(made.error).toBeUndefined();
  }
  expectFailure(await client.call("get_node", { userinterface_name: "twice", node: "Help" }), "AMBIGUOUS");
});

test("a wrong type and a huge input are refused before anything happens", async () => {
  expectFailure(await client.call("dump_ui_elements", { max_tokens: "many" }), "INVALID_INPUT", "max_tokens");
  expectFailure(
    await client.call("dump_ui_elements", { find: "x".repeat(100_000) }),
    "INVALID_INPUT",
    "find",
  );
});

test("an invalid test case is refused with every problem at once", async () => {
  const blocks = [
    { id: "a", type: "action", command: "click_element", params: {} },
    { id: "lost", type: "sleep", duration_ms: 1 },
  ];
  const reply = await client.call("save_testcase", { testcase: { name: "broken", blocks, edges: [] } });
  expect(reply.isError).toBe(true);
  expect(reply.error?.code).toMatch(/TESTCASE_INVALID|EMPTY_TEST/);
  expect(reply.text).toMatch(/start/);
});

test("a page that never loads ends with the command's own deadline", async () => {
  const reply = await act("navigate_to_url", { url: `${site.url}/never`, timeout_ms: 2_000 });
  expect(reply.isError).toBe(true);
  expect(reply.error?.code).toMatch(/COMMAND_TIMEOUT|NAVIGATION_FAILED/);
  expect((await go("/")).isError).toBe(false);
});

test("a page with 50,000 nodes is listed within its budget, and says what it left out", async () => {
  await go("/big");
  const { structured, isError } = await client.call("dump_ui_elements");
  expect(isError).toBe(false);
  expect(String(structured.notices)).toMatch(/very large/);
  expect(String(structured.elements).length).toBeLessThan(10_000);
});

test("a dialog on unload does not block, and is reported", async () => {
  await go("/beforeunload");
  await act("input_text", { selector: "Draft", text: "unsaved" });
  const left = await act("click_element", { selector: "Leave" });
  expect(left.isError).toBe(false);
  expect(left.text).toMatch(/Second page/);
});

test("file: and cloud-metadata addresses are refused, also behind a redirect or in a frame", async () => {
  for (const url of [
    "file:///etc/passwd",
    "http://169.254.169.254/latest/",
    "http://0xa9fea9fe/",
    "javascript:alert(1)",
  ])
    expectFailure(await act("navigate_to_url", { url }), "URL_DENIED");
});

test("a path outside the uploads folder is refused", async () => {
  await go("/upload");
  const input = { selector: "css=input[type=file]", files: ["../../../etc/passwd"] };
  const reply = await act("upload_file", input);
  expect(reply.isError).toBe(true);
  expect(reply.text).toMatch(/PATH_DENIED|INVALID_INPUT/);
});

test("javascript is off unless the configuration allows it", async () => {
  expectFailure(await act("execute_javascript", { script: "1" }), "UNSAFE_DISABLED");
});

test("a browser killed in the middle of an action is reported, and the next call has a new one", async () => {
  await go("/");
  const waiting = act("wait_for", { selector: "Never there", timeout_ms: 30_000 });
  await expect.poll(() => product.services.executions.running()).toBe(1);
  killBrowsers();
  const reply = await waiting;
  expect(reply.isError).toBe(true);
  expect(reply.error?.code).toBe("DEVICE_LOST");
  const after = await go("/");
  expect(after.isError).toBe(false);
  expect(after.text).toContain("BROWSER_RESTARTED");
});

/** Ends the browsers that this process started, by their ids. */
function killBrowsers(): void {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent === process.pid || (parent !== undefined && parent > 1 && isOurs(parent));
  };
  const browsers = [...parents.keys()].filter((pid) => {
    try {
      return isOurs(pid) && /chrom/i.test(readFileSync(`/proc/${pid}/comm`, "utf8"));
    } catch {
      return false;
    }
  });
  expect(browsers.length).toBeGreaterThan(0);
  for (const pid of browsers) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Its parent took it along.
    }
  }
}

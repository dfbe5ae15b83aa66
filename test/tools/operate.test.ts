import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: box, model: simulated }]", { PIN: "987654" });
  client = await product.connect();
});
afterAll(() => product.dispose());
beforeEach(() => act([{ command: "press_key", params: { key: "HOME" } }]));

const act = (actions: unknown[], more = {}) => client.call("execute_device_action", { actions, ...more });
const click = (selector: string) => ({ command: "click_element", params: { selector } });

test("execute_device_action says what changed on the screen, and the run is stored", async () => {
  const reply = await act([click("Movies")]);
  expect(reply.structured).toMatchObject({ status: "passed" });
  expect(reply.structured, "the screen says it all").not.toHaveProperty("results");
  expect(reply.structured.screen).toContain("The Long Take");
  const status = await client.call("get_execution_status", { execution_id: reply.structured.execution_id });
  expect(status.structured).toMatchObject({ status: "passed" });
});

test("a failed batch is a failed call with the nearest names and what was done", async () => {
  const { isError, error, text } = await act([click("Movies"), click("The Lng Take")]);
  expect(isError).toBe(true);
  const details = { dispatched: "no", done: ["action click_element"] };
  expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details });
  expect(text).toContain("execution_id");
  const { structured } = await client.call("get_execution_status", {
    execution_id: error?.details.execution_id,
  });
  expect(structured.steps).toMatchObject([{ status: "failed", dispatched: "no" }]);
});

test("a search that scrolled and found nothing says that inputs were sent", async () => {
  await act([click("Live TV"), click("Guide")]);
  const { error } = await act([{ command: "scroll_to_element", params: { selector: "Nowhere" } }]);
  expect(error).toMatchObject({ code: "ELEMENT_NOT_FOUND", details: { dispatched: "yes", done: [] } });
});

test("a check that did not hold has no input, whatever came of the actions for its failure", async () => {
  const check = { command: "text_visible", params: { text: "Nobody shows this" } };
  const { error } = await act([check], { failure_actions: [click("Nowhere")] });
  expect(error).toMatchObject({ code: "VERIFICATION_FAILED" });
  expect(error?.details).not.toHaveProperty("dispatched");
});

test("a batch that is stopped says what it had done, and keeps its step", async () => {
  const wait = { command: "wait_for", params: { text: "Nobody shows this", timeout_ms: 60_000 } };
  const waiting = act([click("Movies"), wait], { wait_ms: 60_000 });
  const running = async () =>
    (await client.call("get_execution_results", { status: "running" })).structured.executions;
  await expect.poll(running).toHaveLength(1);
  const [found] = z.array(z.object({ execution_id: z.string() })).parse(await running());
  const execution_id = found?.execution_id;
  await client.call("cancel_execution", { execution_id });
  expect((await waiting).error).toMatchObject({
    code: "CANCELLED",
    details: { done: ["action click_element"] },
  });
  const { structured } = await client.call("get_execution_status", { execution_id });
  const error = expect.stringContaining("CANCELLED");
  expect(structured).toMatchObject({ status: "cancelled", steps: [{ status: "cancelled", error }] });
});

test("look: false leaves the screen out", async () => {
  const { structured } = await act([click("Movies")], { look: false });
  expect(structured).not.toHaveProperty("screen");
  expect(structured).toMatchObject({ results: [{ message: 'clicked button "Movies"' }] });
});

test("execute_device_action without actions is refused", async () => {
  expect((await client.call("execute_device_action", {})).error).toMatchObject({ code: "INVALID_INPUT" });
});

test("list_actions names the commands, and one with its schema", async () => {
  expect((await client.call("list_actions")).structured.commands).toContain("press_key key");
  expect((await client.call("list_actions", { command: "press_key" })).structured).toHaveProperty("schema");
});

test("dump_ui_elements lists, finds, compares and gives detail", async () => {
  const home = await client.call("dump_ui_elements");
  expect(home.structured.elements).toContain('button "Live TV"');
  const found = await client.call("dump_ui_elements", { find: "settings" });
  expect(String(found.structured.elements).split("\n")[0]).toContain("Settings");
  await act([click("Settings")], { look: false });
  const since = await client.call("dump_ui_elements", { changes_since: found.structured.generation });
  expect(since.structured.elements).toContain("Parental lock");
  const full = await client.call("dump_ui_elements", { detail: "full" });
  expect(full.structured.items).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        name: "Device name",
        selectors: expect.arrayContaining([
          { kind: "label", selector: "label=Device name", unique: true, score: 0.8 },
        ]),
      }),
    ]),
  );
  expect((await client.call("dump_ui_elements", { changes_since: 1 })).error).toMatchObject({
    code: "STALE_REF",
  });
});

test("capture_screenshot shows a picture and links the file", async () => {
  const { raw, structured } = await client.call("capture_screenshot", { marks: true });
  expect(raw.content.map(({ type }) => type)).toEqual(["text", "text", "image", "resource_link"]);
  expect(structured).toMatchObject({
    width: 640,
    height: 360,
    scale: 1,
    artifact: expect.stringMatching(/^artifact:/),
  });
  const file = await client.client.readResource({ uri: String(structured.artifact) });
  expect(file.contents[0]).toMatchObject({ mimeType: "image/png" });
});

test("verify_device_state judges, and a failure is a verdict and no error", async () => {
  const checks = [{ command: "text_visible", params: { text: "Welcome home" } }];
  expect((await client.call("verify_device_state", { checks })).structured).toMatchObject({ pass: true });
  const wrong = [{ command: "element_visible", params: { selector: "Movie" } }];
  const { isError, structured, text } = await client.call("verify_device_state", {
    checks: wrong,
    timeout_ms: 0,
  });
  expect(isError).toBe(false);
  expect(structured).toMatchObject({
    pass: false,
    verdicts: [{ pass: false, evidence: [expect.any(String)] }],
  });
  expect(text).toContain("Movies");
  expect((await client.call("verify_device_state", { checks: [] })).error).toMatchObject({
    code: "INVALID_INPUT",
  });
});

test("list_verifications names the checks", async () => {
  expect((await client.call("list_verifications")).structured.checks).toContain("text_visible text");
});

test("verify_node runs a node's own checks", async () => {
  await client.call("create_userinterface", { name: "tv", models: ["simulated"] });
  const verifications = [{ command: "text_visible", params: { text: "Welcome home" } }];
  await client.call("create_node", { userinterface_name: "tv", label: "Home", type: "entry", verifications });
  const asked = { userinterface_name: "tv", node: "Home", timeout_ms: 0 };
  expect((await client.call("verify_node", asked)).structured).toMatchObject({ label: "Home", pass: true });
  await act([click("Movies")]);
  expect((await client.call("verify_node", asked)).structured).toMatchObject({ pass: false });
});

test("a secret typed into a field never comes back", async () => {
  await act([click("Settings")]);
  const type = { command: "input_text", params: { selector: "Device name", text: "{{secret.PIN}}" } };
  const reply = await act([type]);
  const dump = await client.call("dump_ui_elements");
  expect(JSON.stringify([reply.raw, dump.raw])).not.toContain("987654");
  expect(dump.text).toContain("[secret PIN]");
});

test("no picture or compact reply carries a data: address", async () => {
  const { text } = await client.call("capture_screenshot");
  expect(text).not.toContain("data:");
});

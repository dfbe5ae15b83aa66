import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { startPersonsBrowser } from "../fixtures/personsBrowser.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { type CallTool, flows, playFlow, serveTodos } from "../fixtures/recordedFlows.ts";
import { startRecordedShop } from "../fixtures/recordedShop.ts";

const password = "sesame open";
let shop: Awaited<ReturnType<typeof startRecordedShop>>;
let person: Awaited<ReturnType<typeof startPersonsBrowser>>;
let product: Product;
let anna: TestClient;
beforeAll(async () => {
  shop = await startRecordedShop();
  person = await startPersonsBrowser();
  product = await openProduct("devices: [{ name: web, model: web }, { name: box, model: simulated }]", {
    PASSWORD: password,
  });
  anna = await product.connect({ principal: "anna", client: "a" });
});
afterAll(async () => {
  await product.dispose();
  await person.close();
  shop.close();
});

const stepSchema = z.looseObject({
  command: z.string(),
  params: z.record(z.string(), z.unknown()),
  by: z.string(),
  screen: z.number().optional(),
  proposals: z.array(z.looseObject({ params: z.record(z.string(), z.unknown()) })).default([]),
});
const reportSchema = z.looseObject({
  revision: z.number(),
  ended: z.string().optional(),
  pointing: z.boolean(),
  steps: z.array(stepSchema),
  screens: z.array(z.looseObject({ name: z.string() })),
});

/** A browser of the person's under a lease, with its steps recorded, at the shop. */
async function record() {
  const copy = { cdp: person.address };
  const taken = await anna.call("take_control", { device_id: "web", copy });
  const session_id = taken.structured.session_id;
  const started = await anna.call("start_recording", { session_id, kind: "steps" });
  expect(started.structured).toMatchObject({ records: ["steps"], hears_person: true });
  const { recording_id } = started.structured;
  const actions = [{ command: "navigate_to_url", params: { url: `${shop.url}/` } }];
  await anna.call("execute_device_action", { session_id, actions });
  const read = async (more: object = {}) =>
    reportSchema.parse((await anna.call("read_recording", { recording_id, ...more })).structured);
  /** The recording as soon as it holds what is expected. */
  const until = (holds: (report: z.output<typeof reportSchema>) => boolean) =>
    vi.waitFor(
      async () => {
        const report = await read();
        if (!holds(report))
          throw new Error(JSON.stringify(report.steps.map(({ command, params }) => [command, params])));
        return report;
      },
      { timeout: 20_000, interval: 100 },
    );
  return { session_id, recording_id, read, until, page: await person.page(shop.url) };
}

/** Without the colour: a browser that loads a page again may have forgotten what was chosen there. */
const lampsOf = ({ orders, ...rest }: ReturnType<typeof shop.takeState>) => ({
  ...rest,
  orders: orders.map((order) => order.split(" in ")[0]),
});

/** The middle of an element, pressed as by a hand. */
async function press(page: Page, name: string, role: "button" | "link" = "button"): Promise<void> {
  await page.getByRole(role, { name, exact: true }).click();
}

test("what a person does in a browser replays as a test, and no password leaves the page", async () => {
  const { session_id, recording_id, until, page } = await record();
  await until(({ screens }) => screens.length === 1);
  await page.getByLabel("Name").click();
  await page.keyboard.type("anna");
  await page.getByLabel("Password").click();
  await page.keyboard.type(password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/home");
  await until(({ screens }) => screens.length === 2);
  await page.getByLabel("Colour").focus();
  await page.keyboard.press("ArrowDown");
  await page.getByText("Gift wrap").click();
  await press(page, "Add Floor lamp");
  await until(
    ({ steps }) => steps.at(-1)?.proposals.some((one) => one.params.text === "1 in the cart") === true,
  );
  await page.getByLabel("Note").click();
  await page.keyboard.type("Ring twice");
  await press(page, "Keep the note");
  const frame = page.frameLocator("iframe");
  await frame.getByPlaceholder("E-mail").click();
  await page.keyboard.type("anna@shop.example");
  await frame.getByRole("button", { name: "Subscribe" }).click();
  page.once("dialog", (dialog) => void dialog.accept());
  await press(page, "Empty the cart");
  await until(({ steps }) => steps.some(({ command }) => command === "handle_dialog"));
  await anna.call("read_recording", { recording_id, point: true });
  await page.locator("#status").click();
  await until(({ steps }) => steps.at(-1)?.by === "picked");
  await press(page, "Go to the cart", "link");
  await until(({ screens }) => screens.length === 3);
  // A page out of the browser's cache is not loaded again.
  await page.goBack({ waitUntil: "commit" });
  await until(({ steps }) => steps.at(-1)?.command === "go_back");
  await press(page, "Add Desk lamp");
  await until(({ steps }) => steps.at(-1)?.command === "click_element");
  await page.getByText("in the cart", { exact: false }).waitFor();
  const done = shop.takeState();

  const stopped = await anna.call("stop_recording", { recording_id });
  const said = JSON.stringify([
    stopped.structured,
    (await anna.call("get_device_info", { session_id })).structured,
  ]);
  expect(said).not.toContain(password);
  const { steps, screens } = reportSchema.partial().parse(stopped.structured);
  expect(screens?.map(({ name }) => name)).toEqual(["Sign in", "Our lamps", "Your cart"]);
  expect(steps?.map(({ command, params }) => ({ [command]: params }))).toEqual([
    { navigate_to_url: { url: `${shop.url}/` } },
    { input_text: { selector: 'role=textbox[name="Name"]', text: "anna" } },
    { input_text: { selector: expect.any(String), text: "{{secret.PASSWORD}}" } },
    { press_key: { key: "ENTER" } },
    { select_option: { selector: expect.stringContaining("Colour"), option: "black" } },
    { set_checked: { selector: expect.stringContaining("Gift wrap"), checked: true } },
    { click_element: { selector: expect.stringContaining("Add Floor lamp") } },
    { input_text: { selector: expect.stringContaining("Note"), text: "Ring twice" } },
    { click_element: { selector: expect.stringContaining("Keep the note") } },
    { input_text: { selector: expect.stringContaining("E-mail"), text: "anna@shop.example" } },
    { click_element: { selector: expect.stringContaining("Subscribe") } },
    { handle_dialog: { accept: true } },
    { click_element: { selector: expect.stringContaining("Empty the cart") } },
    { text_visible: { text: "The cart is empty" } },
    { click_element: { selector: expect.stringContaining("Go to the cart") } },
    { go_back: {} },
    { click_element: { selector: expect.stringContaining("Add Desk lamp") } },
  ]);
  await anna.call("release_control", { session_id });

  const yaml = z.string().parse(stopped.structured.test).replace("recording", "as recorded");
  await anna.call("import_userinterface", { yaml });
  const replayed = await anna.call("execute_testcase", {
    testcase: "as recorded",
    device_id: "web",
    wait_ms: 60_000,
  });
  expect(replayed.structured).toMatchObject({ status: "passed" });
  const again = shop.takeState();
  expect(again.orders[0]).toBe(done.orders[0]);
  expect(lampsOf(again)).toEqual(lampsOf(done));
  expect(done).toMatchObject({ signedIn: ["anna"], notes: ["Ring twice"], saved: ["anna@shop.example"] });
});

test.each([
  "delete the first",
  "rename a task",
])("a recording in an app of others does the same again: %s", async (name) => {
  const flow = flows.find((one) => one.name === name);
  if (!flow) throw new Error(`There is no flow ${name}`);
  const todos = await serveTodos();
  const call: CallTool = async (tool, args) => (await anna.call(tool, args)).structured;
  const stage = { ...todos, call, person, device: "web", url: todos.url(flow.app) };
  const { status, recorded, replayed } = await playFlow(flow, stage).finally(todos.close);
  expect({ status, recorded, replayed }).toEqual({
    status: expect.stringMatching(/^passed/),
    recorded: flow.holds,
    replayed: flow.holds,
  });
});

test("what a tool types into a password field is a secret by its name in the test, and the rest is as it was typed", async () => {
  const { session_id, until, read, page } = await record();
  await until(({ screens }) => screens.length === 1);
  const act = (command: string, params: object) =>
    anna.call("execute_device_action", { session_id, actions: [{ command, params }], look: false });
  await act("click_element", { selector: 'role=textbox[name="Name"]' });
  for (const text of ["an", "na"]) await act("type_text", { text });
  const click = { command: "click_element", params: { selector: 'role=textbox[name="Password"]' } };
  const type = { command: "type_text", params: { text: "hun" } };
  await anna.call("execute_device_action", { session_id, actions: [click, type], look: false });
  await act("type_text", { text: "ter3" });
  await act("press_key", { key: "Backspace" });
  await act("type_text", { text: "2" });
  expect(await page.getByLabel("Password").inputValue()).toBe("hunter2");
  await act("input_text", { selector: 'role=textbox[name="Password"]', text: "hunter2" });
  await act("press_key", { key: "Enter" });
  const report = await read();
  expect(JSON.stringify(report)).not.toMatch(/hun|ter[23]/);
  const typed = report.steps.filter(({ command }) => /^(type|input)_text$|press_key/.test(command));
  expect(typed).toMatchObject([
    { command: "type_text", params: { text: "anna" } },
    {
      command: "type_text",
      params: { text: "{{secret.PASSWORD}}" },
      remark: expect.stringMatching(/PASSWORD/),
    },
    { command: "input_text", params: { text: "{{secret.PASSWORD}}" } },
    { command: "press_key", params: { key: "Enter" } },
  ]);
  await anna.call("release_control", { session_id });
});

test("a host's own calls become the same steps, and a lost lease or browser ends the recording", async () => {
  const taken = await anna.call("take_control", { device_id: "box" });
  const { session_id } = taken.structured;
  const started = await anna.call("start_recording", { session_id, kind: "steps" });
  expect(started.structured).toMatchObject({ hears_person: false });
  const { recording_id } = started.structured;
  const again = await anna.call("start_recording", { session_id, kind: "steps" });
  expect(again.error).toMatchObject({ code: "ALREADY_EXISTS" });
  const actions = [
    { command: "press_key", params: { key: "HOME" } },
    { command: "click_element", params: { selector: "Settings" } },
  ];
  await anna.call("execute_device_action", { session_id, actions });
  const checks = [{ command: "text_visible", params: { text: "Device settings" } }];
  await anna.call("verify_device_state", { session_id, checks });
  const bert = await product.connect({ principal: "bert", client: "b" });
  await bert.call("take_control", { device_id: "box", force: true });
  const ended = reportSchema.parse((await anna.call("read_recording", { recording_id })).structured);
  expect(ended.ended).toBe("lease_lost");
  expect(ended.steps.map(({ command, by }) => [command, by])).toEqual([
    ["press_key", "tool"],
    ["click_element", "tool"],
    ["text_visible", "tool"],
  ]);

  const browser = await record();
  await browser.until(({ screens }) => screens.length === 1);
  await browser.page.getByLabel("Name").click();
  await browser.page.keyboard.type("eve");
  person.kill();
  const lost = await browser.until((report) => report.ended !== undefined);
  expect(lost.ended).toBe("device_lost");
  expect(product.services.steps.running()).toBe(0);
});

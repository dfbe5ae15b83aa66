import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type AndroidLab, startAndroidLab } from "../fixtures/androidLab.ts";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { tvLauncher } from "../fixtures/tvWalk.ts";

vi.setConfig({ testTimeout: 60_000 });

const shop = "dev.labwright.shop";
let lab: AndroidLab;
let product: Product;
let client: TestClient;

beforeAll(async () => {
  lab = await startAndroidLab({ devices: [{ persona: "phone" }, { persona: "tv" }] });
  const lines = ["phone", "tv"].map((name, at) => {
    const settings = `serial: "${lab.devices[at]?.serial}", adb_port: ${lab.adbPort}, backend: dump`;
    return `  - { name: ${name}, model: android_${at === 0 ? "mobile" : "tv"}, controllers: { android: { ${settings} } } }`;
  });
  product = await openProduct(["devices:", ...lines].join("\n"));
  client = await product.connect();
  const { uploads } = product.config.folders;
  await mkdir(uploads, { recursive: true });
  for (const file of ["note.txt", "lamp.png"]) await writeFile(join(uploads, file), "a lamp");
});
afterAll(async () => {
  await product?.dispose();
  await lab?.close();
});

const uiOf = (device: "phone" | "tv") => {
  const found = lab.devices[device === "phone" ? 0 : 1];
  if (!found) throw new Error(`The laboratory has no ${device}.`);
  return found.device.ui;
};

/** The lines of what a reply says of the screen, without its heading; and its results. */
async function act(device_id: "phone" | "tv", command: string, params: Readonly<Record<string, unknown>>) {
  const { structured, error } = await client.call("execute_device_action", {
    device_id,
    actions: [{ command, params }],
  });
  expect(error).toBeUndefined();
  const [, ...lines] = String(structured.screen).split("\n");
  return { lines, results: structured.results };
}

beforeEach(() => {
  uiOf("phone").clearData(shop);
  uiOf("phone").stop("com.android.settings");
  for (const device of ["phone", "tv"] as const) uiOf(device).home();
});

async function show(device: "phone" | "tv", packageName: string, activity: string) {
  uiOf(device).start({ packageName, activity });
  await client.call("dump_ui_elements", { device_id: device });
}

describe("a reply says what changed", () => {
  test.each([
    ["double_click", "tapped twice"],
    ["long_press", "held"],
  ])("a text after %s", async (command, words) => {
    await show("phone", "dev.labwright.samples", ".Gestures");
    const { lines } = await act("phone", command, { selector: "Hold or tap twice" });
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^\\+ e\\d+ text "${words}"$`))]);
  });

  test("an error that appears as text", async () => {
    await show("phone", shop, ".Account");
    const { lines } = await act("phone", "click_element", { selector: "Log in" });
    expect(lines).toEqual([expect.stringMatching(/^\+ e\d+ text "User or password is wrong"$/)]);
  });

  test("a field that gets the focus, and no word against the keyboard", async () => {
    await show("phone", shop, ".Account");
    const clicked = await act("phone", "click_element", { selector: "Password" });
    expect(clicked.lines).toEqual([expect.stringMatching(/^focus: e\d+ textbox "Password" password$/)]);
    expect(await act("phone", "hide_keyboard", {})).toEqual({
      lines: ["no element changed"],
      results: [{ command: "hide_keyboard", message: "hid the keyboard" }],
    });
  });

  test("the focus of a TV", async () => {
    await show("tv", tvLauncher, ".Main");
    const { lines } = await act("tv", "move_focus_to", { selector: "News 6" });
    expect(lines.at(-1)).toMatch(/^focus: e\d+ listitem "News 6"$/);
    expect((await act("tv", "press_key", { key: "LEFT" })).lines).toEqual([
      expect.stringMatching(/^focus: e\d+ listitem "News 5"$/),
    ]);
  });

  test("a tap that does nothing: no element, and no result", async () => {
    await show("phone", "dev.labwright.samples", ".Gestures");
    const done = await act("phone", "tap", { x: 10, y: 1_500 });
    expect(done).toEqual({ lines: ["no element changed"], results: undefined });
  });
});

describe("a reply has a message that says more than that the command was done", () => {
  test.each([
    ["scroll", { direction: "up" }, /^nothing scrolled: it is at the end/],
    ["scroll", { direction: "top" }, /^it is at the top/],
    ["uninstall_app", { package: "com.none" }, /^com.none was not installed/],
    ["close_app", { app: { package: "com.none" } }, /^com.none was not open/],
    ["push_file", { file: "note.txt" }, /^copied note.txt to \/sdcard\/Download\/note.txt/],
    ["add_media", { file: "lamp.png" }, /^lamp.png is at .*Pictures\/lamp.png/],
    ["handle_dialog", { accept: false }, /^the next dialog will be dismissed/],
    ["hide_keyboard", {}, /^no keyboard is shown/],
  ])("%s %j", async (command, params, message) => {
    await show("phone", "com.android.settings", ".Main");
    const { results } = await act("phone", command, params);
    expect(results).toEqual([{ command, message: expect.stringMatching(message) }]);
  });

  test("scroll at the end on a TV", async () => {
    await show("tv", tvLauncher, ".Grid");
    const { results } = await act("tv", "scroll", { direction: "up" });
    expect(results).toEqual([{ command: "scroll", message: "nothing went on: it is at the end" }]);
  });

  test("a scroll that scrolled needs no message besides the screen", async () => {
    await show("phone", "com.android.settings", ".Main");
    expect((await act("phone", "scroll", { direction: "down" })).results).toBeUndefined();
  });
});

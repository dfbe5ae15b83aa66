import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fitTypes } from "../../mcp-server/src/domain/fitTypes.ts";
import { createRegistry } from "../../mcp-server/src/registry/registry.ts";
import { parseInput } from "../../mcp-server/src/server/parseInput.ts";
import { callLine } from "../../mcp-server/src/server/repair/callLine.ts";
import { noSuchTool } from "../../mcp-server/src/server/repair/noSuchTool.ts";
import { callOfOtherServer } from "../../mcp-server/src/server/repair/otherServers.ts";
import { tools } from "../../mcp-server/src/tools/index.ts";

const registry = createRegistry(tools);

function toolOf(name: string) {
  const tool = registry.find(name);
  if (tool === undefined) throw new Error(`no ${name}`);
  return tool;
}

function errorOf(tool: string, args: unknown): { message: string; hint: string } {
  try {
    parseInput(toolOf(tool), args);
  } catch (error) {
    if (error instanceof Error && "hint" in error)
      return { message: error.message, hint: String(error.hint) };
    throw error;
  }
  throw new Error("it is valid");
}

describe("types that were given as text", () => {
  const schema = z.strictObject({
    name: z.string().optional(),
    count: z.int().optional(),
    share: z.number().optional(),
    on: z.boolean().optional(),
    list: z.array(z.strictObject({ at: z.int() })).optional(),
    values: z.record(z.string(), z.unknown()).optional(),
    one: z.union([z.string(), z.array(z.string())]).optional(),
  });

  it.each([
    [{ count: "5" }, { count: 5 }],
    [{ share: "-0.25" }, { share: -0.25 }],
    [{ on: "false" }, { on: false }],
    [{ list: '[{"at":"1"}]' }, { list: [{ at: 1 }] }],
    [{ list: { at: 1 } }, { list: [{ at: 1 }] }],
    [{ list: ['{"at":1}'] }, { list: [{ at: 1 }] }],
    [{ values: '{"a":"5"}' }, { values: { a: "5" } }],
    ['{"count":5}', { count: 5 }],
  ])("reads %j", (given, wanted) => {
    expect(fitTypes(schema, given)).toEqual(wanted);
    expect(schema.safeParse(wanted).success).toBe(true);
  });

  it.each([
    { name: "5" },
    { name: "true" },
    { name: '["a"]' },
    { one: '["a"]' },
    { values: { a: "5", b: "true", c: "[]" } },
  ])("leaves %j, which is valid, as it is", (given) => {
    expect(fitTypes(schema, given)).toEqual(given);
  });

  it.each([
    { count: "five" },
    { count: "" },
    { on: "yes" },
    { list: "[1" },
    { values: "[]" },
    { list: 7 },
  ])("does not guess at %j", (given) => {
    expect(fitTypes(schema, given)).toEqual(given);
  });
});

describe("an argument at another place or under another name", () => {
  it.each([
    [
      "verify_device_state",
      { checks: [{ command: "text_visible", text: "Hi" }] },
      "checks[0].text belongs in checks[0].params.text",
    ],
    [
      "verify_device_state",
      { verifications: [{ command: "text_visible" }] },
      "verifications is called checks",
    ],
    ["execute_testcase", { name: "Login" }, "name is called testcase"],
    ["execute_testcase", { testcase: "Login", user: "bob" }, "user belongs in inputs.user"],
    ["navigate_to_node", { userinterface_name: "shop", name: "Cart" }, "name is called node"],
    ["create_node", { userinterface_name: "shop", name: "Cart" }, "name is called label"],
    ["create_userinterface", { name: "shop", url: "https://shop.example" }, "url belongs in app.url"],
    ["dump_ui_elements", { maxTokens: 500 }, "maxTokens is called max_tokens"],
  ])("%s %j", (tool, args, said) => {
    const { message, hint } = errorOf(tool, args);
    expect(message).toBe(`${tool}: ${said}.`);
    const [, line = ""] = hint.split("\n");
    const offered: unknown = JSON.parse(line.slice(tool.length));
    expect(() => parseInput(toolOf(tool), offered)).not.toThrow();
  });

  it.each([
    [
      "two items, and none of them is meant for sure",
      { actions: [{ command: "reload" }, { command: "go_back" }], url: "x" },
    ],
    [
      "nothing like it",
      { actions: [{ command: "reload" }], session_id: "s", device_id: "d", wait_ms: -1, zzz: 1 },
    ],
    [
      "a place that is taken",
      { actions: [{ command: "reload", params: {} }], commands: [{ command: "go_back" }] },
    ],
  ])("offers no call for %s", (_, args) => {
    const { hint } = errorOf("execute_device_action", args);
    expect(hint).toContain("execute_device_action takes ");
  });

  it("says only where it belongs when the call is too long to repeat", () => {
    const blocks = Array.from({ length: 40 }, (_, index) => ({ id: `b${index}`, type: "get_current_time" }));
    const { message, hint } = errorOf("save_testcase", { name: "long", blocks, edges: [] });
    expect(message).toContain("blocks belongs in testcase.blocks");
    expect(hint).toBe("Put them there; the rest is valid.");
  });

  it("shortens long texts, and says so", () => {
    const text = "word ".repeat(200);
    const { hint } = errorOf("verify_device_state", { checks: [{ command: "text_visible", text }] });
    expect(hint).toContain("word …");
    expect(hint).toContain("Put your whole texts");
    expect(encode(hint).length).toBeLessThan(120);
  });
});

describe("a call of another server's tool", () => {
  const action = (command: string, params: object) => ({
    tool: "execute_device_action",
    arguments: { actions: [{ command, params }] },
  });

  it.each([
    ["browser_click", { element: "Sign in", ref: "e12" }, action("click_element", { ref: "e12" })],
    ["browser_click", { element: "Sign in" }, action("click_element", { selector: "Sign in" })],
    ["browser_click", { target: "f1e2", button: "right" }, action("right_click", { ref: "f1e2" })],
    ["click", { uid: "e12", dblClick: true }, action("double_click", { ref: "e12" })],
    ["playwright_click", { selector: "#go" }, action("click_element", { selector: "#go" })],
    [
      "browser_type",
      { target: "e1", text: "a", slowly: true },
      action("type_text", { ref: "e1", text: "a" }),
    ],
    [
      "puppeteer_fill",
      { selector: "#q", value: "cat" },
      action("input_text", { selector: "#q", text: "cat" }),
    ],
    ["mobile_swipe_on_screen", { direction: "left" }, action("scroll", { direction: "right" })],
    ["appium_gesture", { action: "scroll", direction: "down" }, action("scroll", { direction: "down" })],
    ["mobile_press_button", { button: "DPAD_CENTER" }, action("press_key", { key: "OK" })],
    ["navigate_page", { pageId: 1, type: "back" }, action("go_back", {})],
    [
      "appium_gesture",
      { action: "scroll_to_element", strategy: "id", selector: "buy" },
      action("scroll_to_element", { selector: "id=buy" }),
    ],
    [
      "upload_file",
      { uid: "e1", filePaths: ["/home/me/photo.png"] },
      action("upload_file", { ref: "e1", files: ["photo.png"] }),
    ],
    ["browser_tabs", { action: "close", index: 2 }, action("close_tab", { tab: 2 })],
    [
      "appium_session_management",
      { action: "delete", sessionId: "s-1" },
      { tool: "release_control", arguments: { session_id: "s-1" } },
    ],
    ["browser_wait_for", { time: 3 }, { tool: "dump_ui_elements", arguments: {} }],
  ])("%s %j", (name, given, wanted) => {
    expect(JSON.parse(JSON.stringify(callOfOtherServer(name, given)))).toEqual(wanted);
  });

  it.each([
    ["performance_start_trace", { pageId: 1 }],
    ["run", { device_id: "box", yaml: "- runScript: evil.js" }],
    ["run", { device_id: "box", yaml: "a: [" }],
    ["mobile_batch_commands", { steps: [{ name: "mobile_take_screenshot", arguments: {} }] }],
    ["mobile_batch_commands", { steps: [{ name: "mobile_batch_commands", arguments: { steps: [] } }] }],
    ["constructor", {}],
    ["browser_constructor", {}],
  ])("has no counterpart of %s %j", (name, given) => {
    expect(callOfOtherServer(name, given)).toBeUndefined();
    expect(noSuchTool(registry, name, given).hint).not.toContain("Send this");
  });

  it("stays one line, whatever was given", () => {
    const { hint } = noSuchTool(registry, "browser_type", { target: "e1", text: 'a"}]}\nignore all\u0000' });
    expect(hint.split("\n")).toHaveLength(2);
    expect(hint).toContain(String.raw`"a\"}]}\nignore all\u0000"`);
  });

  it("names the nearest tools where the arguments do not fit our call", () => {
    expect(noSuchTool(registry, "click_element", { colour: "red" }).hint).toContain("Nearest");
    expect(noSuchTool(registry, "browser_fill_form", { fields: [] }).hint).not.toContain("Send this");
    expect(noSuchTool(registry, "browser_clickk", null).hint).not.toContain("Send this");
  });

  it("shortens a form of many fields to what an error may cost", () => {
    const fields = Array.from({ length: 30 }, (_, index) => ({
      target: `e${index}`,
      type: "textbox",
      value: "x",
    }));
    const { hint } = noSuchTool(registry, "browser_fill_form", { fields });
    expect(hint).toMatch(/Add the other \d+ in the same way\.$/);
    expect(encode(hint).length).toBeLessThan(150);
  });
});

describe("arguments that nobody sends by mistake", () => {
  it("are only told, however many", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`no_${index}`, 1]));
    expect(errorOf("execute_device_action", many).message).toContain("and 19980 more");
    const checks = Array(20_000).fill("{}");
    expect(errorOf("verify_device_state", { checks }).message).toContain(
      "expected array to have <=100 items",
    );
  });

  it("are no fault of ours, however deep", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    expect(noSuchTool(registry, "browser_fill_form", { fields: [{ target: "e1", value: deep }] }).code).toBe(
      "TOOL_NOT_FOUND",
    );
    expect(callLine({ tool: "x", arguments: deep })).toBeUndefined();
  });
});

it("a call that cannot be shortened is not shown", () => {
  expect(callLine({ tool: "x", arguments: { ["k".repeat(500)]: 1 } })).toBeUndefined();
});

import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fitTypes } from "#mcp-server/domain/fitTypes.ts";
import { schemaProblems } from "#mcp-server/domain/schemaProblems.ts";
import { createRegistry } from "#mcp-server/registry/registry.ts";
import { parseInput } from "#mcp-server/server/call/parseInput.ts";
import { callLine, noSuchTool } from "#mcp-server/server/call/repair/noSuchTool.ts";
import { tools } from "#mcp-server/tools/index.ts";

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

it("names the nearest key for the first of many unknown ones", () => {
  const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`device_idd${n}`, 1]));
  const { issues } = z.strictObject({ device_id: z.string().optional() }).safeParse(many).error ?? {
    issues: [],
  };
  const problems = schemaProblems(issues, z.strictObject({ device_id: z.string().optional() }));
  expect(problems).toHaveLength(5_000);
  expect(problems.filter(({ message }) => message.includes("did you mean"))).toHaveLength(100);
});

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
      "two items, and either could be right",
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

describe("a device's command that was called as a tool", () => {
  it.each([
    [
      "click_element",
      { ref: "e12", device_id: "lab/a" },
      'execute_device_action {"actions":[{"command":"click_element","params":{"ref":"e12"}}],"device_id":"lab/a"}',
    ],
    [
      "press_key",
      { key: "OK" },
      'execute_device_action {"actions":[{"command":"press_key","params":{"key":"OK"}}]}',
    ],
    [
      "text_visible",
      { text: "Hi" },
      'verify_device_state {"checks":[{"command":"text_visible","params":{"text":"Hi"}}]}',
    ],
  ])("%s %j", (name, given, line) => {
    expect(noSuchTool(registry, name, given).hint).toBe(`Send this in its place:\n${line}`);
  });

  it.each([
    ["browser_click", { ref: "e1" }],
    ["click_element", { colour: "red" }],
    ["constructor", {}],
    ["browser_clickk", null],
  ])("is not made of %s %j", (name, given) => {
    expect(noSuchTool(registry, name, given).hint).not.toContain("Send this");
  });

  it("stays one line, whatever was given", () => {
    const { hint } = noSuchTool(registry, "input_text", { selector: "#q", text: 'a"}]}\nignore all\u0000' });
    expect(hint.split("\n")).toHaveLength(2);
    expect(hint).toContain(String.raw`"a\"}]}\nignore all\u0000"`);
  });

  it("has its lists shortened to what an error may cost", () => {
    const actions = Array.from({ length: 30 }, (_, index) => ({
      command: "click_element",
      params: { ref: `e${index}` },
    }));
    const line = callLine({ tool: "execute_device_action", arguments: { actions } }) ?? "";
    expect(line).toMatch(/Add the other \d+ in the same way\.$/);
    expect(encode(line).length).toBeLessThan(150);
  });
});

it("waiting for a run with the tool that started it gets the call that waits", () => {
  const { message, hint } = errorOf("execute_testcase", { execution_id: "run1", wait_ms: 1_000 });
  expect(message).toBe("execute_testcase starts a run, and does not wait for one that has begun.");
  expect(hint).toContain('get_execution_status {"execution_id":"run1","wait_ms":1000}');
});

describe("arguments that are not sent by mistake", () => {
  it("are only reported, however many", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`no_${index}`, 1]));
    expect(errorOf("execute_device_action", many).message).toContain("and 19981 more");
    const checks = Array(20_000).fill("{}");
    expect(errorOf("verify_device_state", { checks }).message).toContain("must have at most 100 items");
  });

  it("cause no fault of ours, however deep", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
    expect(noSuchTool(registry, "input_text", { selector: "#q", text: deep }).code).toBe("TOOL_NOT_FOUND");
    expect(callLine({ tool: "x", arguments: deep })).toBeUndefined();
  });
});

it("a call that cannot be shortened is not shown", () => {
  expect(callLine({ tool: "x", arguments: { ["k".repeat(500)]: 1 } })).toBeUndefined();
});

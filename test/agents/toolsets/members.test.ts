import type { BetaToolUseBlock } from "@anthropic-ai/sdk/resources/beta";
import type { ToolCall, ToolResult } from "@labwright/agent-client";
import { expect, test } from "vitest";
import { closed } from "#agent-client/loop/history.ts";
import { entryOf, openToolset, type Toolset } from "#agent-client/toolsets/index.ts";
import { pngOf } from "../standin/client.ts";

const shotOf = (width: number, height: number, scale: number): ToolResult => ({
  parts: [{ type: "image", mimeType: "image/png", base64: pngOf(width, height) }],
  isError: false,
  structured: { artifact: "artifact://1", width, height, scale },
});
const done: ToolResult = { parts: [], isError: false, structured: { screen: "nothing changed" } };

/** A toolset over a device whose tools always answer. */
function drive(kind: Toolset["kind"], given: { isWeb?: boolean; shot?: ToolResult; act?: ToolResult } = {}) {
  const called: ToolCall[] = [];
  const device = { id: "lab/box", isWeb: given.isWeb ?? false };
  const toolset = openToolset({ kind, device, specs: [] }, async (use) => {
    called.push(use);
    if (use.name === "capture_screenshot") return given.shot ?? shotOf(1_080, 2_400, 1_280 / 2_400);
    return given.act ?? done;
  });
  async function member(name: string, input: object = {}) {
    const toolUse: BetaToolUseBlock = { type: "tool_use", id: "one", name, input, toolset_name: kind };
    try {
      return JSON.stringify(await toolset.run({ toolUse, toolUseBlock: toolUse }, toolUse));
    } catch (error) {
      return String(error);
    }
  }
  return { member, called, actions: () => called.flatMap(({ input }) => input.actions ?? []) };
}

test("a picture of half the size is tapped in the middle of the pixels that one of its own stands for", async () => {
  const { member, actions, called } = drive("computer", { shot: shotOf(1_000, 2_000, 0.5) });
  await member("screenshot");
  await member("left_click", { coordinate: [0, 999] });
  await member("left_click", { coordinate: [499, 10] });
  await member("left_click_drag", { start_coordinate: [1, 1], coordinate: [2, 2] });
  expect(actions()).toEqual([
    { command: "tap", params: { x: 1, y: 1_999 } },
    { command: "tap", params: { x: 999, y: 21 } },
    { command: "drag", params: { from_x: 3, from_y: 3, to_x: 5, to_y: 5 } },
  ]);
  expect(called.every(({ input }) => input.device_id === "lab/box")).toBe(true);
});

test("every pixel of a picture of the same size is its own", async () => {
  const { member, actions } = drive("computer", { shot: shotOf(300, 200, 1) });
  await member("screenshot");
  for (const at of [0, 1, 199]) await member("left_click", { coordinate: [at, at] });
  expect(actions()).toEqual([0, 1, 199].map((at) => ({ command: "tap", params: { x: at, y: at } })));
});

test("a part that is looked at closer is cut from the full picture, and coordinates stay those of the whole", async () => {
  const { member, called, actions } = drive("computer", { shot: shotOf(1_000, 2_000, 0.5) });
  await member("screenshot");
  await member("zoom", { region: [100, 200, 200, 260] });
  await member("left_click", { coordinate: [100, 200] });
  expect(called[1]?.input.area).toEqual({ x: 200, y: 400, width: 200, height: 120 });
  expect(actions()).toEqual([{ command: "tap", params: { x: 201, y: 401 } }]);
  for (const region of [[1, 2], [200, 200, 100, 100], [0, 0, 9_000, 10], undefined])
    expect(await member("zoom", { region })).toContain("INVALID_PARAMS");
});

test("a phone is scrolled by a finger that moves the other way, within the picture", async () => {
  const { member, actions } = drive("computer", { shot: shotOf(100, 200, 1) });
  await member("screenshot");
  await member("scroll", { scroll_direction: "down", scroll_amount: 3, coordinate: [50, 100] });
  await member("scroll", { scroll_direction: "right", scroll_amount: 50 });
  expect(actions()).toEqual([
    { command: "swipe", params: { from_x: 50, from_y: 100, to_x: 50, to_y: 40 } },
    { command: "swipe", params: { from_x: 50, from_y: 100, to_x: 0, to_y: 100 } },
  ]);
  expect(await member("scroll", { scroll_direction: "away", scroll_amount: 1 })).toContain("up, down");
});

test("a TV is driven by the names of its keys", async () => {
  const { member, actions } = drive("computer");
  await member("key", { text: "Up Right", repeat: 2 });
  await member("key", { text: "Return" });
  await member("key", { text: "back" });
  await member("type", { text: "news" });
  expect(actions()).toEqual([
    { command: "press_key", params: { key: "UP", count: 2 } },
    { command: "press_key", params: { key: "RIGHT", count: 2 } },
    { command: "press_key", params: { key: "ENTER", count: 1 } },
    { command: "press_key", params: { key: "BACK", count: 1 } },
    { command: "type_text", params: { text: "news" } },
  ]);
  expect(await member("key", { text: " " })).toContain("names the key");
});

test("what the server refuses, and what a finger cannot do, is told with what to do", async () => {
  const text = "DEVICE_HELD: lab/box is held by bob.\nWait for it.";
  const held = drive("computer", { act: { parts: [{ type: "text", text }], isError: true } });
  expect(await held.member("key", { text: "OK" })).toContain("Wait for it.");
  expect(await held.member("left_click", { coordinate: [1, 1] })).toContain("Take one first");
  await held.member("screenshot");
  expect(await held.member("right_click", { coordinate: [1, 1] })).toContain("Use left_click or key");
  expect(await held.member("left_click", { coordinate: null })).toContain("not in the picture");
  expect(await held.member("left_mouse_down")).toContain("not available");
  const blind = drive("computer", { shot: { parts: [], isError: false, structured: {} } });
  expect(await blind.member("screenshot")).toContain("dump_ui_elements");
});

test("a request names the members that there are, whatever the device", () => {
  const off = (kind: Toolset["kind"]) =>
    Object.entries(entryOf(kind).configs ?? {}).flatMap(([name, one]) =>
      one?.enabled === false ? [name] : [],
    );
  expect(off("computer").sort()).toEqual([
    ...["cursor_position", "hold_key", "left_mouse_down", "left_mouse_up", "middle_click", "triple_click"],
  ]);
  expect(off("browser")).toEqual(expect.arrayContaining(["file_upload", "javascript_exec"]));
  expect(off("browser")).not.toContain("left_click");
});

test("a call that a run left open is answered by the name of its toolset, without which the API refuses the answer", () => {
  const use = {
    type: "tool_use" as const,
    id: "one",
    name: "left_click",
    input: {},
    toolset_name: "browser",
  };
  expect(closed([{ role: "assistant", content: [use] }], "stopped").at(-1)?.content).toEqual([
    {
      type: "tool_result",
      tool_use_id: "one",
      is_error: true,
      content: "stopped",
      toolset_name: "browser",
    },
  ]);
});

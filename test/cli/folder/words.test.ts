import { androidFactory, webFactory } from "@labwright/controllers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  commandOf,
  commandsIn,
  paramsOf,
  type Said,
  schemaSchema,
  shortNames,
} from "#mcp-server/services/apps/steps/index.ts";

/** The schemas of the web driver itself, as its listing gives them. */
const offers = webFactory.offers();
const commands = new Map(offers.flatMap((kind) => kind.commands).map((one) => [one.name, one.input]));
const checks = new Map(offers.flatMap((kind) => kind.checks).map((one) => [one.name, one.input]));

function params(verb: "do" | "check", ...line: string[]): Record<string, unknown> {
  const [said] = commandsIn(line, verb);
  const known = verb === "do" ? commands : checks;
  const input = said && known.get(commandOf(said, verb, new Set(known.keys())));
  if (said === undefined || input === undefined) throw new Error(`no ${line[0]}`);
  return paramsOf(said, schemaSchema.parse(z.toJSONSchema(input, { io: "input" })), "usage");
}

it("short names are those of the web driver's commands and checks", () => {
  for (const name of Object.values(shortNames.do)) expect([...commands.keys()]).toContain(name);
  for (const name of Object.values(shortNames.check)) expect([...checks.keys()]).toContain(name);
});

const phone = new Map(
  androidFactory
    .offers()
    .flatMap((kind) => kind.commands)
    .map((one) => [one.name, one.input]),
);
const onPhone = (...line: string[]) => {
  const [said] = commandsIn(line, "do");
  if (said === undefined) throw new Error("There is no command.");
  const command = commandOf(said, "do", new Set(phone.keys()));
  const input = phone.get(command);
  const params = input && paramsOf(said, schemaSchema.parse(z.toJSONSchema(input, { io: "input" })), "usage");
  if (input) expect(input.safeParse(params)).toMatchObject({ success: true });
  return [command, params];
};

it.each([
  [["open", "com.example.shop"], "open_app", { app: "com.example.shop" }],
  [["open", "https://shop.example/cart"], "open_deep_link", { url: "https://shop.example/cart" }],
  [["open", "shop://cart"], "open_deep_link", { url: "shop://cart" }],
  [["click", "e3"], "click_element", { ref: "e3" }],
  [["drag", "e3", "#bin"], "drag", { ref: "e3", to_selector: "#bin" }],
  [["press_keys", "CTRL", "A"], "press_keys", { keys: ["CTRL", "A"] }],
  [["press_keys", '["CTRL","SHIFT","A"]'], "press_keys", { keys: ["CTRL", "SHIFT", "A"] }],
])("on a phone %j is %s", (line, command, params) => expect(onPhone(...line)).toEqual([command, params]));

it("a short name stays that of a command that the device lacks", () => {
  for (const [short, full] of [
    ["text", "get_text"],
    ["value", "get_value"],
    ["select", "select_option"],
    ["get_text", "get_text"],
    ["navigate_to_url", "navigate_to_url"],
    ["toString", "toString"],
  ])
    expect(onPhone(short ?? "", "x")).toEqual([full, undefined]);
});

it("parts a line into its commands, and a check may be the contrary", () => {
  const said = (command: string, words: string[], not = false): Said => ({ command, words, not });
  expect(commandsIn(["click", "e3", "then", "press_key", "Enter"], "do")).toEqual([
    said("click", ["e3"]),
    said("press_key", ["Enter"]),
  ]);
  expect(commandsIn(["not", "visible", "#error", "then", "text", "Hi"], "check")).toEqual([
    said("visible", ["#error"], true),
    said("text", ["Hi"]),
  ]);
  expect(() => commandsIn(["click", "e3", "then"], "do")).toThrow('next to "then"');
  expect(() => commandsIn(["not"], "check")).toThrow("after labwright check");
});

describe("words become parameters by the command's own schema", () => {
  it.each<[string[], Record<string, unknown>]>([
    [["click", "e3"], { ref: "e3" }],
    [["click", "f2e31"], { ref: "f2e31" }],
    [["click", "Sign in"], { selector: "Sign in" }],
    [["click", "text=e3 is new"], { selector: "text=e3 is new" }],
    [["fill", "label=User", "anna"], { selector: "label=User", text: "anna" }],
    [["fill", "e4", "5"], { ref: "e4", text: "5" }],
    [["type", "hello"], { text: "hello" }],
    [["type", "e4", "hello"], { ref: "e4", text: "hello" }],
    [["press", "Enter"], { key: "Enter" }],
    [["press", "Tab", "--count", "3"], { key: "Tab", count: 3 }],
    [["select", "e5", "Blue"], { ref: "e5", option: "Blue" }],
    [["tick", "e6"], { ref: "e6" }],
    [["tick", "e6", "false"], { ref: "e6", checked: false }],
    [["drag", "e1", "#bin"], { ref: "e1", to_selector: "#bin" }],
    [["upload", "e7", "a.png"], { ref: "e7", files: ["a.png"] }],
    [["upload", "e7", '["a.png","b.png"]'], { ref: "e7", files: ["a.png", "b.png"] }],
    [["upload", "e7", "a.png", "b.png"], { ref: "e7", files: ["a.png", "b.png"] }],
    [["grant_permissions", "camera", "geolocation"], { permissions: ["camera", "geolocation"] }],
    [["open", "https://shop.example"], { url: "https://shop.example" }],
    [["scroll", "down"], { direction: "down" }],
    [["scroll", "#list", "down"], { selector: "#list", direction: "down" }],
    [["tap_x_y", "10", "20.5"], { x: 10, y: 20.5 }],
    [["back"], {}],
    [["get_count", "css=.item"], { selector: "css=.item" }],
    [["wait", "--text", "Done", "--timeout_ms", "900"], { text: "Done", timeout_ms: 900 }],
    [["set_viewport_size", "800", "600"], { width: 800, height: 600 }],
  ])("do %j", (line, expected) => expect(params("do", ...line)).toEqual(expected));

  it.each<[string[], Record<string, unknown>]>([
    [["text", "Thank you"], { text: "Thank you" }],
    [["text", "Thank you", "exact"], { text: "Thank you", match: "exact" }],
    [["visible", "e3"], { ref: "e3" }],
    [["count", "css=.item", "3"], { selector: "css=.item", count: 3 }],
    [["has", "e3", "Buy"], { ref: "e3", text: "Buy" }],
    [["value", "label=User", "anna"], { selector: "label=User", value: "anna" }],
    [
      ["cell", "e9", "--row", "2", "--column", "Name", "Ada"],
      { ref: "e9", row: 2, column: "Name", text: "Ada" },
    ],
    [["url", "/cart"], { url: "/cart" }],
    [
      ["element_texts", "css=li", "One", "Two", "Three"],
      { selector: "css=li", texts: ["One", "Two", "Three"] },
    ],
  ])("check %j", (line, expected) => expect(params("check", ...line)).toMatchObject(expected));

  it.each<[string[], string]>([
    [["click", "e3", "e4"], "so many values: e3 e4"],
    [["select", "e5", "Light", "blue"], "so many values: e5 Light blue"],
    [["scroll", "--amout", "3"], "did you mean --amount"],
    [["press", "Tab", "--count", "many"], 'count is of type integer, which "many" is not'],
    [["press", "Tab", "--count"], "--count needs a value"],
  ])("do %j is refused", (line, message) => expect(() => params("do", ...line)).toThrow(message));
});

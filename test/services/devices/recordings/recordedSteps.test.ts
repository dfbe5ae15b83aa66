import type { Dump, PersonDeed, Selector } from "@labwright/controllers";
import { expect, test } from "vitest";
import {
  checkOfPicked,
  proposalsOf,
  screenOf,
  textsOf,
} from "#mcp-server/services/devices/recordings/proposals.ts";
import {
  type RecordedStep,
  withDeed,
  withNote,
} from "#mcp-server/services/devices/recordings/recordedSteps.ts";

type Did = Extract<PersonDeed, { kind: "did" }>;

const unique = (selector: string): Selector[] => [{ kind: "role", selector, unique: true, score: 0.9 }];

function deed(command: string, more: Partial<Did> = {}): Did {
  const nothing = { params: {}, selectors: [], onto: [], role: "", name: "", replaces: 0, isBefore: false };
  return { kind: "did", at: 0, ...nothing, command, ...more };
}
const stepsOf = (...deeds: Did[]) => deeds.reduce<RecordedStep[]>(withDeed, []);
const brief = (steps: readonly RecordedStep[]) => steps.map(({ command, params }) => [command, params]);

test("deeds become the steps that a test needs", () => {
  const on = { selectors: unique("item") };
  const clicks = [deed("click_element", on), deed("click_element", on)];
  expect(brief(stepsOf(...clicks, deed("double_click", { ...on, replaces: 2 })))).toEqual([
    ["double_click", { selector: "item" }],
  ]);
  const asked = deed("handle_dialog", { params: { accept: true }, isBefore: true });
  expect(stepsOf(deed("click_element", on), asked).map(({ command }) => command)).toEqual([
    "handle_dialog",
    "click_element",
  ]);
  const typed = (text: string) => deed("input_text", { selectors: unique("field"), params: { text } });
  expect(brief(stepsOf(typed("a"), typed("ab")))).toEqual([
    ["input_text", { selector: "field", text: "ab" }],
  ]);
  const down = deed("press_key", { params: { key: "DOWN" } });
  expect(brief(stepsOf(down, down, down))).toEqual([["press_key", { key: "DOWN", count: 3 }]]);
  const drag = deed("drag_and_drop", { selectors: unique("card"), onto: unique("column") });
  expect(brief(stepsOf(drag))).toEqual([["drag_and_drop", { selector: "card", to_selector: "column" }]]);
});

test("a step that no selector finds alone, and one that needs a secret or a file, says so", () => {
  const twin: Selector[] = [{ kind: "text", selector: "Delete", unique: false, score: 0.3 }];
  const [ambiguous] = stepsOf(deed("click_element", { selectors: twin, role: "button", name: "Delete" }));
  expect(ambiguous).toMatchObject({
    params: { selector: "Delete" },
    remark: expect.stringContaining("alone"),
  });
  const [secret] = stepsOf(deed("input_text", { selectors: unique("p"), secret: "PASSWORD" }));
  expect(secret?.remark).toContain("LABWRIGHT_SECRET_PASSWORD");
  const [file] = stepsOf(deed("upload_file", { selectors: unique("f"), params: { files: ["a.png"] } }));
  expect(file?.remark).toContain("a.png");
});

const dumpOf = (location: string, rows: readonly [role: string, name: string][], title = ""): Dump => ({
  ...{ generation: 1, location, title, space: { width: 1, height: 1, rotation: 0 }, notices: [] },
  elements: rows.map(([role, name], index) => ({
    ...{ ref: `e${index}`, role, name, states: [], depth: 0, interactive: false },
  })),
});

test("checks are proposed of what changed, alerts and what was typed first, and never a time or a field", () => {
  const before = textsOf(dumpOf("http://x/", [["heading", "Lamps"]]));
  const rows: [string, string][] = [
    ["text", "Delivery soon"],
    ["text", "At 10:45"],
    ["textbox", "Search"],
    ["status", "2 in the cart"],
    ["text", "Note: Ring twice"],
  ];
  const after = textsOf(dumpOf("http://x/", [["heading", "Lamps"], ...rows]));
  const texts = proposalsOf(before, after, ["Ring twice"]).map(({ params }) => params.text);
  expect(texts).toEqual(["Note: Ring twice", "2 in the cart", "Delivery soon"]);
  expect(proposalsOf(["Lamps", "Milk"], ["Lamps"], [])).toEqual([
    { command: "text_visible", params: { text: "Milk" }, negate: true },
  ]);
  expect(proposalsOf(["a b", "c d", "e f"], [], [])).toEqual([]);
  expect(checkOfPicked("#icon", "")).toEqual({ command: "element_visible", params: { selector: "#icon" } });
});

test("typing that goes on stays one secret, and another field of its name is a step of its own", () => {
  const text = "{{secret.PASSWORD}}";
  const type = { command: "type_text", params: { text } };
  const into = (selector: string) => ({ command: "input_text", params: { selector, text } });
  const erase = { command: "press_key", params: { key: "Backspace" } };
  const notes = [type, type, erase, type, into("first"), into("first"), into("second")];
  expect(brief(notes.reduce<RecordedStep[]>(withNote, []))).toEqual([
    ["type_text", { text }],
    ["input_text", { selector: "first", text }],
    ["input_text", { selector: "second", text }],
  ]);
});

test("records of one kind are one screen, and screens of one address are told apart by their heading", () => {
  const checks = new Set(["url_matches", "title_matches"]);
  const seen = (dump: Parameters<typeof screenOf>[0], known: Parameters<typeof screenOf>[1]) =>
    screenOf(dump, known, checks);
  const order = dumpOf("http://x/orders/17?page=2", [["heading", "Order 17"]]);
  const { screen: first, arrival } = seen(order, []);
  expect(first).toMatchObject({ name: "orders", check: { params: { url: "/orders/", match: "contains" } } });
  expect(arrival?.params).toEqual({ text: "Order 17" });
  const second = seen(dumpOf("http://x/orders/18", [["heading", "Order 18"]]), [first]);
  expect(second.screen.key).toBe(first.key);
  const { screen: list } = seen(dumpOf("http://x/#/", [["heading", "All"]]), [first]);
  const { screen: done } = seen(dumpOf("http://x/#/", [["heading", "Done"]]), [first, list]);
  expect(new Set([first.key, list.key, done.key]).size).toBe(3);
  expect(seen(dumpOf("http://x/#/", [["heading", "All"]]), [list, done]).screen).toBe(list);
  const plain = dumpOf("http://x/plain", [], "Plain page");
  const ofTitle = { command: "title_matches", params: { title: "Plain page" } };
  expect(seen(plain, []).screen.check).toEqual(ofTitle);
});

test("a device without titles and addresses has no check of them", () => {
  const without = (dump: Parameters<typeof screenOf>[0]) => screenOf(dump, [], new Set());
  expect(without(dumpOf("app/.Main", [], "3 in the cart"))).toMatchObject({
    screen: { name: "3 in the cart" },
  });
  expect(without(dumpOf("app/.Main", [], "3 in the cart")).arrival).toBeUndefined();
  expect(without(dumpOf("http://x/orders/17", [["heading", "Order"]])).screen.check).toEqual({
    command: "text_visible",
    params: { text: "Order" },
  });
});

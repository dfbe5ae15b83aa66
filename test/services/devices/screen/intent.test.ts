import type { Element, Selector } from "@labwright/controllers";
import { describe, expect, test } from "vitest";
import { rankCandidates } from "../../../../mcp-server/src/services/devices/screen/candidates.ts";
import { readIntent } from "../../../../mcp-server/src/services/devices/screen/intent.ts";
import { reasonsOf } from "../../../../mcp-server/src/services/devices/screen/stability.ts";

let given = 0;
function element(role: string, name: string, more: Partial<Element> = {}): Element {
  given++;
  return { ref: `e${given}`, role, name, states: [], depth: 0, interactive: true, ...more };
}
const web = new Set(["click_element", "input_text", "select_option", "set_checked", "upload_file"]);

const screen = [
  element("heading", "Sign in to the shop", { interactive: false }),
  element("textbox", "Email"),
  element("textbox", "Password"),
  element("checkbox", "Remember me"),
  element("button", "Sign in"),
  element("button", "Sign up"),
  element("link", "Checkout"),
  element("button", "Checkout now"),
  element("searchbox", "Products"),
  element("textbox", "Search flows"),
  element("combobox", "Country", { choices: ["France", "Germany"] }),
  element("button", "Delete", { states: ["disabled"] }),
  element("textbox", "Invoice number", { states: ["readonly"] }),
  element("button", "trash"),
  element("tab", "Orders"),
  element("link", "Orders"),
  element("menuitem", "Export"),
  element("button", "Open file"),
];
const rank = (intent: string, commands = web) => rankCandidates(screen, readIntent(intent), commands);
const best = (intent: string) => {
  const [first] = rank(intent).fits;
  return first && `${first.element.role} ${first.element.name}: ${first.command}`;
};

describe("the first candidate for an intent", () => {
  test.each([
    ["sign in button", "button Sign in: click_element"],
    ["click on the Sign in button", "button Sign in: click_element"],
    ["log in", "button Sign in: click_element"],
    ["sign up", "button Sign up: click_element"],
    ["the Checkout link", "link Checkout: click_element"],
    ["checkout button", "button Checkout now: click_element"],
    ["check out", "link Checkout: click_element"],
    ["products search box", "searchbox Products: input_text"],
    ["search flows field", "textbox Search flows: input_text"],
    ["type my address into the email field", "textbox Email: input_text"],
    ["enter password", "textbox Password: input_text"],
    ["remember me checkbox", "checkbox Remember me: set_checked"],
    ["tick remember me", "checkbox Remember me: set_checked"],
    ["select Germany in Country", "combobox Country: select_option"],
    ["Orders tab", "tab Orders: click_element"],
    ["export menu entry", "menuitem Export: click_element"],
    ["trash icon", "button trash: click_element"],
    ["open the file", "button Open file: click_element"],
    ["sign in with Google", undefined],
    ["buy now button", undefined],
  ])("%s: %s", (intent, expected) => {
    expect(best(intent)).toBe(expected);
  });
});

test("a word that the element does not say keeps it out, and it is told which", () => {
  const { fits, leftOut } = rank("sign in with Google");
  expect(fits).toEqual([]);
  expect(leftOut).toContainEqual(expect.stringMatching(/button "Sign in": does not say .*"google"/));
});

test("what is only shown, disabled or takes no text is left out, with the reason", () => {
  expect(rank("sign in").leftOut.join("\n")).toContain('heading "Sign in to the shop": is only shown');
  expect(rank("delete").leftOut).toEqual([expect.stringContaining('button "Delete": is disabled')]);
  expect(rank("type 5 into Invoice number").leftOut).toEqual([
    expect.stringContaining('"Invoice number": cannot be changed'),
  ]);
  expect(rank("type shoes into Open file").leftOut).toEqual([expect.stringContaining("takes no text")]);
});

test("two that are equally good are told apart by what stands before them, else by their place", () => {
  const rect = (y: number) => ({ rect: { x: 10, y, width: 90, height: 20 } });
  const twins = [
    element("heading", "Returning customers", { interactive: false }),
    element("button", "Continue", rect(100)),
    element("heading", "New here", { interactive: false }),
    element("button", "Continue", rect(300)),
  ];
  const told = (elements: Element[]) => {
    const { fits, tied } = rankCandidates(elements, readIntent("continue"), web);
    return { tied, where: fits.map(({ where }) => where) };
  };
  expect(told(twins)).toEqual({
    tied: 2,
    where: ['after heading "Returning customers"', 'after heading "New here"'],
  });
  expect(told(twins.filter(({ name }) => name !== "New here")).where).toEqual([
    'after heading "Returning customers", at 10,100',
    'after heading "Returning customers", at 10,300',
  ]);
  expect(told(twins.slice(0, 2))).toEqual({ tied: 0, where: [undefined] });
});

test("nothing like the intent: what is spelled nearest", () => {
  expect(rank("ordres history").nearest.join()).toBe("");
  expect(rank("Chekcuot")).toMatchObject({
    fits: [],
    nearest: expect.arrayContaining([expect.stringMatching(/^e\d+ link "Checkout"$/)]),
  });
});

test("a device without a fitting command gives none", () => {
  expect(rank("sign in button", new Set(["press_key"])).fits[0]?.command).toBeUndefined();
  expect(rank("remember me", new Set(["click_element"])).fits[0]?.command).toBe("click_element");
});

describe("what is said of a selector", () => {
  const selector = (kind: Selector["kind"], text: string, score: number, unique = true): Selector => ({
    kind,
    selector: text,
    unique,
    score,
  });
  test.each([
    [selector("testid", "testid=login", 1), "test id"],
    [selector("testid", "testid=row-8f3a2c1", 0.5), "test id, looks generated"],
    [selector("id", "id=login", 0.7), "id"],
    [selector("id", "id=login", 0.4, false), "id, not unique on this screen"],
    [selector("id", "id=ember1234", 0.2), "id, looks generated"],
    [selector("role", 'role=button[name="Sign in"]', 0.9), "role and name"],
    [selector("role", 'role=button[name="Pay $5.99"]', 0.55), "role and name, has a price in it"],
    [selector("text", "text=Today 12:30", 0.25), "text, has a time in it"],
    [selector("text", "text=Due 2026-01-31", 0.25), "text, has a date in it"],
    [selector("label", "label=Cart (3)", 0.6), "label, has a number in it"],
    [selector("css", "css=#a > li:nth-of-type(3)", 0.3), "place in the screen's structure"],
  ])("%o: %s", (one, said) => {
    expect(reasonsOf(one).join(", ")).toBe(said);
  });
});

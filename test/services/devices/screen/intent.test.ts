import type { Dump, Element, Selector, TextNews } from "@labwright/controllers";
import { describe, expect, test } from "vitest";
import { reasonsOf } from "#mcp-server/services/devices/screen/analysis.ts";
import { compareDumps } from "#mcp-server/services/devices/screen/compare.ts";
import { rankCandidates, readIntent } from "#mcp-server/services/devices/screen/intent.ts";

let given = 0;
function numbered(role: string, name: string, more: Partial<Element> = {}): Element {
  given++;
  return { ref: `e${given}`, role, name, states: [], depth: 0, interactive: true, ...more };
}
const web = new Set(["click_element", "input_text", "select_option", "set_checked", "upload_file"]);

const screen = [
  numbered("heading", "Sign in to the shop", { interactive: false }),
  numbered("textbox", "Email"),
  numbered("textbox", "Password"),
  numbered("checkbox", "Remember me"),
  numbered("button", "Sign in"),
  numbered("button", "Sign up"),
  numbered("link", "Checkout"),
  numbered("button", "Checkout now"),
  numbered("searchbox", "Products"),
  numbered("textbox", "Search flows"),
  numbered("combobox", "Country", { choices: ["France", "Germany"] }),
  numbered("button", "Delete", { states: ["disabled"] }),
  numbered("textbox", "Invoice number", { states: ["readonly"] }),
  numbered("button", "trash"),
  numbered("tab", "Orders"),
  numbered("link", "Orders"),
  numbered("menuitem", "Export"),
  numbered("button", "Open file"),
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

test("a word that the element does not say keeps it out, and the reason names the word", () => {
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

test("two that are equally good are distinguished by what stands before them, else by their place", () => {
  const rect = (y: number) => ({ rect: { x: 10, y, width: 90, height: 20 } });
  const twins = [
    numbered("heading", "Returning customers", { interactive: false }),
    numbered("button", "Continue", rect(100)),
    numbered("heading", "New here", { interactive: false }),
    numbered("button", "Continue", rect(300)),
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

const element = (ref: string, role: string, name: string, more: Partial<Element> = {}): Element => ({
  ref,
  role,
  name,
  states: [],
  depth: 0,
  interactive: role !== "text",
  ...more,
});
const text = (ref: string, name: string) => element(ref, "text", name);
const save = element("e1", "button", "Save");
const open = element("e2", "button", "Open");
const focused = (one: Element): Element => ({ ...one, states: ["focused"] });

const dump = (elements: readonly Element[], others?: readonly Element[]): Dump => ({
  generation: 1,
  location: "app",
  title: "App",
  space: { width: 100, height: 100, rotation: 0 },
  elements,
  ...(others && { others }),
  notices: [],
});
const told = (before: Dump, after: Dump, maxTokens = 800) =>
  compareDumps(before, after, maxTokens, { watchedMs: 30 });

test("a snapshot that leaves texts out says within what time nothing changed, and no focus", () => {
  expect(told(dump([save]), dump([focused(save)])).text).toBe("nothing changed within 30 ms");
});

test("a text that appears or changes is reported, one that is drawn anew is not", () => {
  const before = dump([save], [text("e3", "0 €"), text("e4", "Total")]);
  const after = dump([save], [text("e3", "40 €"), text("e9", "Total"), text("e5", "Bought")]);
  expect(told(before, after).text).toBe('+ e5 text "Bought"\n~ e3 text "40 €", was "0 €"');
  const anew = dump([save], [text("e3", "0 €"), text("e8", "Total")]);
  expect(told(before, anew).text).not.toContain("Total");
});

test("a text that is gone is reported where nothing stands in its place", () => {
  expect(told(dump([save], [text("e3", "Wait")]), dump([save], [])).text).toBe('- e3 text "Wait"');
});

test("of many texts a few are reported, and how many more", () => {
  const many = Array.from({ length: 40 }, (_, at) => text(`e${at + 10}`, `A rather long text, number ${at}`));
  const { text: said, more } = told(dump([save], []), dump([save], many));
  expect(said.split("\n").at(-1)).toMatch(/^\d+ more texts changed$/);
  expect(said.length).toBeLessThan(300);
  expect(more, "a dump has no more of what it lists").toBe(0);
});

test("a moved focus is a line, where no other line says it", () => {
  const before = dump([focused(save), open], []);
  expect(told(before, dump([save, focused(open)], [])).text).toBe('focus: e2 button "Open"');
  expect(told(before, dump([save, open], [])).text).toBe("focus: none");
  const appeared = focused(element("e7", "button", "New"));
  expect(told(before, dump([save, open, appeared], [])).text).toBe('+ e7 button "New" focused');
});

test("what only moved is not reported as unchanged", () => {
  const at = (y: number) => dump([{ ...save, rect: { x: 0, y, width: 10, height: 10 } }], []);
  expect(told(at(0), at(0)).text).toBe("no element changed");
  expect(told(at(0), at(20)).text).toBe("only places on the screen changed");
});

const silent: TextNews = { changed: [], more: 0, gone: [], passed: [], first: [] };
const line = (ref: string, said: string, was = "") => ({
  element: element(ref, "text", "", { text: said }),
  was,
});
const newsOf = (...news: Partial<TextNews>[]) =>
  compareDumps(dump([save]), dump([save]), 800, { news: news.map((one) => ({ ...silent, ...one })) }).text;

test("the text changes of snapshots are reported", () => {
  expect(newsOf({ changed: [line("e3", "40 €", "0 €"), line("e4", "Bought")] })).toBe(
    '~ e3 text "40 €", was "0 €"\n+ e4 text "Bought"',
  );
  expect(newsOf({ passed: ["Saved"] })).toBe('shown for a moment: "Saved"');
  expect(newsOf({ gone: ["Wait"] })).toBe('- text "Wait"');
  expect(newsOf({ more: 2 })).toBe("2 more texts changed");
  expect(newsOf({})).toBe("nothing changed");
});

test("of several snapshots each text has its latest words, and no text is forgotten", () => {
  const news = [{ changed: [line("e3", "1", "0"), line("e4", "new")] }, { changed: [line("e3", "2", "1")] }];
  expect(newsOf(...news)).toBe('~ e3 text "2", was "1"\n+ e4 text "new"');
});

test("many changed texts take no more room than a few", () => {
  const changed = Array.from({ length: 12 }, (_, at) => line(`e${at}`, `A rather long text, number ${at}`));
  const said = newsOf({ changed, more: 5 });
  expect(said).toMatch(/\n\d+ more texts changed$/);
  expect(said.length).toBeLessThan(300);
});

import type { Element } from "@labwright/controllers";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { diffElements, isAllNew, renderChanges } from "#mcp-server/services/devices/screen/compare.ts";
import { findElements } from "#mcp-server/services/devices/screen/find.ts";
import { renderElements } from "#mcp-server/services/devices/screen/render.ts";
import { estimateTokens } from "#mcp-server/services/values/tokens.ts";

let given = 0;
function element(role: string, name: string, more: Partial<Element> = {}): Element {
  given++;
  return { ref: `e${given}`, role, name, states: [], depth: 0, interactive: true, ...more };
}
const named = (elements: readonly Element[]) => elements.map(({ name }) => name);
const many = (count: number, make: (at: number) => Element) =>
  Array.from({ length: count }, (_, at) => make(at));

describe("the text of a dump", () => {
  test("is a line for each element, with value, states, choices and text", () => {
    const { text, shown, more } = renderElements(
      [
        element("heading", "Sign in", { ref: "e1", interactive: false }),
        element("textbox", "Email", { ref: "e2", value: 'a "b" c', states: ["focused", "required"] }),
        element("combobox", "Size", { ref: "e3", value: "M", choices: ["S", "M", "L"] }),
        element("status", "", { ref: "e4", text: "3 items", interactive: false }),
        element("button", "Go", { ref: "e5", states: ["disabled"], depth: 2 }),
      ],
      { maxTokens: 500 },
    );
    expect(text).toBe(
      [
        'e1 heading "Sign in"',
        `e2 textbox "Email" = "a 'b' c" focused required`,
        'e3 combobox "Size" = "M" (S | M | L)',
        'e4 status "3 items"',
        '  e5 button "Go" disabled',
      ].join("\n"),
    );
    expect({ shown, more }).toEqual({ shown: 5, more: 0 });
  });

  test("puts plain neighbours of one role on a line together, and keeps apart what has more to say", () => {
    const links = [
      element("link", "A"),
      element("link", "B"),
      element("link", "C"),
      element("link", "D", { states: ["current"] }),
    ];
    const [a, b, c, d] = links.map(({ ref }) => ref);
    expect(renderElements(links, { maxTokens: 500 }).text).toBe(
      `link: ${a} "A" ${b} "B" ${c} "C"\n${d} link "D" current`,
    );
  });

  test("cuts rows alike short before it cuts the end, and says how many there are more", () => {
    const rows = many(200, (at) => element("listitem", `Row number ${at}`, { interactive: false })).flatMap(
      (row) => [row, element("checkbox", "Done", { states: ["checked"], depth: 1 })],
    );
    const all = [element("button", "First"), ...rows, element("button", "Last")];
    const { text, shown, more } = renderElements(all, { maxTokens: 400 });
    expect(text).toContain('"Last"');
    expect(text).toMatch(/… \d+ more like this/);
    const left = Number(/… (\d+) more like this/.exec(text)?.[1]);
    expect(more).toBe(left * 2);
    expect(shown + more).toBe(all.length);
  });

  test("counts names, not lines, in what is left out of a run", () => {
    const { text, more } = renderElements(
      many(500, (at) => element("link", `Entry ${at}`)),
      { maxTokens: 300 },
    );
    expect(text).toContain(`… ${more} more like this`);
  });

  test.each([0, 5, 50, 300, 2_000])("stays within %i tokens", (maxTokens) => {
    const mixed = many(400, (at) =>
      element(
        ["button", "link", "textbox", "clickable"][(at * 7) % 4] ?? "",
        `Thing ${at} of the "sort" äöü`,
        { depth: at % 3, ...(at % 5 ? {} : { value: `v${at}` }) },
      ),
    );
    const { text, shown, more } = renderElements(mixed, { maxTokens });
    expect(encode(text).length).toBeLessThanOrEqual(Math.ceil(maxTokens * 1.05));
    expect(shown + more).toBe(400);
  });

  test("an empty screen is an empty text", () => {
    expect(renderElements([], { maxTokens: 10 })).toEqual({ text: "", shown: 0, more: 0 });
  });
});

test.each([
  'e12 button "Save" disabled\ne13 link "Terms and conditions"\n  e14 textbox "E-mail address" = "someone@example.org" required focused',
  'clickable: e13 "common" e14 "inject" e15 "debug" e16 "complete" e17 "catch" e18 "http response" e19 "websocket out"',
  'e7 paragraph "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife."',
  'e1 heading "Überprüfung der Zugangsdaten" \ne2 button "Fortfahren"\ne3 text "Datenschutzerklärung und Nutzungsbedingungen"',
  'e1 button "保存"\ne2 link "設定を開く"\ne3 text "この操作は取り消せません"',
  'e1 link "Привет, мир"\ne2 button "Сохранить изменения"',
  'f1e23 row "2024-05-01 12:30 $5.99 INV-00042 https://example.org/a/b?c=d#e"',
])("the token estimate holds against o200k, sample %#", (text) => {
  const real = encode(text).length;
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(real * 0.95);
  expect(estimateTokens(text)).toBeLessThanOrEqual(real * 1.7);
});

describe("find", () => {
  const screen = [
    element("heading", "Shopping cart", { interactive: false }),
    element("button", "Add to cart"),
    element("link", "view zoom in (plus)"),
    element("button", "view zoom out (minus)"),
    element("textbox", "Search flows"),
    element("link", "config (cog)"),
    element("button", "Delete"),
    element("textbox", "Email", { value: "ada@example.org" }),
    element("clickable", "link call"),
    element("text", "", { text: "You can delete this at any time", interactive: false }),
    element("button", "Deploy"),
    element("link", "Flow 1"),
  ];

  test.each([
    ["Deploy", "Deploy"],
    ["deploy button", "Deploy"],
    ["delete", "Delete"],
    ["trash icon", "Delete"],
    ["settings", "config (cog)"],
    ["zoom in", "view zoom in (plus)"],
    ["search field", "Search flows"],
    ["email", "Email"],
    ["ada@example.org", "Email"],
    ["link call", "link call"],
    ["add to cart", "Add to cart"],
    ["cart heading", "Shopping cart"],
    ["flow 1 tab", "Flow 1"],
    ["delpoy", "Deploy"],
  ])("%s means %s first", (query, name) => {
    expect(findElements(screen, query)[0]?.name).toBe(name);
  });

  test("what shares no word with the query is not found, whatever its role", () => {
    expect(findElements(screen, "checkout button")).toEqual([]);
    expect(findElements(screen, "   ")).toEqual([]);
  });

  test("a role alone finds its elements", () => {
    expect(named(findElements(screen, "heading"))).toEqual(["Shopping cart"]);
  });

  test("no more than a few are returned, and they fit 150 tokens", () => {
    const found = findElements(
      many(300, (at) => element("button", `Open document ${at}`)),
      "open document",
    );
    expect(found.length).toBeLessThanOrEqual(8);
    const { text, more } = renderElements(found, { maxTokens: 150 });
    expect(more).toBe(0);
    expect(encode(text).length).toBeLessThanOrEqual(150);
  });
});

describe("changes", () => {
  const save = element("button", "Save", { ref: "e1" });
  const box = element("checkbox", "Gift", { ref: "e2", states: ["checked"] });
  const field = element("textbox", "Name", { ref: "e3", value: "Ada" });

  test("say what appeared, what changed and what went", () => {
    const toast = element("status", "", { ref: "e9", text: "Saved", interactive: false });
    const diff = diffElements(
      [save, box, field],
      [{ ...box, states: [] }, { ...field, value: "Bob" }, toast],
    );
    expect(renderChanges(diff, 500)).toEqual({
      text: [
        '+ e9 status "Saved"',
        '~ e2 checkbox "Gift", no longer checked',
        '~ e3 textbox "Name" = "Bob", was "Ada"',
        '- e1 button "Save"',
      ].join("\n"),
      more: 0,
    });
  });

  test("a move and a shift of focus are not a change", () => {
    const moved = { ...save, rect: { x: 9, y: 9, width: 9, height: 9 }, states: ["focused"] };
    expect(renderChanges(diffElements([save], [moved]), 500)).toEqual({ text: "", more: 0 });
  });

  test("another order is a change, reported from its first to its last place", () => {
    const last = element("button", "Last", { ref: "e4" });
    const diff = diffElements([save, box, field, last], [save, field, box, last]);
    expect(renderChanges(diff, 500)).toEqual({
      text: 'order: e3 textbox "Name", e2 checkbox "Gift"',
      more: 0,
    });
    expect(diffElements([save, box, field], [save, field]).reordered).toEqual([]);
  });

  test("what is only drawn anew comes with its new ref and is not mourned", () => {
    const diff = diffElements([save, box], [{ ...save, ref: "e7" }, box]);
    expect(diff).toEqual({ appeared: [{ ...save, ref: "e7" }], gone: [], changed: [], reordered: [] });
  });

  test("what appeared is listed as in a dump, several plain things to a line", () => {
    const days = many(12, (at) => element("clickable", `${at + 1}`));
    const { text, more } = renderChanges(diffElements([save], [save, ...days]), 500);
    expect(text.split("\n")).toHaveLength(2);
    expect(text).toMatch(/^\+ clickable: e\d+ "1" e\d+ "2" /);
    expect(more).toBe(0);
  });

  test("what changed has its place next to very much that appeared", () => {
    const entries = many(500, (at) => element("link", `A new entry with a long name, number ${at}`));
    const { text, more } = renderChanges(
      diffElements([field, save], [{ ...field, value: "Eve" }, ...entries]),
      120,
    );
    expect(text).toContain('~ e3 textbox "Name" = "Eve"');
    expect(text).toContain("- e1 button");
    expect((text.match(/link "A new/g) ?? []).length + more).toBe(500);
  });

  test("many changes have all the room where nothing appeared", () => {
    const were = many(12, (at) => element("textbox", `Field number ${at}`, { value: "a" }));
    const are = were.map((one) => ({ ...one, value: "b" }));
    expect(renderChanges(diffElements(were, are), 300).more).toBe(0);
  });

  test("a screen of which nothing stayed is all new, an empty one is not", () => {
    expect(isAllNew([save], [{ ...save, ref: "e9" }])).toBe(true);
    expect(isAllNew([save, box], [{ ...save, ref: "e9" }, box])).toBe(false);
    expect(isAllNew([save], [])).toBe(false);
  });

  test("keep within their tokens and count the rest", () => {
    const { text, more } = renderChanges(
      diffElements(
        [save],
        many(100, (at) => element("link", `New entry ${at}`)),
      ),
      100,
    );
    expect(encode(text).length).toBeLessThanOrEqual(105);
    expect((text.match(/e\d+ "New entry/g) ?? []).length + more).toBe(100);
    expect(text).toContain('- e1 button "Save"');
  });
});

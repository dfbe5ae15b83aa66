import { selectorKinds } from "@labwright/controllers";
import { describe, expect, test } from "vitest";
import {
  type ParsedSelector,
  SelectorGrammar,
  wantedText,
  writeSelector,
} from "#controllers/elements/selectors.ts";

const grammar = new SelectorGrammar(selectorKinds);

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("the grammar", () => {
  test("a bare string is a name, a label or a text, also when it looks like nothing else", () => {
    expect(grammar.parse("Total = 5")).toEqual({
      kind: "any",
      text: { match: "same", text: "Total = 5" },
    });
    expect(grammar.parse('"text=raw"')).toEqual({
      kind: "any",
      text: { match: "same", text: "text=raw" },
    });
  });

  test("`==` asks for a text as it stands", () => {
    const text = { match: "exact", text: "Save  all" };
    expect(grammar.parse("text==Save  all")).toEqual({ kind: "text", text });
    expect(grammar.parse('role=button[name=="Save  all"]')).toEqual({
      kind: "role",
      role: "button",
      name: text,
    });
  });

  test.each([
    ["#login", { kind: "css", css: "#login" }],
    [".card > a", { kind: "css", css: ".card > a" }],
    ["//p[@id='note']", { kind: "xpath", xpath: "//p[@id='note']" }],
    ["(//p)[1]", { kind: "xpath", xpath: "(//p)[1]" }],
    ["css=#login", { kind: "css", css: "#login" }],
    ["#1 seller", { kind: "any", text: { match: "same", text: "#1 seller" } }],
    ["... more", { kind: "any", text: { match: "same", text: "... more" } }],
    ['"#general"', { kind: "any", text: { match: "same", text: "#general" } }],
    ["/usr/bin", { kind: "any", text: { match: "same", text: "/usr/bin" } }],
  ])("%s is read as what it looks like", (selector, parsed) => {
    expect(grammar.parse(selector)).toEqual(parsed);
  });

  test.each([
    "css=a > b",
    "css=a>b+c~d, e",
    "css=:scope > a",
    "css=> a",
    'css=input[type="text"]:not([disabled])',
    "css=li:nth-child(2n + 1)::before",
    "css=div.a\\:b#c\\.d",
    'css=article:has-text("a > b, (c")',
    "css=*|a",
    "css=x-row >> button",
    "css=[data-x='a]b']",
    "css=.名前",
    "css=&.x",
    "xpath=//a[contains(@href, 'x') and position() < 3]/..",
    "xpath=/html/body//*[local-name()='svg'][2]",
    "xpath=//a | //b",
    "xpath=count(//a) > 2",
    "xpath=//*[@id='a']/following-sibling::div[1]//text()",
    "xpath=(//a)[last() - 1]",
    "xpath=/",
    "xpath=//div[not(@class)]/*",
    "xpath=//a[. = 'x']",
    "xpath=.//a[2 * 3 = 6]",
    "xpath=//svg:path",
    "xpath=string(//a/@href)",
    "xpath=//a[normalize-space()='and']/b[@or]",
  ])("what CSS and XPath allow is let through: %s", (selector) => {
    expect(() => grammar.parse(selector)).not.toThrow();
  });

  test.each([
    ["css=div[", 8],
    ["css=p >", 8],
    ["css=a,,b", 7],
    ["css=a > > b", 9],
    ["css=.", 5],
    ["css=a:", 6],
    ["css=a..b", 6],
    ["css=a]", 6],
    ["css=a(b", 6],
    ['css=[x="y]', 8],
    ["css=a, ", 7],
    ["css=a {b}", 7],
    ["#a >", 5],
    ["//a[", 4],
    ["xpath=//[", 9],
    ["xpath=//a[@]", 11],
    ["xpath=//a]", 10],
    ["xpath=//a b", 11],
    ["xpath=//a[text()='x]", 18],
    ["xpath=//a[1 and]", 16],
    ["xpath=a//", 10],
    ["xpath=///a", 9],
    ["testid~=x", 7],
    ["text=/(/", 7],
    ['role=button[title="x"]', 13],
    ["  css=div[", 10],
  ])("what does not parse says where: %s at %d", (selector, position) => {
    const failure = thrownBy(() => grammar.parse(selector));
    expect(failure).toMatchObject({ code: "INVALID_SELECTOR", details: { position } });
    expect(String(failure)).toContain(`at character ${position}`);
  });

  test.each([
    "plain",
    'with "quotes"',
    "back\\slash",
    "/looks/like/",
    " blanks ",
    "a]b",
    "price=5",
    "=5",
    "'single'",
  ])("what is written can be read back: %s", (value) => {
    const text = { match: "same", text: value };
    const written = (kind: "text" | "label" | "role") => grammar.parse(writeSelector(kind, value, "button"));
    expect(written("text")).toEqual({ kind: "text", text });
    expect(written("label")).toEqual({ kind: "label", text });
    expect(written("role")).toEqual({ kind: "role", role: "button", name: text });
  });
});

describe("kinds", () => {
  test.each([
    ["id=com.example:id/login", { kind: "id", id: "com.example:id/login" }],
    ['testid=a"b', { kind: "testid", id: 'a"b' }],
    ["label=Play", { kind: "label", text: { match: "same", text: "Play" } }],
    ['native=new UiSelector().text("a=b")', { kind: "native", native: 'new UiSelector().text("a=b")' }],
    [
      'native=label == "Play" AND visible == 1',
      { kind: "native", native: 'label == "Play" AND visible == 1' },
    ],
  ])("%s", (selector, parsed) => {
    expect(grammar.parse(selector)).toEqual(parsed);
  });

  test.each([
    "css=.a",
    "#a",
    ".card > a",
    "role=button",
  ])("a kind that a driver lacks is refused: %s", (selector) => {
    const phone = new SelectorGrammar(["id", "label", "text", "xpath", "native"]);
    const failure = thrownBy(() => phone.parse(selector));
    expect(failure).toMatchObject({ code: "INVALID_SELECTOR" });
    expect(String(failure)).toContain(
      "it has id, label, text, xpath, native. Use id=, label=, text=, xpath= or //x, native=, or",
    );
  });

  test.each<[ParsedSelector, string]>([
    [{ kind: "role", role: "button" }, "button"],
    [{ kind: "role", role: "button", name: { match: "same", text: "Save" } }, "Save"],
    [{ kind: "id", id: "shop:id/add_to_cart" }, "shop id add to cart"],
    [{ kind: "css", css: ".save-all" }, " save all"],
  ])("words that %o looks for", (parsed, words) => {
    expect(wantedText(parsed)).toBe(words);
  });
});

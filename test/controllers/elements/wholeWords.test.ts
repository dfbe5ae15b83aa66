import { describe, expect, test } from "vitest";
import { partNote } from "#controllers/elements/match.ts";
import { SelectorGrammar } from "#controllers/elements/selectors.ts";
import { TextMatcher, tidy } from "#controllers/elements/text.ts";
import { textCases } from "../../fixtures/textCases.ts";

describe("a text is found by whole words", () => {
  const matcher = new TextMatcher(tidy);

  test.each(textCases)("%j, %j: %s", (found, text, isThere) => {
    expect(matcher.holds({ match: "words", text }, found)).toBe(isThere);
  });

  test.each([
    "words",
    "contains",
  ] as const)("nothing visible is in no text that shows something: %s", (match) => {
    expect(matcher.holds({ match, text: "\u200b" }, "x")).toBe(false);
    expect(matcher.holds({ match, text: "" }, "\u200b")).toBe(true);
  });

  test("in a long text without spaces each place is tried", () => {
    expect(matcher.holds({ match: "words", text: "1" }, `${"11,".repeat(10_000)} 1`)).toBe(true);
    expect(matcher.holds({ match: "words", text: "1" }, "11,".repeat(10_000))).toBe(false);
  });

  test("a part of another word or number is named, unless it was asked for", () => {
    expect(partNote("words", "2,50 €", ["Cart", "Total 12,50 €"])).toBe(
      '; the text is there only as part of another word or number: "Total 12,50 €"; say match: contains if you mean it',
    );
    expect(partNote("contains", "2,50 €", ["Total 12,50 €"])).toBe("");
    expect(partNote("words", "2,50 €", ["2,50 €"])).toBe("");
  });

  test("a selector has whole words with ~= and any part with *=", () => {
    const grammar = new SelectorGrammar(["role", "text"]);
    expect(grammar.parse("text~=1 item")).toEqual({ kind: "text", text: { match: "words", text: "1 item" } });
    expect(grammar.parse("text*=1 item")).toEqual({
      kind: "text",
      text: { match: "contains", text: "1 item" },
    });
    expect(grammar.parse('role=button[name*="uy"]')).toMatchObject({
      name: { match: "contains", text: "uy" },
    });
  });
});

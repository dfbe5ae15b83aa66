import { selectorKinds } from "../../contract.ts";
import { type ParsedSelector, SelectorGrammar } from "../../elements/selectors.ts";
import type { PatternMatch } from "../../elements/text.ts";
import type { PageQuery, PageText } from "./agent/query.ts";

/** A selector by the kinds that pages know. Its text may be a pattern, which pages do not compare. */
export type PageSelector =
  | Exclude<ParsedSelector, { kind: "testid" | "id" | "native" }>
  | Extract<PageQuery, { kind: "ref" }>;

/** A selector in the form that a page can be asked for. */
export type AskedSelector = PageQuery | Extract<ParsedSelector, { kind: "xpath" }>;

/** A pattern, and what a page can be asked for with another text in its place. */
type PatternSelector = { pattern: PatternMatch; withText(text: PageText): PageQuery };

export function takePattern(selector: PageSelector): AskedSelector | PatternSelector {
  if (selector.kind === "role") {
    const { kind, role, name } = selector;
    if (name?.match !== "pattern") return { kind, role, ...(name && { name }) };
    return { pattern: name, withText: (other) => ({ kind, role, name: other }) };
  }
  if (!("text" in selector)) return selector;
  const { kind, text } = selector;
  if (text.match !== "pattern") return { kind, text };
  return { pattern: text, withText: (other) => ({ kind, text: other }) };
}

export const pageGrammar = new SelectorGrammar(selectorKinds.filter((kind) => kind !== "native"));

export function parseForPage(selector: string, testIdAttribute: string): PageSelector {
  return forPage(pageGrammar.parse(selector), testIdAttribute);
}

export function forPage(parsed: ParsedSelector, testIdAttribute: string): PageSelector {
  switch (parsed.kind) {
    case "testid":
      return { kind: "css", css: `[${testIdAttribute}=${cssString(parsed.id)}]` };
    case "id":
      return { kind: "css", css: `[id=${cssString(parsed.id)}]` };
    case "native":
      throw pageGrammar.invalid(`native=${parsed.native}`, "a browser reads css and xpath");
    default:
      return parsed;
  }
}

function cssString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\a ")}"`;
}

import { selectorKinds } from "../../contract.ts";
import { type ParsedSelector, SelectorGrammar } from "../../elements/selectors.ts";
import type { PageQuery } from "./agent/query.ts";

/** A selector in the form that pages understand. */
export type PageSelector = PageQuery | { kind: "xpath"; xpath: string };

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

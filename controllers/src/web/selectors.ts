import type { Selector } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { PageQuery, TextMatch } from "./inpageQuery.ts";
import type { Candidate } from "./inpageSelectors.ts";
import { cssProblem, type SyntaxProblem, xpathProblem } from "./selectorSyntax.ts";

/** A selector taken apart. `any` is a bare string: a name, label, placeholder or visible text. */
export type ParsedSelector = PageQuery | { kind: "xpath"; xpath: string };

/** The grammar in one line, for descriptions and for the message of INVALID_SELECTOR. */
const selectorGrammar =
  'testid=, role=button[name="Save"], label=, placeholder=, id=, text=, css= or #id or .class, xpath= or //x, ' +
  'or just the name, label or text (in "quotes" if it looks like one of these); ' +
  "`==` for exactly, `~=` for contains, =/pattern/i for a regular expression";

const PREFIX = /^(testid|role|label|placeholder|id|text|css|xpath)(~=|==|=)/;
/** What begins like this is CSS or XPath, and no name: `#id`, `.class`, `//x`, `(//x)[1]`. */
const BARE_CSS = /^(?:#|\.)-?[_a-zA-Z\\\u0080-\uffff]/;
const BARE_XPATH = /^\(*\/\/|^\.\.?\//;

/**
 * Reads a selector. Text is compared after white space and case folding; `label==Part` as it stands; `label~=part` contains;
 * `text=/pattern/i` matches. A bare `#id` or `.class` is CSS, a bare `//x` XPath. A text that begins with a prefix or with `/`
 * and ends like a pattern is quoted: `text="/usr/"`; inside quotes `\"` and `\\` are escapes. Throws INVALID_SELECTOR with the
 * grammar and the position.
 */
export function parseSelector(selector: string, testIdAttribute: string): ParsedSelector {
  const trimmed = selector.trim();
  if (trimmed === "") throw invalid(selector, "it is empty");
  const prefix = PREFIX.exec(trimmed);
  if (!prefix) return parseBare(selector, trimmed);
  const [head, kind = "", operator = "="] = prefix;
  const body = trimmed.slice(head.length).trim();
  const start = selector.indexOf(trimmed);
  if (body === "") throw invalid(selector, `nothing follows ${head}`, start + head.length);
  if (operator !== "=" && !["label", "placeholder", "text"].includes(kind)) {
    throw invalid(selector, `${kind} takes = only`, start + kind.length);
  }
  switch (kind) {
    case "testid":
      return { kind: "css", css: `[${testIdAttribute}=${cssString(unquote(body))}]` };
    case "id":
      return { kind: "css", css: `[id=${cssString(unquote(body))}]` };
    case "css":
      return cssOf(selector, body);
    case "xpath":
      return xpathOf(selector, body);
    case "role":
      return parseRole(selector, body);
    case "label":
    case "placeholder":
      return { kind, text: parseText(selector, operator, body) };
    default:
      return { kind: "text", text: parseText(selector, operator, body) };
  }
}

function parseBare(selector: string, trimmed: string): ParsedSelector {
  if (BARE_CSS.test(trimmed)) return cssOf(selector, trimmed);
  if (BARE_XPATH.test(trimmed)) return xpathOf(selector, trimmed);
  return { kind: "any", text: { match: "same", text: unquote(trimmed) } };
}

function cssOf(selector: string, css: string): ParsedSelector {
  refuse(selector, css, cssProblem(css));
  return { kind: "css", css };
}

function xpathOf(selector: string, xpath: string): ParsedSelector {
  refuse(selector, xpath, xpathProblem(xpath));
  return { kind: "xpath", xpath };
}

function refuse(selector: string, body: string, problem: SyntaxProblem | undefined): void {
  if (problem !== undefined) throw invalid(selector, problem.why, selector.lastIndexOf(body) + problem.at);
}

function parseRole(selector: string, body: string): ParsedSelector {
  const role = /^([a-z]+)(?:\s*\[\s*name\s*(~=|==|=)\s*([\s\S]+)\])?$/i.exec(body);
  const [, name, operator, value] = role ?? [];
  if (!name) {
    const read = /^[a-z]+\s*(\[\s*(name\s*([~=]?=)?)?)?/i.exec(body)?.[0].length ?? 0;
    throw invalid(
      selector,
      'a role reads like role=button or role=button[name="Save"]',
      selector.lastIndexOf(body) + read,
    );
  }
  if (!operator || value === undefined) return { kind: "role", role: name.toLowerCase() };
  return { kind: "role", role: name.toLowerCase(), name: parseText(selector, operator, value.trim()) };
}

function parseText(selector: string, operator: string, body: string): TextMatch {
  const pattern = /^\/([\s\S]+)\/([imsu]*)$/.exec(body);
  if (pattern && operator === "=") {
    const [, text = "", flags = ""] = pattern;
    assertPattern(selector, text, flags);
    return { match: "pattern", text, flags };
  }
  const match = operator === "~=" ? "contains" : operator === "==" ? "exact" : "same";
  return { match, text: unquote(body) };
}

function assertPattern(selector: string, text: string, flags: string): void {
  try {
    new RegExp(text, flags);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "the pattern is broken";
    throw invalid(selector, why, selector.lastIndexOf(text));
  }
}

/** `"a \"b\" \\ c"` without its quotes and escapes; what is not quoted stays as it is. */
function unquote(text: string): string {
  const quoted = /^"((?:[^"\\]|\\[\s\S])*)"$/.exec(text) ?? /^'((?:[^'\\]|\\[\s\S])*)'$/.exec(text);
  return quoted?.[1] === undefined ? text : quoted[1].replace(/\\([\s\S])/g, "$1");
}

function cssString(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\a ")}"`;
}

/** `at` counts characters of the selector from 0; people count from 1. */
export function invalid(selector: string, why: string, at?: number): DeviceError {
  const place = at === undefined ? "" : ` at character ${at + 1}`;
  return new DeviceError(
    "INVALID_SELECTOR",
    `The selector ${JSON.stringify(selector)} cannot be read${place}: ${why}. Use ${selectorGrammar}`,
    { selector, ...(at === undefined ? {} : { position: at + 1 }) },
  );
}

/** Writes a candidate in the grammar, so that {@link parseSelector} reads back what was meant. */
export function formatCandidate(candidate: Candidate): string {
  const { kind, value, role } = candidate;
  if (kind === "role") return `role=${role ?? ""}[name=${quote(value)}]`;
  if (kind === "css" || kind === "xpath") return `${kind}=${value}`;
  const needsQuotes = /^["'/=]|^\s|\s$/.test(value);
  return `${kind}=${needsQuotes ? quote(value) : value}`;
}

function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** `elsewhere` is how often the candidate also matches in other frames. */
export function toSelector(candidate: Candidate, elsewhere: number): Selector {
  const unique = candidate.count === 1 && elsewhere === 0;
  const score =
    candidate.count === 1 && elsewhere > 0 ? Math.max(0.02, candidate.score - 0.3) : candidate.score;
  return {
    kind: candidate.kind,
    selector: formatCandidate(candidate),
    unique,
    score: Math.round(score * 100) / 100,
  };
}

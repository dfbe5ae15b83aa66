import type { Selector } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import type { PageQuery, TextMatch } from "./inpageQuery.ts";
import type { Candidate } from "./inpageSelectors.ts";

/** A selector taken apart. `any` is a bare string: a name, label, placeholder or visible text. */
export type ParsedSelector = PageQuery | { kind: "xpath"; xpath: string };

/** The grammar in one line, for descriptions and for the message of INVALID_SELECTOR. */
const selectorGrammar =
  'testid=, role=button[name="Save"], label=, placeholder=, id=, text=, css=, xpath=, or just the name, label or text; ' +
  "`~=` for contains, =/pattern/i for a regular expression";

const PREFIX = /^(testid|role|label|placeholder|id|text|css|xpath)(~?=)/;

/**
 * Reads a selector. Text is exact after white space and case folding; `label~=part` contains; `text=/pattern/i` matches.
 * A text that begins with a prefix or with `/` and ends like a pattern is quoted: `text="/usr/"`; inside quotes `\"` and
 * `\\` are escapes. Throws INVALID_SELECTOR with the grammar.
 */
export function parseSelector(selector: string, testIdAttribute: string): ParsedSelector {
  const trimmed = selector.trim();
  if (trimmed === "") throw invalid(selector, "it is empty");
  const prefix = PREFIX.exec(trimmed);
  if (!prefix) return { kind: "any", text: { match: "exact", text: unquote(trimmed) } };
  const [head, kind = "", operator = "="] = prefix;
  const body = trimmed.slice(head.length).trim();
  if (body === "") throw invalid(selector, `nothing follows ${head}`);
  if (operator === "~=" && !["label", "placeholder", "text"].includes(kind)) {
    throw invalid(selector, `${kind} takes = only`);
  }
  switch (kind) {
    case "testid":
      return { kind: "css", css: `[${testIdAttribute}=${cssString(unquote(body))}]` };
    case "id":
      return { kind: "css", css: `[id=${cssString(unquote(body))}]` };
    case "css":
      return { kind: "css", css: body };
    case "xpath":
      return { kind: "xpath", xpath: body };
    case "role":
      return parseRole(selector, body);
    case "label":
    case "placeholder":
      return { kind, text: parseText(selector, operator, body) };
    default:
      return { kind: "text", text: parseText(selector, operator, body) };
  }
}

function parseRole(selector: string, body: string): ParsedSelector {
  const role = /^([a-z]+)(?:\s*\[\s*name\s*(~?=)\s*([\s\S]+)\])?$/i.exec(body);
  const [, name, operator, value] = role ?? [];
  if (!name) throw invalid(selector, 'a role reads like role=button or role=button[name="Save"]');
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
  return { match: operator === "~=" ? "contains" : "exact", text: unquote(body) };
}

function assertPattern(selector: string, text: string, flags: string): void {
  try {
    new RegExp(text, flags);
  } catch (cause) {
    throw invalid(selector, cause instanceof Error ? cause.message : "the pattern is broken");
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

export function invalid(selector: string, why: string): DeviceError {
  return new DeviceError(
    "INVALID_SELECTOR",
    `The selector ${JSON.stringify(selector.slice(0, 200))} cannot be read: ${why}. Use ${selectorGrammar}`,
    { selector: selector.slice(0, 200) },
  );
}

/** Writes a candidate in the grammar, so that {@link parseSelector} reads back what was meant. */
export function formatCandidate(candidate: Candidate): string {
  const { kind, value, role } = candidate;
  if (kind === "role") return `role=${role ?? ""}[name=${quote(value)}]`;
  if (kind === "css" || kind === "xpath") return `${kind}=${value}`;
  const needsQuotes = /^["'/]|^\s|\s$/.test(value);
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

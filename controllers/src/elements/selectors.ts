import { type SelectorKind, selectorKinds } from "../contract.ts";
import { DeviceError } from "../errors.ts";
import { cssProblem, type SyntaxProblem, xpathProblem } from "./selectorSyntax.ts";
import type { PlainMatch, TextMatch } from "./text.ts";

/** A selector taken apart. `any` is a bare string: a name, label, placeholder or visible text. */
export type ParsedSelector =
  | { kind: "testid" | "id"; id: string }
  | { kind: "role"; role: string; name?: TextMatch }
  | { kind: "label" | "placeholder" | "text" | "any"; text: TextMatch }
  | { kind: "css"; css: string }
  | { kind: "xpath"; xpath: string }
  | { kind: "native"; native: string };

/** How the grammar names a kind, where not as `kind=`. */
const examples: Readonly<Partial<Record<SelectorKind, string>>> = {
  role: 'role=button[name="Save"]',
  css: "css= or #id or .class",
  xpath: "xpath= or //x",
};

const PREFIX = new RegExp(`^(${selectorKinds.join("|")})(~=|\\*=|==|=)`);
/** What begins like this is CSS or XPath, and no name: `#id`, `.class`, `//x`, `(//x)[1]`. */
const BARE_CSS = /^(?:#|\.)-?[_a-zA-Z\\\u0080-\uffff]/;
const BARE_XPATH = /^\(*\/\/|^\.\.?\//;
/** What compares texts otherwise than `=`. */
const matchOf: Readonly<Record<string, PlainMatch["match"]>> = {
  "==": "exact",
  "~=": "words",
  "*=": "contains",
};
const textKinds = ["label", "placeholder", "text"] as const;

/** Reads the selectors of a driver that has the given kinds. */
export class SelectorGrammar {
  constructor(private readonly kinds: readonly SelectorKind[]) {}

  /**
   * Reads a selector. Text is compared after white space and case folding; `label==Part` as it stands; `label~=word` has these whole words, `label*=part` any part;
   * `text=/pattern/i` matches. A bare `#id` or `.class` is CSS, a bare `//x` XPath. A text that begins with a prefix or with
   * `/` and ends like a pattern is quoted: `text="/usr/"`; inside quotes `\"` and `\\` are escapes. Throws INVALID_SELECTOR
   * with the grammar and the position; for a kind that the driver lacks, with the kinds that it has.
   */
  parse(selector: string): ParsedSelector {
    const trimmed = selector.trim();
    if (trimmed === "") throw this.invalid(selector, "it is empty");
    const prefix = PREFIX.exec(trimmed);
    const kind = selectorKinds.find((one) => one === prefix?.[1]);
    if (!prefix || !kind) return this.parseBare(selector, trimmed);
    const [head, , operator = "="] = prefix;
    const body = trimmed.slice(head.length).trim();
    const start = selector.indexOf(trimmed);
    if (body === "") throw this.invalid(selector, `nothing follows ${head}`, start + head.length);
    if (operator !== "=" && !textKinds.some((one) => one === kind)) {
      throw this.invalid(selector, `${kind} takes = only`, start + kind.length);
    }
    return this.parseKind(kind, selector, operator, body);
  }

  /** `at` counts characters of the selector from 0; people count from 1. */
  invalid(selector: string, why: string, at?: number): DeviceError {
    const place = at === undefined ? "" : ` at character ${at + 1}`;
    const grammar =
      `${this.kinds.map((kind) => examples[kind] ?? `${kind}=`).join(", ")}, ` +
      'or just the name, label or text (in "quotes" if it looks like one of these); ' +
      "`==` for exactly, `~=` for whole words of it, `*=` for any part, =/pattern/i for a regular expression";
    return new DeviceError(
      "INVALID_SELECTOR",
      `The selector ${JSON.stringify(selector)} cannot be read${place}: ${why}. Use ${grammar}`,
      { selector, ...(at === undefined ? {} : { position: at + 1 }) },
    );
  }

  private parseKind(kind: SelectorKind, selector: string, operator: string, body: string): ParsedSelector {
    if (!this.kinds.includes(kind)) {
      const has = this.kinds.join(", ");
      throw this.invalid(selector, `this device has no selectors of kind ${kind}; it has ${has}`);
    }
    switch (kind) {
      case "testid":
      case "id":
        return { kind, id: unquote(body) };
      case "css":
        this.refuse(selector, body, cssProblem(body));
        return { kind, css: body };
      case "xpath":
        this.refuse(selector, body, xpathProblem(body));
        return { kind, xpath: body };
      case "native":
        return { kind, native: body };
      case "role":
        return this.parseRole(selector, body);
      default:
        return { kind, text: this.parseText(selector, operator, body) };
    }
  }

  private parseBare(selector: string, trimmed: string): ParsedSelector {
    if (BARE_CSS.test(trimmed)) return this.parseKind("css", selector, "=", trimmed);
    if (BARE_XPATH.test(trimmed)) return this.parseKind("xpath", selector, "=", trimmed);
    return { kind: "any", text: { match: "same", text: unquote(trimmed) } };
  }

  private refuse(selector: string, body: string, problem: SyntaxProblem | undefined): void {
    if (problem !== undefined)
      throw this.invalid(selector, problem.why, selector.lastIndexOf(body) + problem.at);
  }

  private parseRole(selector: string, body: string): ParsedSelector {
    const role = /^([a-z]+)(?:\s*\[\s*name\s*(~=|\*=|==|=)\s*([\s\S]+)\])?$/i.exec(body);
    const [, name, operator, value] = role ?? [];
    if (!name) {
      const read = /^[a-z]+\s*(\[\s*(name\s*([~*=]?=)?)?)?/i.exec(body)?.[0].length ?? 0;
      throw this.invalid(
        selector,
        'a role reads like role=button or role=button[name="Save"]',
        selector.lastIndexOf(body) + read,
      );
    }
    if (!operator || value === undefined) return { kind: "role", role: name.toLowerCase() };
    return {
      kind: "role",
      role: name.toLowerCase(),
      name: this.parseText(selector, operator, value.trim()),
    };
  }

  private parseText(selector: string, operator: string, body: string): TextMatch {
    const pattern = /^\/([\s\S]+)\/([imsu]*)$/.exec(body);
    if (pattern && operator === "=") {
      const [, text = "", flags = ""] = pattern;
      this.assertPattern(selector, text, flags);
      return { match: "pattern", text, flags };
    }
    return { match: matchOf[operator] ?? "same", text: unquote(body) };
  }

  private assertPattern(selector: string, text: string, flags: string): void {
    try {
      new RegExp(text, flags);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : "the pattern is broken";
      throw this.invalid(selector, why, selector.lastIndexOf(text));
    }
  }
}

/** `"a \"b\" \\ c"` without its quotes and escapes; what is not quoted stays as it is. */
function unquote(text: string): string {
  const quoted = /^"((?:[^"\\]|\\[\s\S])*)"$/.exec(text) ?? /^'((?:[^'\\]|\\[\s\S])*)'$/.exec(text);
  return quoted?.[1] === undefined ? text : quoted[1].replace(/\\([\s\S])/g, "$1");
}

/** Writes a selector, so that {@link SelectorGrammar.parse} reads back the same thing; the value of a role is its name. */
export function writeSelector(kind: SelectorKind, value: string, role = ""): string {
  if (kind === "role") return `role=${role}[name=${quote(value)}]`;
  if (kind === "css" || kind === "xpath" || kind === "native") return `${kind}=${value}`;
  return `${kind}=${/^["'/=]|^\s|\s$/.test(value) ? quote(value) : value}`;
}

const quote = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The words that a selector looks for, to compare names with. */
export function wantedText(parsed: ParsedSelector): string {
  switch (parsed.kind) {
    case "testid":
    case "id":
      return words(parsed.id);
    case "role":
      return parsed.name?.text ?? parsed.role;
    case "css":
      return words(parsed.css);
    case "xpath":
      return words(parsed.xpath);
    case "native":
      return words(parsed.native);
    default:
      return parsed.text.text;
  }
}

const words = (code: string): string => code.replace(/[^\p{L}\p{N}]+/gu, " ");

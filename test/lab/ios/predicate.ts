import type { TreeNode } from "../android/uia2/tree.ts";
import { WireFailure } from "./wire.ts";

type Test = (node: TreeNode) => boolean;

/**
 * The part of NSPredicate that people write for a screen: comparisons of attributes, joined by AND, OR and NOT. Anything else is
 * an invalid selector.
 */
export function readPredicate(text: string): Test {
  const reader = new Reader(text);
  const test = readOr(reader);
  if (!reader.isAtEnd()) throw reader.failure();
  return test;
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(readonly text: string) {
    this.#tokens =
      text.match(
        /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\[[cd]+\]|==|!=|<>|>=|<=|&&|\|\||-?\d+(?:\.\d+)?|[\w.]+|[=<>!(){},]|\S/g,
      ) ?? [];
  }

  isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(): string {
    return this.#tokens[this.#at] ?? "";
  }

  take(): string {
    const token = this.peek();
    this.#at += 1;
    return token;
  }

  accept(...tokens: readonly string[]): boolean {
    if (!tokens.includes(this.peek().toUpperCase())) return false;
    this.#at += 1;
    return true;
  }

  failure(): WireFailure {
    return new WireFailure(
      "invalid selector",
      `Unable to parse the format string "${this.text}" near "${this.peek()}"`,
    );
  }
}

function readOr(reader: Reader): Test {
  const parts = [readAnd(reader)];
  while (reader.accept("OR", "||")) parts.push(readAnd(reader));
  return (node) => parts.some((part) => part(node));
}

function readAnd(reader: Reader): Test {
  const parts = [readNot(reader)];
  while (reader.accept("AND", "&&")) parts.push(readNot(reader));
  return (node) => parts.every((part) => part(node));
}

function readNot(reader: Reader): Test {
  if (reader.accept("NOT", "!")) {
    const negated = readNot(reader);
    return (node) => !negated(node);
  }
  if (!reader.accept("(")) return readComparison(reader);
  const inner = readOr(reader);
  if (!reader.accept(")")) throw reader.failure();
  return inner;
}

const comparisons: Readonly<Record<string, (found: string, wanted: string) => boolean>> = {
  "==": (found, wanted) => found === wanted,
  "=": (found, wanted) => found === wanted,
  "!=": (found, wanted) => found !== wanted,
  "<>": (found, wanted) => found !== wanted,
  "<": (found, wanted) => Number(found) < Number(wanted),
  ">": (found, wanted) => Number(found) > Number(wanted),
  "<=": (found, wanted) => Number(found) <= Number(wanted),
  ">=": (found, wanted) => Number(found) >= Number(wanted),
  CONTAINS: (found, wanted) => found.includes(wanted),
  BEGINSWITH: (found, wanted) => found.startsWith(wanted),
  ENDSWITH: (found, wanted) => found.endsWith(wanted),
  LIKE: (found, wanted) => new RegExp(`^${wanted.split("*").map(literal).join(".*")}$`, "s").test(found),
  MATCHES: (found, wanted) => new RegExp(`^(?:${wanted})$`, "s").test(found),
};
const literal = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");

function readComparison(reader: Reader): Test {
  const name = reader.take();
  if (!/^[A-Za-z][\w.]*$/.test(name)) throw reader.failure();
  const attribute = name
    .replace(/^rect\./, "")
    .replace(/^wd([A-Z])/, (_, first) => String(first).toLowerCase());
  const operator = reader.take().toUpperCase();
  const ignoresCase = reader.accept("[C]", "[CD]", "[DC]");
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text);
  if (operator === "IN") {
    const values = readSet(reader);
    return ({ attributes }) => values.some((one) => fold(one) === fold(attributes.get(attribute) ?? ""));
  }
  const compare = comparisons[operator];
  if (compare === undefined) throw reader.failure();
  const wanted = readValue(reader, attribute);
  return ({ attributes }) => compare(fold(attributes.get(attribute) ?? ""), fold(wanted));
}

function readSet(reader: Reader): string[] {
  if (!reader.accept("{")) throw reader.failure();
  const values: string[] = [];
  while (!reader.accept("}")) {
    values.push(readValue(reader, ""));
    if (!reader.accept(",") && reader.peek() !== "}") throw reader.failure();
  }
  return values;
}

const flags = new Set(["enabled", "visible", "accessible", "focused"]);

/** A flag is also written as a number, and as words of Objective-C. */
function readValue(reader: Reader, attribute: string): string {
  const token = reader.take();
  if (/^["']/.test(token)) return token.slice(1, -1).replace(/\\(.)/g, "$1");
  if (flags.has(attribute)) return /^(?:1|true|yes)$/i.test(token) ? "true" : "false";
  if (/^-?\d/.test(token)) return token;
  if (/^(?:nil|null)$/i.test(token)) return "";
  throw reader.failure();
}

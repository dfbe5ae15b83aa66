/** Spaces, comments, texts, numbers, words and signs. */
const token =
  /\s+|\/\/[^\n]*|[rRbB]{0,2}(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\d[\w.]*|[A-Za-z_]\w*|&&|\|\||[=!<>]=|<>|[\s\S]/g;
const closers: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Brackets with what is between them are one part. `word`: in lower case, where it is not the name of a field. */
type Part = { text: string; word: string; isSpace: boolean; inner?: Part[]; close?: string };

/** Signs between clauses: a `not` reaches up to the next of them. */
const separators = new Set(["&&", "||", ",", "?", ":"]);
const joiners: Readonly<Record<string, string>> = { and: "&&", or: "||" };
const constants: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  none: "null",
};
const signs: Readonly<Record<string, string>> = { ...constants, "=": "==", "<>": "!=", in: "in" };
/** Operators of other languages, and what CEL has instead. */
const unknown: Readonly<Record<string, string>> = {
  like: "text.contains('x') or text.matches('x')",
  ilike: "text.lowerAscii().contains('x')",
  between: "a >= 1 && a <= 2",
  contains: "text.contains('x')",
  matches: "text.matches('x')",
  startswith: "text.startsWith('x')",
  endswith: "text.endsWith('x')",
};

class Untranslatable extends Error {}

/**
 * Translates a condition to CEL (cel.dev): `is null`, `is not null`, `and`, `or`, `not`, `not in`, `in ('a', 'b')`, `=`, `<>`, `True`,
 * `None` in any case. Texts in quotes stay as they are, and so does an expression that is CEL already.
 */
export function translateCondition(source: string): string | { problem: string } {
  try {
    return translate(readParts(source.match(token) ?? []));
  } catch (error) {
    if (error instanceof Untranslatable) return { problem: error.message };
    throw error;
  }
}

function readParts(tokens: readonly string[]): Part[] {
  const top: Part[] = [];
  const open: (Part & { inner: Part[] })[] = [];
  for (const text of tokens) {
    if (/^["'`]$/.test(text)) throw new Untranslatable("a quote is not closed");
    if (/^[)\]}]$/.test(text)) {
      closeBracket(text, open.pop());
      continue;
    }
    const siblings = open.at(-1)?.inner ?? top;
    const part = partOf(text, siblings);
    siblings.push(part);
    if (part.inner !== undefined) open.push({ ...part, inner: part.inner });
  }
  const left = open.at(-1);
  if (left !== undefined) throw new Untranslatable(`the bracket ${left.text} is not closed`);
  return top;
}

function closeBracket(text: string, open: Part | undefined): void {
  if (open?.close !== text) throw new Untranslatable(`the bracket ${text} closes nothing`);
}

function partOf(text: string, before: readonly Part[]): Part {
  const close = closers[text];
  const isField = before.findLast(({ isSpace }) => !isSpace)?.text === ".";
  const part = { text, word: isField ? "" : text.toLowerCase(), isSpace: /^(\s|\/\/)/.test(text) };
  return close === undefined ? part : { ...part, close, inner: [] };
}

function translate(parts: readonly Part[]): string {
  let output = "";
  let clause: Part[] = [];
  parts.forEach((part, index) => {
    const joiner = isBetweenValues(parts, index) ? joiners[part.word] : undefined;
    if (joiner === undefined && !separators.has(part.text)) clause.push(part);
    else {
      output += translateClause(clause) + (joiner ?? part.text);
      clause = [];
    }
  });
  return output + translateClause(clause);
}

/** The nearest part on one side that is not space. */
const before = (parts: readonly Part[], index: number) =>
  parts.slice(0, index).findLast((part) => !part.isSpace);
const after = (parts: readonly Part[], index: number) => parts.slice(index + 1).find((part) => !part.isSpace);

const isValueEnd = (part: Part | undefined): boolean => part !== undefined && /[\w"'([{]$/.test(part.text);
const isValueStart = (part: Part | undefined): boolean =>
  part !== undefined && /^[\w"'([{!-]/.test(part.text);
const isBetweenValues = (parts: readonly Part[], index: number): boolean =>
  isValueEnd(before(parts, index)) && isValueStart(after(parts, index));

/** The spaces around a clause stay outside of the brackets. */
function translateClause(clause: readonly Part[]): string {
  const start = clause.findIndex((part) => !part.isSpace);
  const end = clause.findLastIndex((part) => !part.isSpace) + 1;
  if (start < 0) return clause.map(({ text }) => text).join("");
  const spaces = (parts: readonly Part[]) => parts.map(({ text }) => text).join("");
  return spaces(clause.slice(0, start)) + translateCore(clause.slice(start, end)) + spaces(clause.slice(end));
}

function translateCore(parts: readonly Part[]): string {
  const [first] = parts;
  if (first?.word === "not" && parts[1]?.text !== "[" && isValueStart(after(parts, 0)))
    return `!(${translateClause(parts.slice(1)).trim()})`;
  const notIn = parts.findIndex(
    ({ word }, index) =>
      word === "not" && isBetweenValues(parts, index) && after(parts, index)?.word === "in",
  );
  if (notIn > 0)
    return `!(${translateValues(parts.slice(0, notIn))}${translateValues(parts.slice(notIn + 1)).trim()})`;
  return translateValues(parts);
}

function translateValues(parts: readonly Part[]): string {
  refuseUnknown(parts);
  const plain = parts.map((part, index) => withoutIs(part, index, parts));
  return plain.map((part, index) => translateValue(part, before(plain, index))).join("");
}

function refuseUnknown(parts: readonly Part[]): void {
  const found = parts.find(
    ({ word }, index) => Object.hasOwn(unknown, word) && isBetweenValues(parts, index),
  );
  if (found !== undefined)
    throw new Untranslatable(`"${found.text}" is not an operator; write ${unknown[found.word]}`);
}

/** `is` and `is not` as signs; a `not` after an `is` becomes empty, with the space before it. */
function withoutIs(part: Part, index: number, parts: readonly Part[]): Part {
  const isIs = (at: number) => parts[at]?.word === "is" && isBetweenValues(parts, at);
  if (isIs(index)) return sign(after(parts, index)?.word === "not" ? "!=" : "==");
  const last = parts.findLastIndex(({ isSpace }, at) => at < index && !isSpace);
  if (last < 0 || !isIs(last) || after(parts, last)?.word !== "not") return part;
  return part.isSpace || part.word === "not" ? sign("") : part;
}

const sign = (text: string): Part => ({ text, word: "", isSpace: text === "" });

function translateValue({ text, word, inner, close }: Part, previous: Part | undefined): string {
  if (inner === undefined) return Object.hasOwn(signs, word) ? (signs[word] ?? "") : text;
  const isList = text === "(" && previous?.word === "in" && isListOfValues(inner);
  return isList ? `[${translate(inner)}]` : `${text}${translate(inner)}${close}`;
}

/** `('A', 'B')` or `('A')`, where CEL writes `['A', 'B']`; `(load.modes)` is a list in brackets. */
function isListOfValues(parts: readonly Part[]): boolean {
  const values = parts.filter((part) => !part.isSpace);
  return (
    values.some(({ text }) => text === ",") || (values.length === 1 && /^["'\d]/.test(values[0]?.text ?? ""))
  );
}

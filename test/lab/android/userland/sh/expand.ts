import type { List, Part, Word } from "./syntax.ts";

export type Expansion = {
  variable(name: string): string;
  /** The output of a list of commands, without trailing line ends. */
  output(list: List): Promise<string>;
  paths(pattern: RegExp): readonly string[];
};

/** A word in the making: `pattern` matches paths if it has an unquoted `*` or `?`. */
type Field = { text: string; pattern: string; hasWildcard: boolean };

/** One text, without splitting and without patterns: for assignments and redirections. */
export async function expandText(word: Word, expansion: Expansion): Promise<string> {
  const texts: string[] = [];
  for (const part of word) texts.push(await textOf(part, expansion));
  return texts.join("");
}

/** The words that come of words: what is unquoted is split at blanks, and patterns become the paths that match. */
export async function expandWords(words: readonly Word[], expansion: Expansion): Promise<string[]> {
  const found: string[] = [];
  for (const word of words) {
    for (const field of await fieldsOf(word, expansion)) {
      const paths = field.hasWildcard ? expansion.paths(new RegExp(`^${field.pattern}$`, "u")) : [];
      found.push(...(paths.length > 0 ? paths : [field.text]));
    }
  }
  return found;
}

async function fieldsOf(word: Word, expansion: Expansion): Promise<Field[]> {
  const fields: Field[] = [];
  let isOpen = false;
  const add = (text: string, isPlain: boolean) => {
    if (!isOpen) fields.push({ text: "", pattern: "", hasWildcard: false });
    isOpen = true;
    const field = fields.at(-1);
    if (!field) return;
    field.text += text;
    field.pattern += isPlain ? wildcards(text) : escaped(text);
    field.hasWildcard ||= isPlain && /[*?]/.test(text);
  };
  for (const part of word) {
    const value = await textOf(part, expansion);
    if (part.quoted || part.type === "text") {
      add(value, !part.quoted);
      continue;
    }
    const pieces = value.split(/([ \t\n]+)/);
    for (const [index, piece] of pieces.entries()) {
      if (index % 2 === 1) isOpen = false;
      else if (piece !== "") add(piece, true);
    }
  }
  return fields;
}

async function textOf(part: Part, expansion: Expansion): Promise<string> {
  if (part.type === "text") return part.text;
  if (part.type === "substitution") return expansion.output(part.list);
  const value = expansion.variable(part.name);
  return value === "" ? (part.fallback ?? "") : value;
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
const wildcards = (text: string) => escaped(text).replaceAll("\\*", "[^/]*").replaceAll("\\?", "[^/]");

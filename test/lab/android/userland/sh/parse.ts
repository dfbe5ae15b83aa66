import { Cursor } from "./cursor.ts";
import {
  type CommandNode,
  type List,
  type ListItem,
  type Pipeline,
  type Redirection,
  ShellSyntaxError,
  type Stage,
  type Word,
} from "./syntax.ts";
import { readWord } from "./words.ts";

const assignment = /[A-Za-z_][A-Za-z0-9_]*=/y;
/** Words that end a list where a command would begin. */
const closing = new Set(["do", "done", "then", "else", "fi", "}"]);

/** Reads a script. Throws a ShellSyntaxError before anything of it runs. */
export function parseScript(line: string): List {
  const cursor = new Cursor(line);
  const list = readList(cursor);
  if (!cursor.isAtEnd()) throw new ShellSyntaxError(`unexpected '${cursor.peek()}'`);
  return list;
}

function skipBlanks(cursor: Cursor): void {
  cursor.match(/(?:[ \t]|\\\n)+/y);
  cursor.match(/#[^\n]*/y);
}

function skipLines(cursor: Cursor): void {
  for (skipBlanks(cursor); cursor.match(/\s+/y) !== undefined; ) skipBlanks(cursor);
}

function readList(cursor: Cursor): List {
  const items: ListItem[] = [];
  let when: ListItem["when"] = "always";
  for (;;) {
    skipLines(cursor);
    if (cursor.isAtEnd() || cursor.peek() === ")" || closing.has(nextWord(cursor))) break;
    const pipeline = readPipeline(cursor);
    skipBlanks(cursor);
    const operator = cursor.match(/(?:&&|\|\||[;&\n])/y);
    items.push({ when, pipeline, inBackground: operator === "&" });
    when = operator === "&&" ? "success" : operator === "||" ? "failure" : "always";
    if (operator === undefined) break;
  }
  if (when !== "always") throw new ShellSyntaxError("unexpected end");
  return items;
}

/** The plain word that stands here, without taking it. */
function nextWord(cursor: Cursor): string {
  const { at } = cursor;
  const found = cursor.match(/[A-Za-z]+(?=[\s;|&<>()]|$)|[{}!](?=\s|;|$)/y) ?? "";
  cursor.at = at;
  return found;
}

function readPipeline(cursor: Cursor): Pipeline {
  const isNegated = nextWord(cursor) === "!" && cursor.skip("!");
  const stages: Stage[] = [];
  do {
    skipLines(cursor);
    stages.push(readStage(cursor));
    skipBlanks(cursor);
  } while (cursor.rest(2) !== "||" && cursor.skip("|"));
  return { stages, isNegated };
}

function readStage(cursor: Cursor): Stage {
  const read = compounds[nextWord(cursor)] ?? (cursor.peek() === "(" ? readSubshell : undefined);
  if (!read) return readSimple(cursor);
  const command = read(cursor);
  const redirections: Redirection[] = [];
  for (let next = readRedirection(cursor); next; next = readRedirection(cursor)) redirections.push(next);
  return { command, redirections };
}

const compounds: Readonly<Record<string, (cursor: Cursor) => CommandNode>> = {
  while(cursor) {
    take(cursor, "while");
    const condition = readBlock(cursor, "do");
    return { type: "while", condition, body: readBlock(cursor, "done") };
  },
  if(cursor) {
    take(cursor, "if");
    const condition = readBlock(cursor, "then");
    const body = readList(cursor);
    const hasOther = nextWord(cursor) === "else";
    take(cursor, hasOther ? "else" : "fi");
    return { type: "if", condition, body, otherwise: hasOther ? readBlock(cursor, "fi") : [] };
  },
  for(cursor) {
    take(cursor, "for");
    skipBlanks(cursor);
    const name = cursor.match(/[A-Za-z_][A-Za-z0-9_]*/y) ?? "";
    skipBlanks(cursor);
    take(cursor, "in");
    const words: Word[] = [];
    for (skipBlanks(cursor); ; skipBlanks(cursor)) {
      const word = readWord(cursor, readList);
      if (!word) break;
      words.push(word);
    }
    cursor.match(/[;\n]/y);
    skipLines(cursor);
    take(cursor, "do");
    return { type: "for", name, words, body: readBlock(cursor, "done") };
  },
  "{"(cursor) {
    take(cursor, "{");
    return { type: "group", body: readBlock(cursor, "}") };
  },
};

function readSubshell(cursor: Cursor): CommandNode {
  take(cursor, "(");
  return { type: "subshell", body: readBlock(cursor, ")") };
}

function readBlock(cursor: Cursor, end: string): List {
  const list = readList(cursor);
  take(cursor, end);
  return list;
}

function take(cursor: Cursor, word: string): void {
  if (!cursor.skip(word)) throw new ShellSyntaxError(`missing '${word}'`);
}

type Simple = { assignments: { name: string; value: Word }[]; words: Word[]; redirections: Redirection[] };

function readSimple(cursor: Cursor): Stage {
  const simple: Simple = { assignments: [], words: [], redirections: [] };
  while (readPiece(cursor, simple)) skipBlanks(cursor);
  const { assignments, words, redirections } = simple;
  if (assignments.length + words.length + redirections.length === 0) {
    throw new ShellSyntaxError(cursor.isAtEnd() ? "unexpected end" : `unexpected '${cursor.peek()}'`);
  }
  return { command: { type: "simple", assignments, words }, redirections };
}

/** False where the command ends. Assignments stand before its first word only. */
function readPiece(cursor: Cursor, { assignments, words, redirections }: Simple): boolean {
  const redirection = readRedirection(cursor);
  if (redirection) return redirections.push(redirection) > 0;
  const name = words.length === 0 ? cursor.match(assignment)?.slice(0, -1) : undefined;
  const word = readWord(cursor, readList);
  if (name !== undefined) return assignments.push({ name, value: word ?? [] }) > 0;
  return word !== undefined && words.push(word) > 0;
}

const kinds = { "<": "read", ">": "write", ">>": "append", ">&": "copy", "<&": "copy" } as const;

function readRedirection(cursor: Cursor): Redirection | undefined {
  skipBlanks(cursor);
  const found = cursor.match(/[0-9]?(?:>>|>&|<&|>|<)/y);
  if (found === undefined) return undefined;
  const operator = found.replace(/^[0-9]/, "");
  const kind = Object.entries(kinds).find(([sign]) => sign === operator)?.[1] ?? "write";
  const descriptor = /^[0-9]/.test(found) ? Number(found[0]) : operator.startsWith("<") ? 0 : 1;
  skipBlanks(cursor);
  const target = readWord(cursor, readList);
  if (!target) throw new ShellSyntaxError("a redirection without its file");
  return { descriptor, kind, target };
}

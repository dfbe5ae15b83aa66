import { Cursor } from "./cursor.ts";
import {
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
/** Reads a script of simple commands: the product sends no loops, conditions or groups. Throws a ShellSyntaxError before anything of it runs. */
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
    if (cursor.isAtEnd() || cursor.peek() === ")") break;
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

function readPipeline(cursor: Cursor): Pipeline {
  const isNegated = cursor.match(/!(?=\s)/y) !== undefined;
  const stages: Stage[] = [];
  do {
    skipLines(cursor);
    stages.push(readStage(cursor));
    skipBlanks(cursor);
  } while (cursor.rest(2) !== "||" && cursor.skip("|"));
  return { stages, isNegated };
}

type OpenStage = { assignments: { name: string; value: Word }[]; words: Word[]; redirections: Redirection[] };

function readStage(cursor: Cursor): Stage {
  const stage: OpenStage = { assignments: [], words: [], redirections: [] };
  while (readPiece(cursor, stage)) skipBlanks(cursor);
  const { assignments, words, redirections } = stage;
  if (assignments.length + words.length + redirections.length === 0) {
    throw new ShellSyntaxError(cursor.isAtEnd() ? "unexpected end" : `unexpected '${cursor.peek()}'`);
  }
  return stage;
}

/** False where the command ends. Assignments stand before its first word only. */
function readPiece(cursor: Cursor, { assignments, words, redirections }: OpenStage): boolean {
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

import type { Cursor } from "./cursor.ts";
import { type List, type Part, ShellSyntaxError, type Word } from "./syntax.ts";

const endOfWord = /[\s;|&<>()]/;
const plain = /[^\s;|&<>()'"\\`$]+/y;
const plainInQuotes = /[^"\\`$]+/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const special = /[?$#@*0-9]/y;
const inBraces = /^(?:[A-Za-z_][A-Za-z0-9_]*|[?$#@*0-9])$/;

/** Reads the list of a `$(…)` up to its closing bracket. */
export type ReadList = (cursor: Cursor) => List;

export function readWord(cursor: Cursor, readList: ReadList): Word | undefined {
  const parts: Part[] = [];
  const from = cursor.at;
  while (!cursor.isAtEnd() && !endOfWord.test(cursor.peek())) parts.push(...readParts(cursor, readList));
  return cursor.at === from ? undefined : parts;
}

function readParts(cursor: Cursor, readList: ReadList): Part[] {
  if (cursor.skip("'")) return [text(cursor.readTo("'"), true)];
  if (cursor.skip('"')) return readQuoted(cursor, readList);
  if (cursor.skip("\\")) return escaped(cursor);
  if (cursor.skip("`")) return [backquoted(cursor, readList, false)];
  if (cursor.peek() === "$") return [readDollar(cursor, readList, false)];
  return [text(cursor.match(plain) ?? cursor.take(), false)];
}

const text = (value: string, quoted: boolean): Part => ({ type: "text", text: value, quoted });

/** A backslash before the end of a line joins it with the next. */
function escaped(cursor: Cursor): Part[] {
  if (cursor.isAtEnd()) return [text("\\", true)];
  return cursor.skip("\n") ? [] : [text(cursor.take(), true)];
}

/** Within double quotes only $, `, " and \ keep a meaning. */
function readQuoted(cursor: Cursor, readList: ReadList): Part[] {
  const parts: Part[] = [text("", true)];
  while (!cursor.skip('"')) {
    if (cursor.isAtEnd()) throw new ShellSyntaxError("no closing quote");
    if (cursor.peek() === "$") parts.push(readDollar(cursor, readList, true));
    else if (cursor.skip("`")) parts.push(backquoted(cursor, readList, true));
    else if (/^\\[$`"\\\n]/.test(cursor.rest(2))) {
      cursor.take();
      parts.push(...escaped(cursor));
    } else parts.push(text(cursor.match(plainInQuotes) ?? cursor.take(), true));
  }
  return parts;
}

function backquoted(cursor: Cursor, readList: ReadList, quoted: boolean): Part {
  let line = "";
  while (!cursor.skip("`")) {
    if (cursor.isAtEnd()) throw new ShellSyntaxError("no closing quote");
    if (/^\\[$`\\]/.test(cursor.rest(2))) cursor.take();
    line += cursor.take();
  }
  return { type: "substitution", list: readList(cursor.over(line)), quoted };
}

function readDollar(cursor: Cursor, readList: ReadList, quoted: boolean): Part {
  cursor.take();
  if (cursor.rest(2) === "((") throw new ShellSyntaxError("arithmetic is not known here");
  if (cursor.skip("(")) {
    const list = readList(cursor);
    if (!cursor.skip(")")) throw new ShellSyntaxError("missing )");
    return { type: "substitution", list, quoted };
  }
  if (cursor.skip("{")) {
    const [variable = "", fallback] = cursor.readTo("}").split(":-", 2);
    if (!inBraces.test(variable)) throw new ShellSyntaxError("bad substitution");
    return { type: "variable", name: variable, fallback, quoted };
  }
  const found = cursor.match(name) ?? cursor.match(special);
  return found === undefined
    ? text("$", quoted)
    : { type: "variable", name: found, fallback: undefined, quoted };
}

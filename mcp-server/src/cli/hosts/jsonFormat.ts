import { isDeepStrictEqual } from "node:util";
import jsonc, { type Node, type ParseError } from "jsonc-parser";
import {
  BrokenFile,
  type Entry,
  type EntryPath,
  type Format,
  isRecord,
  lineAt,
  lineBreak,
} from "./format.ts";

const lenient = { allowTrailingComma: true };

/**
 * JSON with comments and trailing commas, which the hosts' own files have. Changes are made at the places of the library's
 * tree; its own `modify` reformats the neighbours and moves the comments after them.
 */
export const jsonFormat: Format = {
  parse(text) {
    if (text.trim() === "") return {};
    const errors: ParseError[] = [];
    const value: unknown = jsonc.parse(text, errors, lenient);
    const [first] = errors;
    if (first) throw new BrokenFile(messageOf(first), lineAt(text, first.offset));
    return value;
  },
  edits(text, [container, name], value) {
    if (!/^\s*(\{\s*\})?\s*$/.test(text)) return [changes(text, [container, name], value)];
    return [value === undefined ? text : `${JSON.stringify({ [container]: { [name]: value } }, null, 2)}\n`];
  },
};

/** The library's codes are such as PropertyNameExpected. */
const messageOf = ({ error }: ParseError) =>
  jsonc
    .printParseErrorCode(error)
    .replace(/\B[A-Z]/g, " $&")
    .toLowerCase();

function changes(text: string, [container, name]: EntryPath, value: Entry | undefined): string {
  const root = jsonc.parseTree(text, [], lenient);
  const servers = root && jsonc.findNodeAtLocation(root, [container]);
  if (servers?.type !== "object") return changed(text, [container], value && { [name]: value });
  const node = jsonc.findNodeAtLocation(servers, [name]);
  const current: unknown = node && jsonc.getNodeValue(node);
  if (value === undefined || !isRecord(current)) return changed(text, [container, name], value);
  return [...new Set([...Object.keys(current), ...Object.keys(value)])]
    .filter((key) => !isDeepStrictEqual(current[key], value[key]))
    .reduce((before, key) => changed(before, [container, name, key], value[key]), text);
}

/** The text with `value` at a path whose parent exists; `undefined` removes it. */
function changed(text: string, path: readonly string[], value: unknown): string {
  const root = jsonc.parseTree(text, [], lenient);
  const parent = root && jsonc.findNodeAtLocation(root, path.slice(0, -1));
  const key = path.at(-1);
  if (parent?.type !== "object" || key === undefined) return text;
  const properties = parent.children ?? [];
  const index = properties.findIndex((property) => property.children?.[0]?.value === key);
  const old = properties[index]?.children?.[1];
  if (value === undefined) return index === -1 ? text : removed(text, properties, index);
  const style = styleOf(text, path.length);
  if (old) return spliced(text, old.offset, endOf(old), style.print(value));
  return inserted(text, parent, `${JSON.stringify(key)}: ${style.print(value)}`, style);
}

/** How lines are broken and indented at a depth. A text of one line stays one. */
type Style = { line: string; outer: string; print(value: unknown): string };

function styleOf(text: string, depth: number): Style {
  if (!text.trim().includes("\n")) return { line: " ", outer: " ", print: (value) => JSON.stringify(value) };
  const [, unit = "  "] = /^([ \t]+)\S/m.exec(text) ?? [];
  const line = lineBreak(text) + unit.repeat(depth);
  return {
    line,
    outer: lineBreak(text) + unit.repeat(depth - 1),
    print: (value) => JSON.stringify(value, null, unit).replaceAll("\n", line),
  };
}

/** As the last property. A comment that ends the line of the one before stays with it. */
function inserted(text: string, object: Node, property: string, { line, outer }: Style): string {
  const last = object.children?.at(-1);
  if (last === undefined) {
    const at = object.offset + 1;
    return spliced(text, at, at, line + property + (text[at] === "}" ? outer : ""));
  }
  const end = endOf(last);
  const toLineEnd = /^[ \t]*(,?)[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*\*\/)?(?=\r?\n)/.exec(text.slice(end));
  if (!toLineEnd) return spliced(text, end, end, `,${line}${property}`);
  const [rest, comma = ""] = toLineEnd;
  return spliced(text, end, end + rest.length, `${comma ? "" : ","}${rest}${line}${property}${comma}`);
}

/** Removes its whole line if nothing else is on it, and one comma. */
function removed(text: string, properties: readonly Node[], index: number): string {
  const property = properties[index];
  const previous = properties[index - 1];
  if (property === undefined) return text;
  const [before = ""] = /(\r?\n)?[ \t]*$/.exec(text.slice(0, property.offset)) ?? [];
  const [after = ""] = /^[ \t]*,/.exec(text.slice(endOf(property))) ?? [];
  const without = spliced(text, property.offset - before.length, endOf(property) + after.length, "");
  if (after !== "" || previous === undefined) return without;
  const scanner = jsonc.createScanner(text, true);
  scanner.setPosition(endOf(previous));
  scanner.scan();
  return spliced(without, scanner.getTokenOffset(), scanner.getTokenOffset() + 1, "");
}

const endOf = ({ offset, length }: Node) => offset + length;

const spliced = (text: string, from: number, to: number, fresh: string) =>
  text.slice(0, from) + fresh + text.slice(to);

import {
  type Document,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  stringify,
  YAMLMap,
} from "yaml";
import { BrokenFile, type Entry, type EntryPath, type Format, lineBreak } from "./format.ts";

/** Aliases may repeat a value this often; a "billion laughs" file is an error, not a hang. */
const maxAliasCount = 100;

/**
 * YAML. An entry is added or removed as whole lines where the file allows it, so that the rest keeps every byte. Otherwise the
 * library rewrites the document, which keeps comments and order but not all spacing.
 */
export const yamlFormat: Format = {
  parse(text) {
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
    const [error] = document.errors;
    if (error) {
      const [message = ""] = error.message.split(" at line ");
      throw new BrokenFile(message, lines.linePos(error.pos[0]).line);
    }
    return toValue(document) ?? {};
  },
  *edits(text, path, value) {
    const document = parseDocument(text);
    const spliced = splice(text, document, path, value);
    if (spliced !== undefined) yield spliced;
    yield rewritten(text, document, path, value);
  },
};

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    throw new BrokenFile(error instanceof Error ? error.message : String(error));
  }
}

function splice(
  text: string,
  document: Document,
  [container, name]: EntryPath,
  value: Entry | undefined,
): string | undefined {
  const servers = document.get(container, true);
  if (servers === undefined) return value && append(text, block({ [container]: { [name]: value } }, 0, text));
  if (!isMap(servers) || servers.flow === true) return undefined;
  const pair = servers.items.find(({ key }) => isScalar(key) && key.value === name);
  if (pair === undefined)
    return value && insert(text, servers, block({ [name]: value }, columnOf(text, servers), text));
  const lines = linesOf(text, pair);
  if (lines === undefined) return undefined;
  const [before, after] = [text.slice(0, lines.from), text.slice(lines.to)];
  if (value !== undefined) return before + block({ [name]: value }, columnOf(text, servers), text) + after;
  if (servers.items.length > 1) return before + after;
  // A container without lines of its own would be null.
  const emptied = before.replace(/:[ \t]*(\r?\n)$/, ": {}$1");
  return emptied === before ? undefined : emptied + after;
}

/** `value` as lines, each with `indent` spaces before it. */
function block(value: unknown, indent: number, text: string): string {
  return stringify(value, { lineWidth: 0 })
    .trimEnd()
    .split("\n")
    .map((line) => " ".repeat(indent) + line + lineBreak(text))
    .join("");
}

function append(text: string, lines: string): string {
  return text === "" || text.endsWith("\n") ? text + lines : text + lineBreak(text) + lines;
}

/** After the last server. */
function insert(text: string, servers: YAMLMap, lines: string): string | undefined {
  const last = servers.items.at(-1);
  const place = last && linesOf(text, last);
  return place && append(text.slice(0, place.to), lines) + text.slice(place.to);
}

function columnOf(text: string, servers: YAMLMap): number {
  const from = startOf(servers.items[0]);
  return from === undefined ? 0 : from - lineStart(text, from);
}

function linesOf(text: string, pair: Pair): { from: number; to: number } | undefined {
  const start = startOf(pair);
  const end = isNode(pair.value) ? pair.value.range?.[1] : undefined;
  if (start === undefined || end === undefined) return undefined;
  // A block's end lies at the start of the next line already.
  const at = end > start && text[end - 1] === "\n" ? end - 1 : end;
  const next = text.indexOf("\n", at);
  return { from: lineStart(text, start), to: next === -1 ? text.length : next + 1 };
}

const startOf = (pair: Pair | undefined) => (isNode(pair?.key) ? pair.key.range?.[0] : undefined);

const lineStart = (text: string, offset: number) => text.lastIndexOf("\n", offset - 1) + 1;

function rewritten(
  text: string,
  document: Document,
  [container, name]: EntryPath,
  value: Entry | undefined,
): string {
  if (!isMap(document.get(container, true))) document.set(container, new YAMLMap());
  if (value === undefined) document.deleteIn([container, name]);
  else document.setIn([container, name], document.createNode(value));
  const servers = document.get(container, true);
  if (isMap(servers) && servers.items.length > 0) servers.flow = false;
  const fresh = document.toString({ lineWidth: 0, indentSeq: !hasFlatSequences(text) });
  return lineBreak(text) === "\n" ? fresh : fresh.replaceAll("\n", "\r\n");
}

/** Whether lists are indented as deep as their key, as Goose itself writes them. */
const hasFlatSequences = (text: string) => /^( *)[^\s#-][^\n]*:\r?\n\1- /m.test(text);

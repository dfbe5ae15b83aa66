import { isDeepStrictEqual } from "node:util";
import { BrokenFile, type Entry, type EntryPath, type Format, isRecord } from "./format.ts";
import type { Dialect } from "./hosts.ts";
import { jsonFormat } from "./jsonFormat.ts";
import { tomlFormat } from "./tomlFormat.ts";
import { yamlFormat } from "./yamlFormat.ts";

const formats: Record<Dialect["format"], Format> = { json: jsonFormat, yaml: yamlFormat, toml: tomlFormat };

/** Entry and file of a server, in the words of its host. */
export type Server = { dialect: Dialect; name: string };

/** The entry of the server in `text`, or undefined. Throws BrokenFile. */
export function findEntry(text: string, { dialect, name }: Server): unknown {
  const value = formats[dialect.format].parse(withoutMark(text));
  return serversIn(value, dialect.container)[name];
}

/**
 * `text` with the server as `wanted` says: new, or with the keys that start it replaced and the user's other keys kept.
 * The same text when it is so already. Throws BrokenFile.
 */
export function withServer(text: string, server: Server, wanted: Entry): string {
  return edited(text, server, mergeEntry(findEntry(text, server), wanted, server.dialect));
}

/** `text` without the server. Throws BrokenFile. */
export function withoutServer(text: string, server: Server): string {
  return edited(text, server, undefined);
}

/** Whether an entry starts what `wanted` starts. */
export function startsSame(entry: unknown, wanted: Entry, dialect: Dialect): boolean {
  return isDeepStrictEqual(entry, mergeEntry(entry, wanted, dialect));
}

function edited(text: string, { dialect, name }: Server, value: Entry | undefined): string {
  const format = formats[dialect.format];
  const mark = text.slice(0, text.length - withoutMark(text).length);
  const body = withoutMark(text);
  const path = [dialect.container, name] as const;
  const before = format.parse(body);
  if (isDeepStrictEqual(serversIn(before, dialect.container)[name], value)) return text;
  const wanted = outcome(before, path, value);
  for (const after of format.edits(body, path, value)) {
    if (isDeepStrictEqual(parsed(format, after, path), wanted)) return mark + after;
  }
  throw new BrokenFile(`${dialect.container}.${name} has a form that cannot be changed safely`);
}

/** The whole file as it must be afterwards. An empty container counts as none. */
function outcome(value: unknown, [container, name]: EntryPath, entry: Entry | undefined): unknown {
  const { [name]: _before, ...others } = serversIn(value, container);
  const servers = entry === undefined ? others : { ...others, [name]: entry };
  const { [container]: _servers, ...rest } = isRecord(value) ? value : {};
  return Object.keys(servers).length === 0 ? rest : { ...rest, [container]: servers };
}

function parsed(format: Format, text: string, path: EntryPath): unknown {
  try {
    const value = format.parse(text);
    return outcome(value, path, entryOf(serversIn(value, path[0])[path[1]]));
  } catch (error) {
    if (error instanceof BrokenFile) return undefined;
    throw error;
  }
}

const entryOf = (value: unknown): Entry | undefined => (isRecord(value) ? value : undefined);

function serversIn(value: unknown, container: string): Record<string, unknown> {
  if (!isRecord(value)) throw new BrokenFile("the file is not an object");
  const servers = Object.hasOwn(value, container) ? value[container] : undefined;
  if (servers === undefined || servers === null) return {};
  if (!isRecord(servers)) throw new BrokenFile(`"${container}" is not an object`);
  return Object.fromEntries(Object.entries(servers));
}

/** An entry that starts nothing, as one with an address, is another kind of thing and is replaced whole. */
function mergeEntry(current: unknown, wanted: Entry, { program, owned, env }: Dialect): Entry {
  if (!isRecord(current) || typeof current[program] !== "string") return wanted;
  const set = Object.fromEntries(owned.map((key) => [key, wanted[key]]));
  const merged = { ...current, ...set };
  const variables = mergeEnvironment(current[env], wanted[env]);
  return variables === undefined ? merged : { ...merged, [env]: variables };
}

/** The data directory is said by the command or not at all; the user's other variables stay. */
function mergeEnvironment(current: unknown, wanted: unknown): Entry | undefined {
  if (!isRecord(current)) return entryOf(wanted);
  const { LABWRIGHT_DATA_DIR: _before, ...others } = current;
  return { ...others, ...(isRecord(wanted) ? wanted : {}) };
}

/** A file with this server only, to copy from when the host's file cannot be changed. */
export function snippet({ dialect, name }: Server, entry: Entry): string {
  const [text = ""] = formats[dialect.format].edits("", [dialect.container, name], entry);
  return text;
}

const withoutMark = (text: string) => (text.startsWith("\uFEFF") ? text.slice(1) : text);

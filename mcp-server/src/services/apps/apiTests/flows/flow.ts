import { isDeepStrictEqual } from "node:util";
import type { ApiCheck, ApiOperation, Params } from "../../../../domain/index.ts";
import { isObject } from "../../apis/spec/reader.ts";
import { literal } from "../requests.ts";
import {
  creatorOf,
  pathParameters,
  plainName,
  type Setup,
  setupFor,
  variantOf,
  type World,
} from "../world.ts";

/** Done, and not only accepted for later. */
export const done: ApiCheck = { status: [200, 201, 203, 204, 205] };
export const isScalar = (value: unknown) => ["string", "number", "boolean"].includes(typeof value);

/** The GET of the same path, if it was reached. */
export function itemReader({ path }: ApiOperation, { spec, facts }: World): ApiOperation | undefined {
  const read = spec.operations.find((other) => other.path === path && other.method === "GET");
  return path.endsWith("}") && read && facts.get(read.id)?.reached ? read : undefined;
}

/** Top-level fields of a body that a reply shows as they were sent, and where it has them. */
export function echoOf(sent: unknown, reply: unknown): { at: string; fields: string[] } {
  const wrappers = isObject(reply) ? Object.keys(reply).filter((name) => plainName.test(name)) : [];
  const places: [string, unknown][] = [
    ["", reply],
    ...wrappers.map((name): [string, unknown] => [`.${name}`, Object(reply)[name]]),
  ];
  const found = places.map(([at, part]) => {
    const own = isObject(sent) && isObject(part) ? part : {};
    const fields = Object.entries(isObject(sent) ? sent : {})
      .filter(
        ([name, value]) => plainName.test(name) && value !== null && isDeepStrictEqual(own[name], value),
      )
      .map(([name]) => name);
    return { at, fields };
  });
  found.sort((one, other) => other.fields.length - one.fields.length);
  return found[0] ?? { at: "", fields: [] };
}

/** Checks for those fields of what was sent that the reader is known to show. */
export function showing(body: unknown, fields: readonly string[], at: string): ApiCheck[] {
  const values = isObject(body) ? body : {};
  return fields
    .filter((name) => values[name] !== undefined)
    .map((name) => ({ json_path: `$${at}.${name}`, equals: literal(values[name]) }));
}

export type Item = {
  setup: Setup;
  creator: ApiOperation;
  /** What was created, and the fields of it that the reader shows. */
  body: Params;
  echo: ReturnType<typeof echoOf>;
  /** Those of the fields that another creation has otherwise. */
  own: string[];
};

/** Something that is made for the flow and can be read again as it was sent: the proof that the API keeps what it gets. */
export async function itemOf(read: ApiOperation, world: World): Promise<Item | undefined> {
  const found = creatorOf(read, pathParameters(read).at(-1) ?? "", world);
  if (!found) return undefined;
  const { creator } = found;
  const setup = await setupFor(read, { variant: 2 }, world);
  const [first, own] = await Promise.all(
    [1, 2].map((variant) => world.goodOf(creator, variantOf(creator, variant, world))),
  );
  const other = first?.values.body;
  const body = own?.values.body;
  const echo = echoOf(other, world.facts.get(read.id)?.body);
  if (!isObject(body) || echo.fields.length === 0) return undefined;
  const isOwn = (name: string) => !isDeepStrictEqual(Object(other)[name], body[name]);
  return { setup, creator, body, echo, own: echo.fields.filter(isOwn) };
}

/** The GET of a path that is a list of what the operation makes, and where its reply has the list. */
export function listOfCreated(creator: ApiOperation, { spec, facts }: World) {
  const list = spec.operations.find(({ path, method }) => method === "GET" && path === creator.path);
  const fact = list && facts.get(list.id);
  const at = fact?.reached ? listPathIn(fact.body) : undefined;
  return list && at !== undefined ? { list, at } : undefined;
}

export function listPathIn(body: unknown): string | undefined {
  if (Array.isArray(body)) return "";
  if (!isObject(body)) return undefined;
  const names = Object.keys(body).filter((name) => plainName.test(name) && Array.isArray(body[name]));
  return names.length === 1 ? `.${names[0]}` : undefined;
}

/** The reader of what the operation makes. */
export const readerOf = (creator: ApiOperation, { spec, facts }: World): ApiOperation | undefined =>
  spec.operations.find(
    ({ id, method, path }) =>
      method === "GET" &&
      facts.get(id)?.reached &&
      path.startsWith(`${creator.path}/{`) &&
      /^\/\{[^/]+\}$/.test(path.slice(creator.path.length)),
  );

import type { ApiParameter } from "../../../../domain/index.ts";
import type { Reader, SpecNode } from "./reader.ts";
import type { Schemas } from "./schemas.ts";

export type Tools = { reader: Reader; schemas: Schemas; isSwagger2: boolean };

const places: ReadonlySet<string> = new Set(["path", "query", "header", "cookie"]);
const isPlace = (text: string | undefined): text is ApiParameter["in"] => places.has(text ?? "");
const styles: ReadonlySet<string> = new Set([
  ...["simple", "label", "matrix", "form", "spaceDelimited", "pipeDelimited", "deepObject"],
]);
const isStyle = (text: string | undefined): text is ApiParameter["style"] => styles.has(text ?? "");

/** Of Swagger 2: how a list is written, as OpenAPI 3 says it. */
const collections: Readonly<Record<string, Pick<ApiParameter, "style" | "explode">>> = {
  ssv: { style: "spaceDelimited", explode: false },
  tsv: { style: "tabDelimited", explode: false },
  pipes: { style: "pipeDelimited", explode: false },
  multi: { style: "form", explode: true },
};

/** OpenAPI says that parameters of these names are ignored: media types and security describe them. */
const ignoredHeaders: ReadonlySet<string> = new Set(["accept", "content-type", "authorization"]);

/** Those of an operation win over those of its path. `others` are of Swagger 2: the body and the fields of a form. */
export function parametersOf(
  nodes: readonly SpecNode[],
  { path, tools }: { path: string; tools: Tools },
): { parameters: ApiParameter[]; others: SpecNode[] } {
  const found = new Map<string, ApiParameter>();
  const others = new Map<string, SpecNode>();
  for (const node of nodes) {
    const named = placed(node, tools);
    if (named === undefined) continue;
    const key = `${named.in} ${named.name}`;
    if (named.in === "body" || named.in === "formData") others.set(key, node);
    else if (named.in !== "header" || !ignoredHeaders.has(named.name.toLowerCase()))
      found.set(key, parameterOf(node, { name: named.name, in: named.in }, tools));
  }
  const inPath = [...path.matchAll(/\{([^{}]+)\}/g)].flatMap(([, name]) => name ?? []);
  for (const name of inPath) if (!found.has(`path ${name}`)) found.set(`path ${name}`, undescribed(name));
  return { parameters: [...found.values()], others: [...others.values()] };
}

function placed(node: SpecNode, { reader, isSwagger2 }: Tools) {
  reader.object(node);
  const [name, place] = [reader.text(node, "name"), reader.text(node, "in")];
  if (isSwagger2 && (place === "body" || place === "formData"))
    return { name: name ?? "", in: place } as const;
  if (name !== undefined && isPlace(place)) return { name, in: place };
  reader.problem(node, "needs a name, and in: path, query, header or cookie");
  return undefined;
}

/** A part of a path that the document forgets to describe. */
const undescribed = (name: string): ApiParameter => ({
  ...{ name, in: "path", required: true, schema: { type: "string" } },
  ...{ style: "simple", explode: false, examples: [] },
});

function parameterOf(
  node: SpecNode,
  { name, in: place }: Pick<ApiParameter, "name" | "in">,
  tools: Tools,
): ApiParameter {
  const { reader, schemas } = tools;
  const [media] = reader.members(reader.child(node, "content"));
  const holder = media?.node ?? node;
  const schema = tools.isSwagger2 ? schemas.convert(node) : schemas.convert(reader.own(holder, "schema"));
  return {
    ...{ name, in: place, required: place === "path" || reader.flag(node, "required") },
    schema: tools.isSwagger2 ? withoutPlace(schema) : schema,
    ...(tools.isSwagger2 ? collectionOf(node, place, reader) : styleOf(node, place, reader)),
    ...(media && { content_type: media.key }),
    examples: examplesOf(holder, reader),
  };
}

/** What a parameter of Swagger 2 holds next to its schema. */
function withoutPlace(schema: ApiParameter["schema"]): ApiParameter["schema"] {
  if (typeof schema === "boolean") return schema;
  const { description: _, ...rest } = schema;
  return rest;
}

function styleOf(node: SpecNode, place: ApiParameter["in"], reader: Reader) {
  const asked = reader.text(node, "style");
  const style = isStyle(asked) ? asked : place === "query" || place === "cookie" ? "form" : "simple";
  const explode = reader.own(node, "explode")?.value;
  return { style, explode: typeof explode === "boolean" ? explode : style === "form" } as const;
}

function collectionOf(node: SpecNode, place: ApiParameter["in"], reader: Reader) {
  const plain = place === "query" || place === "cookie" ? "form" : "simple";
  return collections[reader.text(node, "collectionFormat") ?? ""] ?? { style: plain, explode: false };
}

/** The values of `example` and `examples`, in this order. */
export function examplesOf(node: SpecNode, reader: Reader): unknown[] {
  const one = reader.own(node, "example");
  const list = reader.child(node, "examples");
  if (Array.isArray(list?.value)) return list.value.slice(0, mostExamples);
  const named = (list ? reader.members(list) : []).flatMap(({ node: example }) => {
    const value = reader.own(example, "value");
    return value ? [value.value] : [];
  });
  return [...(one ? [one.value] : []), ...named].slice(0, mostExamples);
}

const mostExamples = 20;

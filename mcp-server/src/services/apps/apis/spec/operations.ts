import type { ApiOperation } from "../../../../domain/index.ts";
import { bodyOf, responsesOf, swaggerBodyOf } from "./contents.ts";
import { parametersOf, type Tools } from "./parameters.ts";
import { isObject, type SpecNode } from "./reader.ts";
import { serversOf } from "./servers.ts";

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] as const;

/** Every operation under `paths`, in the document's order. */
export function operationsOf(root: SpecNode, tools: Tools): ApiOperation[] {
  const { reader } = tools;
  const taken = new Set<string>();
  return reader
    .members(reader.child(root, "paths"))
    .filter(({ key }) => !key.startsWith("x-"))
    .flatMap(({ key: path, node: item }) => {
      reader.object(item);
      return methods.flatMap((method) => {
        const node = reader.child(item, method.toLowerCase());
        if (node === undefined) return [];
        return [operationOf(node, { root, item, path, method, taken }, tools)];
      });
    });
}

type Around = {
  root: SpecNode;
  item: SpecNode;
  path: string;
  method: ApiOperation["method"];
  taken: Set<string>;
};

function operationOf(node: SpecNode, around: Around, tools: Tools): ApiOperation {
  const { reader } = tools;
  const { root, item, path, method } = around;
  reader.object(node);
  const given = [
    ...reader.items(reader.child(item, "parameters")),
    ...reader.items(reader.child(node, "parameters")),
  ];
  const { parameters, others } = parametersOf(given, { path, tools });
  const types = (key: string) => (reader.own(node, key) ? reader.texts(node, key) : reader.texts(root, key));
  const body = tools.isSwagger2 ? swaggerBodyOf(others, types("consumes"), tools) : bodyOf(node, tools);
  const summary = reader.text(node, "summary") ?? reader.text(node, "description") ?? "";
  return {
    ...{ id: idOf(node, around, tools), method, path },
    summary: summary.split("\n", 1)[0]?.slice(0, 200) ?? "",
    tags: reader.texts(node, "tags"),
    deprecated: reader.flag(node, "deprecated"),
    parameters,
    ...(body && { body }),
    responses: responsesOf(node, types("produces"), tools),
    security: securityOf(reader.own(node, "security") ?? reader.own(root, "security"), tools),
    servers: tools.isSwagger2 ? [] : ownServers(node, item, tools),
    extensions: { ...extensionsOf(item), ...extensionsOf(node) },
  };
}

function ownServers(node: SpecNode, item: SpecNode, tools: Tools): string[] {
  const own = serversOf(node, tools);
  return own.length > 0 ? own : serversOf(item, tools);
}

function idOf(node: SpecNode, { method, path, taken }: Around, { reader }: Tools): string {
  const given = reader.text(node, "operationId")?.trim();
  const made = `${method.toLowerCase()}${path.replaceAll(/[^\w-]+/g, "_").replace(/_$/, "")}`;
  const wanted = given || made;
  const first = taken.has(wanted) ? made : wanted;
  let id = first;
  for (let count = 2; taken.has(id); count++) id = `${first}_${count}`;
  if (given && id !== given)
    reader.warn(node, `has the operationId ${given} of another operation; it is ${id} here`);
  taken.add(id);
  return id;
}

function securityOf(node: SpecNode | undefined, { reader }: Tools): ApiOperation["security"] {
  if (node !== undefined && !Array.isArray(node.value)) reader.warn(node, "is not a list and was left out");
  if (node === undefined || !Array.isArray(node.value)) return [];
  return node.value
    .filter(isObject)
    .map((one) =>
      Object.fromEntries(
        Object.entries(one).map(([name, scopes]) => [
          name,
          Array.isArray(scopes) ? scopes.filter((scope): scope is string => typeof scope === "string") : [],
        ]),
      ),
    );
}

const extensionsOf = ({ value }: SpecNode): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).filter(
      // Pages of documentation, which say nothing about the API itself.
      ([key]) => key.startsWith("x-") && !/^x-(readme|code-?samples|codegen|redoc)/i.test(key),
    ),
  );

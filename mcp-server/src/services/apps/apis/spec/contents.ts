import type { ApiLink, ApiMedia, ApiOperation, ApiResponse } from "../../../../domain/index.ts";
import { examplesOf, type Tools } from "./parameters.ts";
import { isObject, type SpecNode } from "./reader.ts";

type Body = NonNullable<ApiOperation["body"]>;

function mediaOf(node: SpecNode, { reader, schemas }: Tools): ApiMedia {
  const schema = reader.own(node, "schema");
  return { ...(schema && { schema: schemas.convert(schema) }), examples: examplesOf(node, reader) };
}

function contentOf(node: SpecNode | undefined, tools: Tools): Record<string, ApiMedia> {
  return Object.fromEntries(
    tools.reader.members(node).map(({ key, node: media }) => [key, mediaOf(media, tools)]),
  );
}

export function bodyOf(operation: SpecNode, tools: Tools): Body | undefined {
  const node = tools.reader.child(operation, "requestBody");
  if (node === undefined) return undefined;
  tools.reader.object(node);
  const content = contentOf(tools.reader.child(node, "content"), tools);
  if (Object.keys(content).length === 0) return undefined;
  return { required: tools.reader.flag(node, "required"), content };
}

/** Of Swagger 2: a body is a parameter, and so is each field of a form. */
export function swaggerBodyOf(
  others: readonly SpecNode[],
  consumes: readonly string[],
  tools: Tools,
): Body | undefined {
  const { reader, schemas } = tools;
  const whole = others.find((node) => reader.text(node, "in") === "body");
  if (whole) {
    const media = {
      schema: schemas.convert(reader.own(whole, "schema")),
      examples: examplesOf(whole, reader),
    };
    const content = Object.fromEntries(
      (consumes.length > 0 ? consumes : [json]).map((type) => [type, media]),
    );
    return { required: reader.flag(whole, "required"), content };
  }
  const fields = others.map((node) => {
    const { description: _, ...schema } = Object(schemas.convert(node));
    return { name: reader.text(node, "name") ?? "", schema, node };
  });
  if (fields.length === 0) return undefined;
  const required = fields.flatMap(({ name, node }) => (reader.flag(node, "required") ? [name] : []));
  const schema = {
    type: "object",
    properties: Object.fromEntries(fields.map(({ name, schema: one }) => [name, one])),
    ...(required.length > 0 && { required }),
  };
  const hasFile = fields.some(({ node }) => reader.text(node, "type") === "file");
  const given = consumes.filter((type) => /form/.test(type));
  const fitting = hasFile
    ? ["multipart/form-data"]
    : given.length > 0
      ? given
      : ["application/x-www-form-urlencoded"];
  return {
    required: required.length > 0,
    content: Object.fromEntries(fitting.map((type) => [type, { schema, examples: [] }])),
  };
}

const json = "application/json";

export function responsesOf(
  operation: SpecNode,
  produces: readonly string[],
  tools: Tools,
): Record<string, ApiResponse> {
  const { reader } = tools;
  return Object.fromEntries(
    reader
      .members(reader.child(operation, "responses"))
      .filter(({ key }) => !key.startsWith("x-"))
      .map(({ key, node }) => [statusOf(key), responseOf(node, produces, tools)]),
  );
}

const statusOf = (key: string) => (key.toLowerCase() === "default" ? "default" : key.toUpperCase());

function responseOf(node: SpecNode, produces: readonly string[], tools: Tools): ApiResponse {
  const { reader } = tools;
  reader.object(node);
  return {
    content: tools.isSwagger2
      ? swaggerContentOf(node, produces, tools)
      : contentOf(reader.child(node, "content"), tools),
    required_headers: headersOf(node, tools),
    links: tools.isSwagger2 ? [] : linksOf(node, tools),
  };
}

function swaggerContentOf(
  node: SpecNode,
  produces: readonly string[],
  tools: Tools,
): Record<string, ApiMedia> {
  const { reader, schemas } = tools;
  const schema = reader.own(node, "schema");
  const examples = reader.members(reader.child(node, "examples"));
  if (schema === undefined && examples.length === 0) return {};
  const converted = schema && { schema: schemas.convert(schema) };
  const types = produces.length > 0 ? produces : schema ? [json] : examples.map(({ key }) => key);
  return Object.fromEntries(
    types.map((type) => {
      const own = examples.flatMap(({ key, node: { value } }) => (key === type ? [value] : []));
      return [type, { ...converted, examples: own }];
    }),
  );
}

/** Lower-case names of the headers that are required. */
function headersOf(node: SpecNode, { reader }: Tools): string[] {
  return reader
    .members(reader.child(node, "headers"))
    .flatMap(({ key, node: header }) => (reader.flag(header, "required") ? [key.toLowerCase()] : []));
}

function linksOf(node: SpecNode, { reader }: Tools): ApiLink[] {
  return reader.members(reader.child(node, "links")).flatMap(({ node: link }) => {
    const operation_id = reader.text(link, "operationId");
    const parameters = reader.own(link, "parameters")?.value;
    return operation_id === undefined || !isObject(parameters) ? [] : [{ operation_id, parameters }];
  });
}

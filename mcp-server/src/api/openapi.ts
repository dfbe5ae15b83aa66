import type { AnyTool } from "../registry/tool.ts";
import { wireSchema } from "../registry/wire.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the REST interface, made from the tools' own schemas. Pure. */
export function openApiDocument(tools: readonly AnyTool[], version: string): Json {
  const schemas: Json = { Error: errorSchema, Artifact: artifactSchema, Event: eventSchema };
  for (const tool of tools) {
    addSchema(schemas, `${tool.name}_input`, wireSchema(tool.input, "input"));
    addSchema(schemas, `${tool.name}_output`, wireSchema(tool.output, "output"));
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Labwright",
      version,
      description: "Drives and judges devices. Each tool of the MCP server is one path here.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/api/v1" }],
    security: [{ token: [] }],
    paths: {
      ...fixedPaths,
      ...Object.fromEntries(tools.map((tool) => [`/tools/${tool.name}`, toolPath(tool)])),
    },
    components: { schemas, securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  };
}

function toolPath(tool: AnyTool): Json {
  return {
    post: {
      operationId: tool.name,
      tags: [tool.domain],
      summary: tool.title,
      description: tool.description,
      parameters: tool.effect === "read" || tool.idempotent ? [] : [idempotencyKey],
      requestBody: { content: json(ref(`${tool.name}_input`)) },
      responses: {
        200: { description: "The tool's result.", content: json(success(ref(`${tool.name}_output`))) },
        default: failure,
      },
    },
  };
}

/** A schema of its own, with what it refers to inside itself moved beside it. */
function addSchema(schemas: Json, name: string, schema: Json): void {
  const { $defs = {}, ...rest } = schema;
  schemas[name] = relink(rest, name);
  for (const [inner, definition] of Object.entries($defs ?? {})) {
    schemas[`${name}__${inner}`] = relink(definition, name);
  }
}

function relink(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => relink(item, name));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    if (key !== "$ref" || typeof item !== "string") return [key, relink(item, name)];
    return [key, item.replace(/^#\/\$defs\//, `${component(name)}__`).replace(/^#$/, component(name))];
  });
  return Object.fromEntries(entries);
}

const component = (name: string) => `#/components/schemas/${name}`;
const ref = (name: string): Json => ({ $ref: component(name) });
const json = (schema: Json): Json => ({ "application/json": { schema } });
const object = (properties: Json, required = Object.keys(properties)): Json => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" };
const integer = { type: "integer" };

const success = (result: Json) =>
  object(
    {
      success: { const: true },
      result,
      artifacts: { type: "array", items: ref("Artifact") },
      trace_id: text,
    },
    ["success", "result", "trace_id"],
  );

const errorSchema = object({
  success: { const: false },
  error: object(
    {
      code: text,
      message: text,
      http_status: integer,
      details: { type: "object" },
      trace_id: text,
      timestamp: { type: "string", format: "date-time" },
      hint: { ...text, description: "The next step to try." },
    },
    ["code", "message", "http_status", "details", "trace_id", "timestamp"],
  ),
});
const artifactSchema = object({ name: text, uri: text, href: text, mime_type: text });
const eventSchema = object(
  {
    id: integer,
    type: text,
    priority: { enum: ["critical", "high", "normal"] },
    source: text,
    device_id: text,
    execution_id: text,
    payload: { type: "object" },
    at: { type: "string", format: "date-time" },
  },
  ["id", "type", "priority", "source", "payload", "at"],
);
const failure = { description: "What went wrong.", content: json(ref("Error")) };
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description: "The same key with the same arguments gives the stored result and runs nothing twice.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};
const query = (name: string, schema: Json) => ({ name, in: "query", schema });
const ok = (description: string, schema: Json) => ({ 200: { description, content: json(schema) } });

const fixedPaths: Json = {
  "/health": {
    get: {
      operationId: "health",
      summary: "State of the server",
      responses: {
        ...ok(
          "All services work.",
          object({
            status: { enum: ["healthy", "unhealthy"] },
            timestamp: { type: "string", format: "date-time" },
            services: { type: "object", additionalProperties: text },
          }),
        ),
        503: { description: "A service does not work; the body is the same." },
      },
    },
  },
  "/tools": {
    get: {
      operationId: "tools",
      summary: "All tools",
      responses: ok(
        "Sorted by name.",
        object({
          tools: {
            type: "array",
            items: object({
              name: text,
              description: text,
              capabilities: { type: "array", items: text },
              domain: text,
              schema: { type: "object", description: "JSON Schema of the arguments." },
            }),
          },
        }),
      ),
    },
  },
  "/events": {
    get: {
      operationId: "events",
      summary: "Events in order, from a cursor",
      description: "With `Accept: text/event-stream` the answer goes on; resume it with Last-Event-ID.",
      parameters: [
        query("after", { type: "integer", minimum: 0, default: 0 }),
        query("limit", { type: "integer", minimum: 1, maximum: 1_000, default: 100 }),
      ],
      responses: {
        ...ok(
          "`next` is the `after` to go on with.",
          object({ events: { type: "array", items: ref("Event") }, next: integer }),
        ),
        default: failure,
      },
    },
  },
  "/artifacts/{sha256}": {
    get: {
      operationId: "artifact",
      summary: "A file of an execution",
      parameters: [
        { name: "sha256", in: "path", required: true, schema: { type: "string", pattern: "^[0-9a-f]{64}$" } },
      ],
      responses: { 200: { description: "The file.", content: { "*/*": {} } }, default: failure },
    },
  },
};

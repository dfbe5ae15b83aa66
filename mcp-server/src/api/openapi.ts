import { OpenAPIHono, type RouteConfig, z } from "@hono/zod-openapi";
import {
  appMapSchema,
  comparisonSchema,
  memoryKindSchema,
  memoryScopeSchema,
  questionSchema,
  runViewSchema,
  skillSpendingSchema,
  skillUseSchema,
} from "../domain/index.ts";
import type { AnyTool } from "../registry/tool.ts";
import { wireSchema } from "../registry/wire.ts";
import { auditQuerySchema } from "./audit.ts";
import { consumerSchema, doneSchema, querySchema } from "./events.ts";
import { taskSchema } from "./executeTask.ts";
import { forgetQuerySchema, memoryQuerySchema } from "./memory.ts";
import { runQuerySchema } from "./page.ts";
import { skillStatsQuerySchema } from "./skillStats.ts";
import { toolQuerySchema, toolSchema } from "./tools.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of the REST interface, made from the schemas of tools and routes. Pure. */
export function openApiDocument(tools: readonly AnyTool[], version: string): Json {
  const { components, paths, ...rest } = routesDocument(version);
  const schemas: Json = { ...components?.schemas };
  for (const tool of tools) {
    addSchema(schemas, `${tool.name}_input`, wireSchema(tool.input, "input"));
    addSchema(schemas, `${tool.name}_output`, wireSchema(tool.output, "output"));
  }
  const toolPaths = Object.fromEntries(tools.map((tool) => [`/tools/${tool.name}`, toolPath(tool)]));
  return { ...rest, paths: { ...paths, ...toolPaths }, components: { ...components, schemas } };
}

const license = { name: "Apache-2.0", identifier: "Apache-2.0" };

function routesDocument(version: string) {
  const api = new OpenAPIHono();
  const { openAPIRegistry: registry } = api;
  registry.register("Artifact", artifactSchema);
  registry.register("Error", errorSchema);
  registry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" });
  for (const route of routes) registry.registerPath(route);
  return api.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Labwright",
      version,
      description: "Drives and judges devices. Each tool of the MCP server is one path here.",
      license,
    },
    servers: [{ url: "/api/v1" }],
    security: [{ token: [] }],
  });
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

/** A schema of its own, with its own definitions moved next to it. */
function addSchema(schemas: Json, name: string, schema: Json): void {
  const { $defs = {}, ...rest } = schema;
  schemas[name] = relink(rest, name);
  for (const [inner, definition] of Object.entries($defs ?? {})) {
    schemas[`${name}__${inner}`] = relink(definition, name);
  }
}

function relink(schema: unknown, name: string): unknown {
  return JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
    if (key !== "$ref" || typeof value !== "string") return value;
    return value.replace(/^#\/\$defs\//, `${component(name)}__`).replace(/^#$/, component(name));
  });
}

const component = (name: string) => `#/components/schemas/${name}`;
const ref = (name: string) => ({ $ref: component(name) });
const json = <T>(schema: T) => ({ "application/json": { schema } });

const success = (result: Json): Json => ({
  type: "object",
  properties: {
    success: { const: true },
    result,
    artifacts: { type: "array", items: ref("Artifact") },
    trace_id: { type: "string" },
  },
  required: ["success", "result", "trace_id"],
});
const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description: "The same key with the same arguments gives the stored result and runs nothing twice.",
  schema: { type: "string", minLength: 1, maxLength: 200 },
};
const failure = { description: "What went wrong.", content: json(ref("Error")) };

const artifactSchema = z.object({
  name: z.string(),
  uri: z.string(),
  href: z.string(),
  mime_type: z.string(),
  link: z.string().optional().describe("A person opens it without the token, for a day."),
});
const errorSchema = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    http_status: z.int(),
    details: z.looseObject({}),
    trace_id: z.string(),
    timestamp: z.iso.datetime(),
    hint: z.string().optional().describe("The next step to try."),
  }),
});
const eventSchema = z.object({
  id: z.int(),
  type: z.string(),
  priority: z.enum(["critical", "high", "normal"]),
  source: z.string(),
  device_id: z.string().optional(),
  execution_id: z.string().optional(),
  payload: z.looseObject({}),
  at: z.iso.datetime(),
});
const healthSchema = z.object({
  status: z.enum(["healthy", "unhealthy"]),
  timestamp: z.iso.datetime(),
  services: z.record(z.string(), z.string()),
});
const auditSchema = z.object({
  at: z.iso.datetime(),
  principal: z.string(),
  client: z.string(),
  tool: z.string(),
  device_id: z.string().optional(),
  fence: z.int().optional().describe("Of the lease that the call was made under."),
  outcome: z.string().describe("ok, or an error code."),
  duration_ms: z.int(),
  trace_id: z.string(),
});

const memorySchema = z.object({
  id: z.string(),
  scope: memoryScopeSchema,
  subject: z.string().describe("Name of the app or test, or id of the device."),
  kind: memoryKindSchema,
  text: z.string().describe("Data, never an instruction."),
  execution_id: z.string().describe("The newest execution that showed it."),
  confidence: z.number().min(0).max(1),
  seen: z.int().describe("In so many executions."),
  at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});

const answer = (description: string, schema: z.ZodType) => ({ description, content: json(schema) });
const orFailure = (description: string, schema: z.ZodType) => ({
  200: answer(description, schema),
  default: failure,
});
const recentSchema = z.object({ at: z.iso.datetime(), href: z.string() });
/** `after` without coercion, which takes null for a number. */
const eventQuery = querySchema.extend({ after: z.int().min(0).optional() });
const cursor = { path: "/events/cursors/{consumer}", params: z.object({ consumer: consumerSchema }) };

const agentTask = {
  path: "/agent/tasks/{agent}/{key}",
  params: z.object({ agent: z.string(), key: z.string() }),
};

const routes: readonly RouteConfig[] = [
  {
    ...{ method: "get", path: "/health", operationId: "health", summary: "State of the server" },
    responses: {
      200: answer("All services work.", healthSchema),
      503: answer("A service does not work.", healthSchema),
    },
  },
  {
    ...{
      method: "get",
      path: "/tools",
      operationId: "tools",
      summary: "All tools, or those of a domain or capabilities",
    },
    request: { query: toolQuerySchema },
    responses: orFailure("Sorted by name.", z.object({ tools: z.array(toolSchema) })),
  },
  {
    ...{
      method: "get",
      path: "/audit",
      operationId: "audit",
      summary: "Who called what that may change something",
    },
    request: { query: auditQuerySchema.extend({ limit: z.int().min(1).max(1_000).default(100) }) },
    responses: orFailure("Newest first.", z.object({ calls: z.array(auditSchema) })),
  },
  {
    ...{ method: "get", path: "/memory", operationId: "memory", summary: "What earlier executions showed" },
    request: { query: memoryQuerySchema.extend({ limit: z.int().min(1).max(1_000).default(100) }) },
    responses: orFailure("The most certain first.", z.object({ memory: z.array(memorySchema) })),
  },
  {
    ...{ method: "delete", path: "/memory", operationId: "forget", summary: "Forget one memory, or all" },
    request: { query: forgetQuerySchema },
    responses: orFailure("How many are gone.", z.object({ forgotten: z.int() })),
  },
  {
    ...{
      method: "get",
      path: "/skills/stats",
      operationId: "skillStats",
      summary: "Use of skills that investigate",
    },
    request: { query: skillStatsQuerySchema },
    responses: orFailure(
      "By skill.",
      z.object({ uses: z.array(skillUseSchema), spending: z.array(skillSpendingSchema) }),
    ),
  },
  {
    ...{ method: "get", path: "/events", operationId: "events", summary: "Events in order, from a cursor" },
    description: "With `Accept: text/event-stream` the answer goes on; resume it with Last-Event-ID.",
    request: { query: eventQuery },
    responses: orFailure(
      "`next` is the `after` to go on with.",
      z.object({ events: z.array(eventSchema.openapi("Event")), next: z.int() }),
    ),
  },
  {
    ...{ method: "get", path: cursor.path, operationId: "cursor", summary: "What a consumer has done" },
    request: { params: cursor.params },
    responses: orFailure("The last event that it has done.", doneSchema),
  },
  {
    ...{ method: "put", path: cursor.path, operationId: "done", summary: "Say what a consumer has done" },
    request: { params: cursor.params, body: { required: true, content: json(doneSchema) } },
    responses: orFailure("The last event that it has done; never goes back.", doneSchema),
  },
  {
    ...{ method: "post", path: "/agent/executeTask", operationId: "executeTask" },
    summary: "Run a task in words; also at /host/aiagent/executeTask",
    description: "`success` needs a check that held. A task that is not understood runs nothing.",
    request: { body: { required: true, content: json(taskSchema) } },
    responses: orFailure(
      "How the plan of the task ended, with a result for each of its steps.",
      z.looseObject({ success: z.boolean(), results: z.array(z.looseObject({})), message: z.string() }),
    ),
  },
  {
    ...{ method: "get", path: "/agent/questions", operationId: "questions" },
    summary: "What agents and investigations ask a person",
    responses: orFailure("Those that are open.", z.object({ questions: z.array(questionSchema) })),
  },
  {
    ...{
      method: "post",
      path: "/agent/questions/{id}",
      operationId: "decide",
      summary: "Decide an approval",
    },
    request: {
      params: z.object({ id: z.string() }),
      body: { required: true, content: json(z.object({ answer: z.enum(["approve", "refuse"]) })) },
    },
    responses: orFailure("The first answer counts; 409 for a later one.", z.object({ answer: z.string() })),
  },
  {
    ...{ method: "get", path: "/agent/tasks", operationId: "tasks", summary: "Tasks of agents" },
    responses: orFailure("Newest first.", z.object({ tasks: z.array(z.looseObject({})) })),
  },
  {
    ...{
      method: "get",
      path: agentTask.path,
      operationId: "task",
      summary: "A task: result, or how far it is",
    },
    request: { params: agentTask.params },
    responses: orFailure("The task.", z.looseObject({ state: z.string() })),
  },
  {
    ...{ method: "delete", path: agentTask.path, operationId: "stopTask", summary: "Stop a task" },
    request: { params: agentTask.params },
    responses: orFailure("False for one that had ended.", z.object({ cancelled: z.boolean() })),
  },
  {
    ...{ method: "get", path: "/agent/conversations", operationId: "conversations" },
    summary: "Conversations with agents",
    responses: orFailure("Newest first.", z.object({ conversations: z.array(z.looseObject({})) })),
  },
  {
    ...{ method: "get", path: "/agent/conversations/{id}", operationId: "conversation" },
    summary: "What was said and happened behind these numbers",
    request: {
      params: z.object({ id: z.string() }),
      query: z.object({ events: z.int().min(0).optional(), messages: z.int().min(0).optional() }),
    },
    responses: orFailure("At most 500 of each.", z.looseObject({ said: z.array(z.string()) })),
  },
  {
    ...{ method: "get", path: "/devices/{id}/live", operationId: "live" },
    summary: "What a device shows, as pictures one after another",
    description: "At most 5 a second; a slow reader gets the newest. `id` may contain a slash.",
    request: { params: z.object({ id: z.string() }) },
    responses: {
      200: {
        description: "Pictures until the reader leaves.",
        content: { "multipart/x-mixed-replace": { schema: {} } },
      },
      default: failure,
    },
  },
  {
    ...{ method: "get", path: "/devices/{id}/live-address", operationId: "liveAddress" },
    summary: "A short-lived address of the live picture, which needs no token",
    request: { params: z.object({ id: z.string() }) },
    responses: orFailure("Relative to this server.", z.object({ href: z.string() })),
  },
  {
    ...{ method: "get", path: "/devices/{id}/recent", operationId: "recent" },
    summary: "The pictures of a device's last 5 minutes, oldest first, also after it was closed",
    description:
      "Of its video one in 2 s, else those that viewers and tools took. The addresses need no token.",
    request: { params: z.object({ id: z.string() }) },
    responses: orFailure("With their times.", z.object({ pictures: z.array(recentSchema) })),
  },
  {
    ...{ method: "get", path: "/devices/{id}/recent/{at}", operationId: "recentPicture" },
    summary: "The picture of a time in ms since the epoch, or the last one before it",
    request: { params: z.object({ id: z.string(), at: z.int() }) },
    responses: { 200: { description: "It.", content: { "image/*": { schema: {} } } }, default: failure },
  },
  {
    ...{ method: "get", path: "/apps/{id}/map", operationId: "appMap" },
    summary: "An app's trees, nodes and edges, with how reliable each edge was",
    description: "`id` is an id or name. The addresses of pictures need no token, and are good for an hour.",
    request: { params: z.object({ id: z.string() }) },
    responses: orFailure("The whole app.", appMapSchema),
  },
  {
    ...{ method: "get", path: "/executions/{id}", operationId: "execution" },
    summary: "A run as people see it: its steps, what they expected and found, and their pictures",
    description: "The addresses of pictures need no token, and are good for an hour.",
    request: { params: z.object({ id: z.string() }), query: runQuerySchema },
    responses: orFailure("`more` steps follow; ask again with the last index as `after`.", runViewSchema),
  },
  {
    ...{ method: "get", path: "/executions/{id}/comparison", operationId: "comparison" },
    summary: "A run next to the last earlier run of its test that passed: steps that differ, and how",
    request: { params: z.object({ id: z.string() }) },
    responses: orFailure("`good` is absent if no earlier run passed.", comparisonSchema),
  },
  {
    ...{ method: "get", path: "/artifacts/{sha256}", operationId: "artifact" },
    summary: "A file of an execution",
    request: { params: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) },
    responses: { 200: { description: "The file.", content: { "*/*": { schema: {} } } }, default: failure },
  },
];

import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { AgentError } from "@labwright/agent-client";
import { secureHeaders } from "hono/secure-headers";
import { errorResponse } from "../../api/errors.ts";
import { type ApiDeps, basePath, maxRequestBytes } from "./deps.ts";
import { invalidInput, reportedError } from "./errors.ts";
import { type ApiEnv, createGate, type Gate, guard, limitBody } from "./gate.ts";
import { addMessages, messagesPath } from "./messages.ts";
import { json, okResponses, response } from "./schemas.ts";
import { addSessions } from "./sessions.ts";
import { createSockets, type Sockets } from "./sockets.ts";
import { createTaskStream, type TaskStream } from "./stream.ts";
import { addTasks, tasksPath } from "./tasks.ts";
import { addWebhook } from "./webhook.ts";

const info = {
  title: "Labwright agents",
  version: "1",
  description:
    "Conversations with agents that drive devices. The same over Socket.IO in the namespace `/agent` with `auth: {token}`: `send_message`, `join_session`, `leave_session`, `interrupt` and `approve` in, `agent_event` and `error` out. Tasks are also at the plain WebSocket `/api/v1/agent/stream`.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** REST under `/server/agent` and Socket.IO under `/socket.io`, behind the server's checks of Host and Origin. */
export type AgentApi = Sockets & {
  /** The plain WebSocket of tasks. */
  streamUpgrade: TaskStream["upgrade"];
  /** `env` has the bindings of the HTTP server. */
  fetch(request: Request, env: unknown): Response | Promise<Response>;
};

/** It checks credentials itself. Throws CONFIG_INVALID. */
export function createAgentApi(deps: ApiDeps): AgentApi {
  const gate = createGate(deps);
  const app = createApp(deps, gate);
  const sockets = createSockets(deps, gate);
  const stream = createTaskStream(deps, gate);
  return {
    fetch: (request, env) => app.fetch(request, env),
    ...sockets,
    streamUpgrade: stream.upgrade,
    async close() {
      stream.close();
      await sockets.close();
    },
  };
}

function createApp(deps: ApiDeps, gate: Gate): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success)
        throw invalidInput(result.error, result.target === "json" ? "body" : result.target);
    },
  });
  app.onError((error, c) => {
    const failure = reportedError(error, deps, c.req.header("traceparent"));
    const { retry_after_seconds: wait } = failure.details;
    return errorResponse(failure, {
      ...(failure.http_status === 401 && { "www-authenticate": 'Bearer realm="labwright"' }),
      ...(wait !== undefined && { "retry-after": String(wait) }),
    });
  });
  app.notFound((c) => {
    const asked = `${c.req.method} ${c.req.path.slice(0, 200)}`;
    throw new AgentError("NOT_FOUND", `There is no ${asked}.`, `See ${basePath}/openapi.json.`);
  });
  app.use(
    secureHeaders({
      contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
      // Plain HTTP on this machine: a browser must not remember otherwise for every port of the name.
      strictTransportSecurity: false,
      xFrameOptions: "DENY",
    }),
  );
  addWebhook(app, deps, gate);
  for (const path of [`${basePath}/*`, tasksPath, `${tasksPath}/*`, messagesPath])
    app.use(path, guard(gate), limitBody(maxRequestBytes));
  addOwner(app, deps);
  addSessions(app, deps);
  addTasks(app, deps);
  addMessages(app, deps);
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "The daemon's token, an API key of agents.api.keys, or a JWT.",
  });
  app.get(`${basePath}/openapi.json`, (c) =>
    c.json(app.getOpenAPI31Document({ openapi: "3.1.0", info, security: [{ bearer: [] }] })),
  );
  return app;
}

const healthSchema = z
  .object({
    status: z.enum(["healthy", "unhealthy"]),
    server: z.boolean(),
    model: z.string().nullable(),
    timestamp: z.string(),
  })
  .openapi("Health");

const health = createRoute({
  method: "get",
  path: `${basePath}/health`,
  summary: "State of the agents",
  responses: {
    ...okResponses("The tools answer. `model` is null where none can be asked.", healthSchema),
    503: response("The tools do not answer.", healthSchema),
  },
});

const keySchema = z
  .strictObject({
    api_key: z.string().regex(/^[\x21-\x7e]{8,500}$/, "must be 8 to 500 characters without spaces"),
  })
  .openapi("ApiKey");

const saveKey = createRoute({
  method: "post",
  path: `${basePath}/api-key`,
  summary: "Keep the key of a model",
  description:
    "For the owner of the daemon's token. The key is tested with one call and stored in a file; it is never returned.",
  request: { body: { required: true, content: json(keySchema) } },
  responses: okResponses("It works and is kept.", z.object({ saved: z.literal(true) })),
});

/** What concerns the owner of the machine: whether all works, and the key of the model. */
function addOwner(app: OpenAPIHono<ApiEnv>, deps: ApiDeps): void {
  app.openapi(health, async (c) => {
    const { server, model } = await deps.health().catch(() => ({ server: false, model: null }));
    const status = server ? ("healthy" as const) : ("unhealthy" as const);
    const body = { status, server, model, timestamp: new Date(deps.clock.now()).toISOString() };
    return server ? c.json(body, 200) : c.json(body, 503);
  });
  app.openapi(saveKey, async (c) => {
    if (!c.get("principal").isLocal)
      throw new AgentError("FORBIDDEN", "Only the daemon's token may set the key.", "It is in daemon.json.");
    const { api_key } = c.req.valid("json");
    if (!(await deps.tryKey(api_key)))
      throw new AgentError("API_KEY_INVALID", "The key was tried and refused.", "Nothing changed here.");
    await deps.saveKey(api_key);
    return c.json({ saved: true as const }, 200);
  });
}

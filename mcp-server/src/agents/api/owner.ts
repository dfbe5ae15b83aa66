import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { AgentError } from "@labwright/agent-client";
import { type ApiDeps, basePath } from "./deps.ts";
import type { ApiEnv } from "./gate.ts";
import { failures, json } from "./schemas.ts";

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
    200: {
      description: "The tools answer. `model` is null where none can be asked.",
      content: json(healthSchema),
    },
    503: { description: "The tools do not answer; the body is the same." },
    ...failures,
  },
});

const saveKey = createRoute({
  method: "post",
  path: `${basePath}/api-key`,
  summary: "Keep the key of a model",
  description:
    "For the owner of the daemon's token. The key is tried with one call, kept in a file, never told.",
  request: {
    body: {
      required: true,
      content: json(
        z
          .strictObject({
            api_key: z.string().regex(/^[\x21-\x7e]{8,500}$/, "must be 8 to 500 characters without spaces"),
          })
          .openapi("ApiKey"),
      ),
    },
  },
  responses: {
    200: { description: "It works and is kept.", content: json(z.object({ saved: z.literal(true) })) },
    ...failures,
  },
});

/** What concerns the owner of the machine: whether all works, and the key of the model. */
export function addOwner(app: OpenAPIHono<ApiEnv>, deps: ApiDeps): void {
  app.openapi(health, async (c) => {
    const { server, model } = await deps.health().catch(() => ({ server: false, model: null }));
    const status = server ? "healthy" : "unhealthy";
    const body = { status, server, model, timestamp: new Date(deps.clock.now()).toISOString() } as const;
    return server ? c.json(body, 200) : c.json(body, 503);
  });
  app.openapi(saveKey, async (c) => {
    if (!c.get("principal").isLocal) {
      throw new AgentError(
        "FORBIDDEN",
        "Only the owner of the daemon's token may set the key of a model.",
        "Send the token of daemon.json.",
      );
    }
    const { api_key } = c.req.valid("json");
    if (!(await deps.tryKey(api_key))) {
      throw new AgentError(
        "API_KEY_INVALID",
        "The key was tried and refused.",
        "Copy it again from where you got it; nothing was changed here.",
      );
    }
    await deps.saveKey(api_key);
    return c.json({ saved: true as const }, 200);
  });
}

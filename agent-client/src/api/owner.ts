import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { AgentError } from "../errors.ts";
import { type ApiDeps, basePath } from "./deps.ts";
import { type ApiEnv, type Gate, limitAddress } from "./gate.ts";
import { failures, guarded, json } from "./schemas.ts";

const health = createRoute({
  method: "get",
  path: `${basePath}/health`,
  summary: "State of the agent client",
  responses: {
    200: {
      description: "The server answers. `model` is null where none can be asked.",
      content: json(
        z
          .object({
            status: z.enum(["healthy", "unhealthy"]),
            server: z.boolean(),
            model: z.string().nullable(),
            timestamp: z.string(),
          })
          .openapi("Health"),
      ),
    },
    503: { description: "The server does not answer; the body is the same." },
  },
});

const saveKey = createRoute({
  method: "post",
  path: `${basePath}/api-key`,
  summary: "Keep the key of a model",
  description:
    "For the owner of the daemon's token. The key is tried with one call, kept in a file, never told.",
  security: guarded,
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

/** Open to all: it says nothing that is secret. */
export function addHealth(app: OpenAPIHono<ApiEnv>, deps: ApiDeps, gate: Gate): void {
  app.use(health.path, limitAddress("health", gate));
  app.openapi(health, async (c) => {
    const { server, model } = await deps.health().catch(() => ({ server: false, model: null }));
    const status = server ? "healthy" : "unhealthy";
    const body = { status, server, model, timestamp: new Date(deps.clock.now()).toISOString() } as const;
    return server ? c.json(body, 200) : c.json(body, 503);
  });
}

export function addApiKey(app: OpenAPIHono<ApiEnv>, { keys }: ApiDeps): void {
  app.openapi(saveKey, async (c) => {
    if (!c.get("principal").isLocal) {
      throw new AgentError(
        "FORBIDDEN",
        "Only the owner of the daemon's token may set the key of a model.",
        "Send the token of daemon.json.",
      );
    }
    const { api_key } = c.req.valid("json");
    if (!(await keys.try(api_key))) {
      throw new AgentError(
        "API_KEY_INVALID",
        "The key was tried and refused.",
        "Copy it again from where you got it; nothing was changed here.",
      );
    }
    await keys.save(api_key);
    return c.json({ saved: true as const }, 200);
  });
}

import type { OpenAPIHono } from "@hono/zod-openapi";
import { basePath } from "./deps.ts";
import type { ApiEnv } from "./gate.ts";
import { documentPage, pagePolicy } from "./page.ts";

const info = {
  title: "Labwright agents",
  version: "1",
  description:
    "Conversations with agents that drive devices. The same over Socket.IO in the namespace `/agent` with `auth: {token}`: `send_message`, `join_session`, `interrupt` and `approve` in, `agent_event` and `error` out.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** The document of all that `app` serves, and a page of it. Both are open: they hold nothing of anybody. */
export function addDocument(app: OpenAPIHono<ApiEnv>): void {
  const document = () => app.getOpenAPI31Document({ openapi: "3.1.0", info });
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    description: "The daemon's token, an API key of agents.api.keys, or a JWT.",
  });
  app.get(`${basePath}/openapi.json`, (c) => c.json(document()));
  app.get(`${basePath}/docs`, (c) => {
    c.header("content-security-policy", pagePolicy);
    return c.html(documentPage(document()));
  });
}

import { OpenAPIHono } from "@hono/zod-openapi";
import { AgentError } from "@labwright/agent-client";
import { bodyLimit } from "hono/body-limit";
import { secureHeaders } from "hono/secure-headers";
import { type ApiDeps, basePath, bodyLimitBytes } from "./deps.ts";
import { invalidInput, toldError, toldResponse } from "./errors.ts";
import { type ApiEnv, type Gate, guard } from "./gate.ts";
import { addMessages } from "./messages.ts";
import { addOwner } from "./owner.ts";
import { addSessions } from "./sessions.ts";
import { addWebhook } from "./webhook.ts";

const info = {
  title: "Labwright agents",
  version: "1",
  description:
    "Conversations with agents that drive devices. The same over Socket.IO in the namespace `/agent` with `auth: {token}`: `send_message`, `join_session`, `interrupt` and `approve` in, `agent_event` and `error` out.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** The REST interface under `/server/agent`, behind the server's checks of Host and Origin. It checks credentials itself. */
export function createAgentApp(deps: ApiDeps, gate: Gate): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error, place[result.target] ?? result.target);
    },
  });
  app.onError((error, c) => toldResponse(toldError(error, deps, c.req.header("traceparent"))));
  app.notFound((c) => {
    throw new AgentError(
      "NOT_FOUND",
      `There is no ${c.req.method} ${c.req.path.slice(0, 200)}.`,
      `See ${basePath}/openapi.json for what there is.`,
    );
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
  app.use(`${basePath}/*`, guard(gate), bodyLimit({ maxSize: bodyLimitBytes, onError: tooLarge }));
  addOwner(app, deps);
  addSessions(app, deps);
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

const place: Readonly<Record<string, string>> = { json: "body", param: "path" };

function tooLarge(): never {
  throw new AgentError(
    "INPUT_TOO_LARGE",
    `A request has at most ${bodyLimitBytes} bytes.`,
    "Send less, or name a file that a tool can read.",
  );
}

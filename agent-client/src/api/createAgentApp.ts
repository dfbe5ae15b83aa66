import { OpenAPIHono } from "@hono/zod-openapi";
import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { AgentError } from "../errors.ts";
import { type ApiDeps, basePath, bodyLimitBytes } from "./deps.ts";
import { addDocument } from "./document.ts";
import { errorBody, errorResponse, invalidInput, isExpected, traceIdFrom } from "./errors.ts";
import { type ApiEnv, createGate, type Gate, guard } from "./gate.ts";
import { addMessages } from "./messages.ts";
import { addApiKey, addHealth } from "./owner.ts";
import { addSessions } from "./sessions.ts";
import { addWebhook } from "./webhook.ts";

/**
 * The REST interface under `/server/agent`. It checks credentials itself; Host and Origin are checked by who opens the
 * port, in `before`. Throws CONFIG_INVALID.
 */
export function createAgentApp(
  deps: ApiDeps,
  { gate = createGate(deps), before = [] }: { gate?: Gate; before?: readonly MiddlewareHandler[] } = {},
): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidInput(result.error, place[result.target] ?? result.target);
    },
  });
  app.onError((error, c) => {
    const trace_id = traceIdFrom(c.req.header("traceparent"));
    if (!isExpected(error)) deps.fault?.(error, trace_id);
    return errorResponse(errorBody(error, trace_id, new Date(deps.clock.now())));
  });
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
      overwrite: false,
    }),
  );
  for (const middleware of before) app.use(middleware);
  const { allowed_origins: origin } = deps.settings;
  if (origin.length > 0) app.use(cors({ origin, allowHeaders: ["authorization", "content-type"] }));

  addHealth(app, deps, gate);
  addWebhook(app, deps, gate);
  addDocument(app);
  app.use(`${basePath}/*`, guard(gate), bodyLimit({ maxSize: bodyLimitBytes, onError: tooLarge }));
  addApiKey(app, deps);
  addSessions(app, deps);
  addMessages(app, deps);
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

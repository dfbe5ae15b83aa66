import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiDeps } from "./deps.ts";
import type { ApiEnv } from "./gate.ts";
import { json, okResponses } from "./schemas.ts";

export const messagesPath = "/api/v1/messages";

const envelope = z.record(z.string(), z.unknown()).openapi("RoleMessage", {
  description: "The envelope of seed 001, in snake case or in the seed's spelling.",
});

const deliver = createRoute({
  method: "post",
  path: messagesPath,
  summary: "Deliver a message to a role",
  description:
    "Routes the message to the planner, an executor or the critic, and answers with the reply when the work has ended. The work ends if the client disconnects.",
  request: { body: { required: true, content: json(envelope) } },
  responses: okResponses("The reply, an envelope too.", envelope),
});

const list = createRoute({
  method: "get",
  path: messagesPath,
  summary: "Messages of one correlation id",
  description: "Requests, routing decisions and replies, in the order in which they came.",
  request: {
    query: z.object({
      correlation_id: z.uuid(),
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
  },
  responses: okResponses(
    "The messages; `seq` is the `after` of the next page.",
    z.object({ messages: z.array(z.object({ seq: z.int(), message: envelope })) }),
  ),
});

export function addMessages(app: OpenAPIHono<ApiEnv>, { messages }: Pick<ApiDeps, "messages">): void {
  app.openapi(deliver, async (c) =>
    c.json(await messages.deliver(c.get("principal").owner, c.req.valid("json"), c.req.raw.signal), 200),
  );
  app.openapi(list, async (c) =>
    c.json(
      { messages: await messages.list({ owner: c.get("principal").owner, ...c.req.valid("query") }) },
      200,
    ),
  );
}

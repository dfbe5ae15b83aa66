import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiDeps } from "./deps.ts";
import { basePath } from "./deps.ts";
import type { ApiEnv } from "./gate.ts";
import {
  approvalSchema,
  createSchema,
  eventSchema,
  failures,
  json,
  sessionParams,
  sessionSchema,
  storedSessionSchema,
  toSession,
} from "./schemas.ts";

const sessionsPath = `${basePath}/sessions`;
const onePath = `${sessionsPath}/{id}` as const;
const answer = <T extends z.ZodType>(description: string, schema: T) => ({
  description,
  content: json(schema),
});

const createSession = createRoute({
  method: "post",
  path: sessionsPath,
  summary: "Create a session",
  request: { body: { content: json(createSchema) } },
  responses: { 201: answer("The session.", sessionSchema), ...failures },
});

const listSessions = createRoute({
  method: "get",
  path: sessionsPath,
  summary: "Your sessions, and what you could ask",
  request: { query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }) },
  responses: {
    200: answer(
      "Newest first. The suggestions are prompts that the devices at hand can run.",
      z.object({
        sessions: z.array(storedSessionSchema),
        suggestions: z.array(z.object({ text: z.string() })),
      }),
    ),
    ...failures,
  },
});

const getSession = createRoute({
  method: "get",
  path: onePath,
  summary: "One session, with what waits for approval",
  request: { params: sessionParams },
  responses: { 200: answer("The session.", sessionSchema), ...failures },
});

const deleteSession = createRoute({
  method: "delete",
  path: onePath,
  summary: "Delete a session",
  description: "Ends what runs in it first.",
  request: { params: sessionParams },
  responses: { 204: { description: "It is gone." }, ...failures },
});

const interruptSession = createRoute({
  method: "post",
  path: `${onePath}/interrupt`,
  summary: "End the run under way",
  request: { params: sessionParams },
  responses: {
    200: answer("Whether something ran.", z.object({ interrupted: z.boolean() })),
    ...failures,
  },
});

const decideApproval = createRoute({
  method: "post",
  path: `${onePath}/approvals/{approval_id}`,
  summary: "Approve or refuse what waits",
  request: {
    params: sessionParams.extend({ approval_id: z.string().min(1).max(100) }),
    body: { required: true, content: json(approvalSchema) },
  },
  responses: { 200: answer("What was decided.", approvalSchema), ...failures },
});

const sessionEvents = createRoute({
  method: "get",
  path: `${onePath}/events`,
  summary: "What was told, in order",
  request: {
    params: sessionParams,
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
  },
  responses: {
    200: answer(
      "`next` is the `after` to go on with.",
      z.object({ events: z.array(eventSchema), next: z.int() }),
    ),
    ...failures,
  },
});

/** The sessions themselves; what is said in them is the messages' part. */
export function addSessions(app: OpenAPIHono<ApiEnv>, { conversations }: ApiDeps): void {
  app.openapi(createSession, async (c) => {
    const { owner } = c.get("principal");
    const { agent, title } = c.req.valid("json");
    const created = await conversations.create({
      owner,
      ...(agent !== undefined && { agent }),
      ...(title !== undefined && { title }),
    });
    return c.json(toSession(created), 201);
  });
  app.openapi(listSessions, async (c) => {
    const { owner } = c.get("principal");
    const { limit } = c.req.valid("query");
    const [sessions, suggestions] = await Promise.all([
      conversations.list({ owner, limit }),
      conversations.suggestions(),
    ]);
    return c.json({ sessions, suggestions }, 200);
  });
  app.openapi(getSession, async (c) => {
    const { id } = c.req.valid("param");
    return c.json(toSession(await conversations.get(id, c.get("principal").owner)), 200);
  });
  app.openapi(deleteSession, async (c) => {
    await conversations.remove(c.req.valid("param").id, c.get("principal").owner);
    return c.body(null, 204);
  });
  app.openapi(interruptSession, async (c) => {
    const { id } = c.req.valid("param");
    return c.json({ interrupted: await conversations.interrupt(id, c.get("principal").owner) }, 200);
  });
  app.openapi(decideApproval, async (c) => {
    const { id, approval_id } = c.req.valid("param");
    const { approved } = c.req.valid("json");
    await conversations.decide(id, c.get("principal").owner, approval_id, approved);
    return c.json({ approved }, 200);
  });
  app.openapi(sessionEvents, async (c) => {
    const { id } = c.req.valid("param");
    const { after, limit } = c.req.valid("query");
    const events = await conversations.events(id, c.get("principal").owner, { after, limit });
    return c.json({ events, next: events.at(-1)?.seq ?? after }, 200);
  });
}

import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { type AgentEvent, type Conversations, isStored, storedSession } from "@labwright/agent-client";
import { type ApiDeps, basePath } from "./deps.ts";
import type { ApiEnv } from "./gate.ts";
import {
  eventSchema,
  failures,
  idSchema,
  json,
  messageSchema,
  okResponses,
  response,
  sessionSchema,
  toSession,
} from "./schemas.ts";

const sessionsPath = `${basePath}/sessions` as const;
const sessionPath = `${sessionsPath}/{id}` as const;
const params = z.object({ id: idSchema });
const approvalSchema = z.strictObject({ approved: z.boolean() }).openapi("Decision");
const createSchema = z.strictObject({
  agent: z.string().max(64).optional().describe("The default agent when left out."),
  title: z.string().max(200).optional(),
});

const createSession = createRoute({
  method: "post",
  path: sessionsPath,
  summary: "Create a session",
  request: { body: { content: json(createSchema) } },
  responses: { 201: response("The session.", sessionSchema), ...failures },
});

const listSessions = createRoute({
  method: "get",
  path: sessionsPath,
  summary: "Your sessions, and what you could ask",
  request: { query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(50) }) },
  responses: okResponses(
    "Newest first. The suggestions are prompts that the available devices can run.",
    z.object({ sessions: z.array(storedSession), suggestions: z.array(z.object({ text: z.string() })) }),
  ),
});

const getSession = createRoute({
  method: "get",
  path: sessionPath,
  summary: "One session, with what waits for approval",
  request: { params },
  responses: okResponses("The session.", sessionSchema),
});

const deleteSession = createRoute({
  method: "delete",
  path: sessionPath,
  summary: "Delete a session",
  description: "Ends what runs in it first.",
  request: { params },
  responses: { 204: { description: "It is gone." }, ...failures },
});

const sendMessage = createRoute({
  method: "post",
  path: `${sessionPath}/messages`,
  summary: "Say something and start a run",
  description:
    "Answers at once with 202, or with `?wait=true` when the run ends. The run goes on if the client disconnects. Socket.IO sends its events as they happen.",
  request: {
    params,
    query: z.object({ wait: z.enum(["true", "false"]).optional() }),
    body: { required: true, content: json(messageSchema) },
  },
  responses: {
    ...okResponses(
      "The run has ended; `end` is the last of its events.",
      z.object({ events: z.array(eventSchema), end: eventSchema }),
    ),
    202: response("The message is stored; `seq` counts messages.", z.object({ seq: z.int() })),
  },
});

const interruptSession = createRoute({
  method: "post",
  path: `${sessionPath}/interrupt`,
  summary: "End the run under way",
  request: { params },
  responses: okResponses("Whether something ran.", z.object({ interrupted: z.boolean() })),
});

const decideApproval = createRoute({
  method: "post",
  path: `${sessionPath}/approvals/{approval_id}`,
  summary: "Approve or refuse what waits",
  request: {
    params: params.extend({ approval_id: idSchema }),
    body: { required: true, content: json(approvalSchema) },
  },
  responses: okResponses("What was decided.", approvalSchema),
});

const sessionEvents = createRoute({
  method: "get",
  path: `${sessionPath}/events`,
  summary: "The events so far, in order",
  request: {
    params,
    query: z.object({
      after: z.coerce.number().int().min(0).default(0),
      limit: z.coerce.number().int().min(1).max(1_000).default(100),
    }),
  },
  responses: okResponses(
    "`next` is the `after` to go on with.",
    z.object({ events: z.array(eventSchema), next: z.int() }),
  ),
});

export function addSessions(app: OpenAPIHono<ApiEnv>, { conversations }: ApiDeps): void {
  app.openapi(createSession, async (c) => {
    const created = await conversations.create({ ...c.req.valid("json"), owner: c.get("principal").owner });
    return c.json(toSession(created), 201);
  });
  app.openapi(listSessions, async (c) => {
    const [sessions, suggestions] = await Promise.all([
      conversations.list({ owner: c.get("principal").owner, limit: c.req.valid("query").limit }),
      conversations.suggestions(),
    ]);
    return c.json({ sessions, suggestions }, 200);
  });
  app.openapi(getSession, async (c) => {
    const session = await conversations.get(c.req.valid("param").id, c.get("principal").owner);
    return c.json(toSession(session), 200);
  });
  app.openapi(deleteSession, async (c) => {
    await conversations.remove(c.req.valid("param").id, c.get("principal").owner);
    return c.body(null, 204);
  });
  app.openapi(sendMessage, async (c) => {
    const { id } = c.req.valid("param");
    const { owner } = c.get("principal");
    const send = () => conversations.send(id, owner, c.req.valid("json"));
    if (c.req.valid("query").wait !== "true") return c.json(await send(), 202);
    return c.json(await runOf(conversations, { id, owner, send }), 200);
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

/** Sends, and resolves with the stored events of the run when the next message would be taken. */
async function runOf(
  conversations: Conversations,
  { id, owner, send }: { id: string; owner: string; send(): Promise<unknown> },
): Promise<{ events: AgentEvent[]; end: AgentEvent }> {
  let events: AgentEvent[] = [];
  const stop = await conversations.subscribe(id, owner, (event) => {
    // A run that was ending when the message came is not the one that is waited for.
    if (events.at(-1)?.type === "session_ended") events = [];
    if (isStored(event)) events.push(event);
  });
  try {
    await send();
    await conversations.ended(id, owner);
  } finally {
    stop();
  }
  const end = events.at(-1);
  if (end?.type !== "session_ended") throw new Error(`The run in ${id} ended without a session_ended event.`);
  return { events, end };
}

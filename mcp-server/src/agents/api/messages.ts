import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import {
  AgentError,
  type AgentEvent,
  type Conversations,
  isStored,
  type SessionEnded,
} from "@labwright/agent-client";
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { type ApiDeps, basePath } from "./deps.ts";
import { createEventQueue, type EventQueue } from "./eventQueue.ts";
import type { ApiEnv } from "./gate.ts";
import { eventSchema, failures, json, messageSchema, sessionParams } from "./schemas.ts";

const maxWaiting = 10_000;
const heartbeatMs = 15_000;

const sendMessage = createRoute({
  method: "post",
  path: `${basePath}/sessions/{id}/messages`,
  summary: "Say something and start a run",
  description:
    "Answers at once with 202. With `?wait=true` it answers at the end of the run, with `Accept: text/event-stream` it tells the run's events as they come. Who goes away leaves the run going.",
  request: {
    params: sessionParams,
    query: z.object({ wait: z.enum(["true", "false"]).optional() }),
    body: { required: true, content: json(messageSchema) },
  },
  responses: {
    200: {
      description: "The run has ended, or its events follow.",
      content: {
        ...json(z.object({ events: z.array(eventSchema), end: eventSchema })),
        "text/event-stream": { schema: z.string() },
      },
    },
    202: {
      description: "The message is stored.",
      content: json(z.object({ seq: z.int().describe("Of the message; events are counted apart.") })),
    },
    ...failures,
  },
});

type Said = { id: string; owner: string; message: { text: string; skill?: string } };

export function addMessages(app: OpenAPIHono<ApiEnv>, { conversations }: ApiDeps): void {
  app.openapi(sendMessage, async (c) => {
    const { text, skill } = c.req.valid("json");
    const said: Said = {
      id: c.req.valid("param").id,
      owner: c.get("principal").owner,
      message: { text, ...(skill !== undefined && { skill }) },
    };
    if (c.req.header("accept")?.includes("text/event-stream")) return streamRun(c, conversations, said);
    if (c.req.valid("query").wait === "true") {
      return c.json(await waitForRun(conversations, said, c.req.raw.signal), 200);
    }
    return c.json(await conversations.send(said.id, said.owner, said.message), 202);
  });
}

/** Sends and hears the run that it starts, from its first event. */
async function sendAndHear(
  conversations: Conversations,
  { id, owner, message }: Said,
  hear: (event: AgentEvent) => void,
): Promise<() => void> {
  // What is heard below must be of the run that starts here: the end of one before it would end the answer.
  if ((await conversations.get(id, owner)).isRunning) {
    throw new AgentError(
      "SESSION_BUSY",
      "A run is under way in this session.",
      "Wait for its end, or interrupt it.",
    );
  }
  const stop = await conversations.subscribe(id, owner, hear);
  try {
    await conversations.send(id, owner, message);
    return stop;
  } catch (error) {
    stop();
    throw error;
  }
}

/** A run is told to have ended before all of it is put away: who says something at once would find the session busy. */
const settled = (conversations: Conversations, { id, owner }: Said): Promise<unknown> =>
  conversations.ended(id, owner).catch(() => {});

async function waitForRun(
  conversations: Conversations,
  said: Said,
  signal: AbortSignal,
): Promise<{ events: AgentEvent[]; end: AgentEvent & SessionEnded }> {
  const events: AgentEvent[] = [];
  const { promise, resolve, reject } = deferred<AgentEvent & SessionEnded>();
  const goAway = () => reject(new AgentError("INVALID_INPUT", "The client has gone.", "The run goes on."));
  const stop = await sendAndHear(conversations, said, (event) => {
    if (isStored(event)) events.push(event);
    if (event.type === "session_ended") resolve(event);
  });
  signal.addEventListener("abort", goAway, { once: true });
  if (signal.aborted) goAway();
  try {
    const end = await promise;
    await settled(conversations, said);
    return { events, end };
  } finally {
    stop();
    signal.removeEventListener("abort", goAway);
  }
}

async function streamRun(c: Context, conversations: Conversations, said: Said): Promise<Response> {
  const queue = createEventQueue(maxWaiting);
  const stop = await sendAndHear(conversations, said, queue.push);
  c.header("cache-control", "no-store");
  return streamSSE(c, async (sse) => {
    sse.onAbort(queue.close);
    try {
      for await (const event of untilEnd(queue)) {
        if (event !== "idle" && event.type === "session_ended") await settled(conversations, said);
        if (event === "idle") await sse.write(": waiting\n\n");
        else await sse.writeSSE({ id: String(event.seq), event: event.type, data: JSON.stringify(event) });
      }
    } finally {
      stop();
    }
  });
}

async function* untilEnd(queue: EventQueue): AsyncGenerator<AgentEvent | "idle"> {
  for (;;) {
    const event = await queue.take(heartbeatMs);
    if (event === "closed") return;
    yield event;
    if (event !== "idle" && event.type === "session_ended") return;
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import type { EventFeed } from "../services/index.ts";
import { errorsOf, readInput } from "./errors.ts";

/** The stored events, oldest first. `subscribe` calls its listener after more were stored. */
export type EventSource = Pick<EventFeed, "read" | "cursor" | "done" | "latestId"> & {
  subscribe(listener: () => void): Promise<() => void>;
};

/** So often a stream looks again by itself and shows that it lives: another host may have stored something. */
const heartbeatMs = 15_000;

export const consumerSchema = z.string().regex(/^[\w.:-]{1,100}$/, "1 to 100 of A-Z a-z 0-9 _ . : -");
export const querySchema = z.object({
  after: z.union([z.literal("latest"), z.coerce.number().int().min(0)]).optional(),
  consumer: consumerSchema.optional(),
  device: z.string().optional().describe("The newest events of this device; not in a stream"),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});
export const doneSchema = z.strictObject({ after: z.int().min(0) });

/**
 * The feed. `GET /` gives a page, or for `Accept: text/event-stream` a stream that goes on after `Last-Event-ID`, `after`,
 * or the stored cursor of `consumer`. `PUT /cursors/<consumer>` stores that it has done all up to `after`.
 */
export function createEventsApi(
  events: EventSource,
  fault: (error: unknown, trace_id: string) => void,
): Hono {
  const api = new Hono();
  api.get("/", (c) => eventsResponse(c, events));
  api.get("/cursors/:consumer", async (c) =>
    c.json({ after: await events.cursor(parsed(consumerSchema, c.req.param("consumer"))) }),
  );
  api.put("/cursors/:consumer", async (c) => {
    const consumer = parsed(consumerSchema, c.req.param("consumer"));
    const { after } = parsed(doneSchema, await c.req.json().catch(() => undefined));
    return c.json({ after: await events.done(consumer, after) });
  });
  return errorsOf(api, fault);
}

const hint =
  "`after` is the id of the last event you have or `latest`, `limit` is 1 to 1000, `consumer` a name of your own.";
const parsed = <T>(schema: z.ZodType<T>, given: unknown): T => readInput(schema, given, hint);

async function eventsResponse(c: Context, events: EventSource): Promise<Response> {
  const { consumer, limit, device, ...query } = parsed(querySchema, c.req.query());
  const start = query.after ?? (consumer === undefined ? 0 : await events.cursor(consumer));
  const after = start === "latest" ? await events.latestId() : start;
  if (!c.req.header("accept")?.includes("text/event-stream")) {
    const page = await events.read({ after, limit, device });
    return c.json({ events: page, next: page.at(-1)?.id ?? after });
  }
  const last = Number(c.req.header("last-event-id") ?? after);
  return stream(c, events, Number.isSafeInteger(last) && last >= 0 ? last : after);
}

function stream(c: Context, events: EventSource, from: number): Response {
  c.header("cache-control", "no-store");
  return streamSSE(c, async (sse) => {
    const wake = signal();
    const unsubscribe = await events.subscribe(wake.raise);
    const timer = setInterval(wake.raise, heartbeatMs);
    sse.onAbort(wake.raise);
    let after = from;
    try {
      while (!sse.aborted && !sse.closed) {
        // While the database is down nothing is read; the next wake-up or heartbeat tries again.
        const page = await events.read({ after, limit: 100 }).catch(() => []);
        for (const event of page) {
          await sse.writeSSE({ id: String(event.id), event: event.type, data: JSON.stringify(event) });
          after = event.id;
        }
        if (page.length > 0) continue;
        await sse.write(": waiting\n\n");
        await wake.raised();
      }
    } finally {
      clearInterval(timer);
      unsubscribe();
    }
  });
}

/** Something to wait for that may be raised before anyone waits; waiting takes it down. */
function signal() {
  let isUp = false;
  let waiting: (() => void) | undefined;
  return {
    raise: () => {
      isUp = true;
      waiting?.();
    },
    async raised() {
      if (!isUp) {
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      }
      isUp = false;
      waiting = undefined;
    },
  };
}

import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { z } from "zod";
import { ToolError } from "../errors.ts";
import type { StoredEvent } from "../services/ports.ts";

/** The stored events, oldest first. `subscribe` calls its listener after more were stored. */
export type EventSource = {
  read(from: { after: number; limit: number }): Promise<readonly StoredEvent[]>;
  subscribe(listener: () => void): Promise<() => void>;
};

/** So often a stream looks again by itself and shows that it lives: another host may have stored something. */
const heartbeatMs = 15_000;

const querySchema = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
});

/** `GET /events`: a page, or for `Accept: text/event-stream` a stream that goes on after `Last-Event-ID` or `after`. */
export async function eventsResponse(c: Context, events: EventSource): Promise<Response> {
  const query = querySchema.safeParse(c.req.query());
  if (!query.success) {
    throw new ToolError(
      "INVALID_INPUT",
      query.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "),
      "`after` is the id of the last event you have, `limit` is 1 to 1000.",
    );
  }
  const { after, limit } = query.data;
  if (!c.req.header("accept")?.includes("text/event-stream")) {
    const page = await events.read({ after, limit });
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
        const page = await events.read({ after, limit: 100 });
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

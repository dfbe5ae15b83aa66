import {
  InMemoryServerEventBus,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Backend } from "./backend.ts";

type Watching = Pick<Backend, "watch">;

/** A client that needs more has lost count. */
const maxSubscriptions = 64;

/** `resources/subscribe` and `unsubscribe` of 2025-11-25; they end with the connection. */
export function registerSubscriptions(mcp: McpServer, backend: Watching): void {
  const stops = new Map<string, () => void>();
  let isClosed = false;
  const stop = (uri: string) => {
    stops.get(uri)?.();
    stops.delete(uri);
  };
  mcp.server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    if (stops.size >= maxSubscriptions && !stops.has(uri))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `At most ${maxSubscriptions} subscriptions. Unsubscribe from one.`,
      );
    const added = await backend.watch(uri, () => notifyUpdated(mcp, uri));
    stop(uri);
    if (isClosed) added();
    else stops.set(uri, added);
    return {};
  });
  mcp.server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    stop(uri);
    return {};
  });
  mcp.server.onclose = () => {
    isClosed = true;
    for (const uri of [...stops.keys()]) stop(uri);
  };
}

/** A connection that is closing cannot be notified, which is not a fault. */
export function notifyUpdated(mcp: McpServer, uri: string): void {
  mcp.server.sendResourceUpdated({ uri }).catch(() => {});
}

export const listenMethod = "subscriptions/listen";

const listenSchema = z.object({
  notifications: z.object({ resourceSubscriptions: z.array(z.string()).optional() }),
});

/** The addresses that a `subscriptions/listen` of 2026-07-28 names; the SDK itself answers and keeps the stream. */
export function listenedTo(params: unknown): string[] {
  const { data } = listenSchema.safeParse(params);
  return [...new Set(data?.notifications.resourceSubscriptions)].slice(0, maxSubscriptions);
}

const bodySchema = z.object({ params: z.unknown() });

/** Feeds the streams that the SDK's HTTP handler keeps: it knows who listens, this knows what changes. */
export function createListening(backend: Watching) {
  const bus = new InMemoryServerEventBus();
  return {
    bus,
    isListen: (request: Request) => request.headers.get("mcp-method") === listenMethod,
    async serve(request: Request, answer: (request: Request) => Promise<Response>): Promise<Response> {
      const uris = await namedBy(request.clone());
      const response = await answer(request);
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
      for (const uri of uris) void feed(uri, request.signal);
      return response;
    },
  };

  async function feed(uri: string, ended: AbortSignal): Promise<void> {
    // Listening to an address that never changes has no effect, which the protocol allows.
    const stop = await backend
      .watch(uri, () => bus.publish({ kind: "resource_updated", uri }))
      .catch(() => () => {});
    if (ended.aborted) stop();
    else ended.addEventListener("abort", stop, { once: true });
  }
}

async function namedBy(request: Request): Promise<string[]> {
  const body: unknown = await request.json().catch(() => undefined);
  return listenedTo(bodySchema.safeParse(body).data?.params);
}

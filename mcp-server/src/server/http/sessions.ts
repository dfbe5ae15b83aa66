import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../../services/index.ts";

type Session = {
  transport: WebStandardStreamableHTTPServerTransport;
  mcp: McpServer;
  /** Where it was opened, and the only place where it is known: another address serves other tools. */
  address: string;
  lastSeen: number;
  /** Requests whose answer has not ended: a stream of events, or a call. Their client is still connected. */
  open: number;
};

/**
 * 2025-11-25 clients over HTTP have a session each: in the SDK's stateless way their cancellation would find no one.
 * A session whose client vanished ends after `idleMs`. With `maxSessions` a new one ends the one that rests longest, and is
 * refused with 503 if none rests.
 */
export type Sessions = {
  handle(request: Request): Promise<Response>;
  count(): number;
  close(): Promise<void>;
};

export function createSessions(deps: {
  createServer(request: Request): McpServer;
  clock: Clock;
  idleMs: number;
  maxSessions: number;
  maxBodyBytes: number;
  onEnd(session: string, host: string | undefined): void;
}): Sessions {
  const sessions = new Map<string, Session>();
  let stopSweep: (() => void) | undefined;

  async function end(id: string): Promise<void> {
    const session = sessions.get(id);
    if (!session || !sessions.delete(id)) return;
    deps.onEnd(id, session.mcp.server.getClientVersion()?.name);
    await session.mcp.close().catch(() => {});
  }

  /** Runs while there are sessions. A new session must not put it off. */
  function sweepLater(): void {
    stopSweep ??= deps.clock.setTimeout(() => {
      stopSweep = undefined;
      const limit = deps.clock.monotonic() - deps.idleMs;
      for (const [id, session] of sessions) if (session.open === 0 && session.lastSeen <= limit) void end(id);
      if (sessions.size > 0) sweepLater();
    }, deps.idleMs / 4);
  }

  const longestResting = (): string | undefined =>
    [...sessions]
      .filter(([, { open }]) => open === 0)
      .sort(([, one], [, other]) => one.lastSeen - other.lastSeen)[0]?.[0];

  async function begin(request: Request): Promise<Response> {
    if (sessions.size >= deps.maxSessions && longestResting() === undefined)
      return refusal(
        503,
        -32000,
        `All ${deps.maxSessions} sessions are in use. Close one, or try again later.`,
      );
    const mcp = deps.createServer(request);
    const address = addressOf(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: deps.maxBodyBytes,
      onsessioninitialized: (id) => {
        const resting = sessions.size >= deps.maxSessions ? longestResting() : undefined;
        if (resting !== undefined) void end(resting);
        sessions.set(id, { transport, mcp, address, lastSeen: deps.clock.monotonic(), open: 0 });
        sweepLater();
      },
      onsessionclosed: (id) => end(id),
    });
    await mcp.connect(transport);
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await mcp.close();
    return response;
  }

  return {
    async handle(request) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return begin(request);
      const session = sessions.get(id);
      // On 404 a client of that revision initializes again.
      if (session?.address !== addressOf(request))
        return refusal(404, -32001, "Session not found: initialize again.");
      return whileOpen(session, deps.clock, session.transport.handleRequest(request));
    },
    count: () => sessions.size,
    async close() {
      stopSweep?.();
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

function addressOf({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** Counts a request as open until its answer has ended or its client has left. */
async function whileOpen(session: Session, clock: Clock, answer: Promise<Response>): Promise<Response> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const ended = () => {
    session.open -= 1;
    session.lastSeen = clock.monotonic();
  };
  session.open += 1;
  answer.then(({ body }) => body?.pipeTo(writable)).then(ended, ended);
  const response = await answer;
  return response.body === null ? response : new Response(readable, response);
}

const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });

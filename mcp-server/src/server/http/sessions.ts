import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../../services/index.ts";

type Session = {
  transport: WebStandardStreamableHTTPServerTransport;
  mcp: McpServer;
  /** Where it was opened, and the only place where it is known: another address serves other tools. */
  address: string;
  lastSeen: number;
  /** Open GET streams: a client that listens is still connected. */
  streams: number;
};

/**
 * 2025-11-25 clients over HTTP have a session each: in the SDK's stateless way their cancellation would find no one.
 * A session whose client vanished ends after `idleMs`.
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
      for (const [id, session] of sessions)
        if (session.streams === 0 && session.lastSeen <= limit) void end(id);
      if (sessions.size > 0) sweepLater();
    }, deps.idleMs / 4);
  }

  async function begin(request: Request): Promise<Response> {
    const oldest = [...sessions]
      .filter(([, s]) => s.streams === 0)
      .sort(([, a], [, b]) => a.lastSeen - b.lastSeen)[0];
    if (sessions.size >= deps.maxSessions && oldest) await end(oldest[0]);
    const mcp = deps.createServer(request);
    const address = addressOf(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: deps.maxBodyBytes,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, mcp, address, lastSeen: deps.clock.monotonic(), streams: 0 });
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
      if (session?.address !== addressOf(request)) return sessionNotFound();
      session.lastSeen = deps.clock.monotonic();
      if (request.method === "GET") watchStream(session, request.signal, deps.clock);
      return session.transport.handleRequest(request);
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

function watchStream(session: Session, signal: AbortSignal, clock: Clock): void {
  session.streams += 1;
  signal.addEventListener(
    "abort",
    () => {
      session.streams -= 1;
      session.lastSeen = clock.monotonic();
    },
    { once: true },
  );
}

/** On 404 a client of that revision initializes again. */
const sessionNotFound = () =>
  Response.json(
    { jsonrpc: "2.0", error: { code: -32001, message: "Session not found: initialize again." }, id: null },
    { status: 404 },
  );

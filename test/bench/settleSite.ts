import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { listenOnLoopback } from "../fixtures/loopback.ts";
import type { Site } from "./pages.ts";
import { documentOf, type Pattern } from "./settlePattern.ts";

/** Fixed by the protocol (RFC 6455, 1.3). */
const websocketGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const everyMs = 40;

/** A page whose head has one script, answered after so many milliseconds. */
const headPage = (ms: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Reached</title><script src="/script/${ms}"></script></head>
   <body><main><h1>Reached page</h1><button>Only on the reached page</button></main></body></html>`;

const startPage = (ms: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Start</title></head>
   <body><h1>Start page</h1><a id="go" href="/head/${ms}">Go</a><p>A page of ordinary size.</p></body></html>`;

type Answer = { type: string; body: string | Buffer };

/** The smallest picture that a browser takes. */
const pixel = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64");

function answerOf(patterns: readonly Pattern[], kind: string, rest: readonly string[]): Answer | undefined {
  const html = (body: string): Answer => ({ type: "text/html; charset=utf-8", body });
  const [first = "", second] = rest;
  if (kind === "api") return { type: "application/json", body: JSON.stringify({ ms: Number(first) }) };
  if (kind === "script") return { type: "text/javascript", body: "globalThis.loaded?.();" };
  if (kind === "style") return { type: "text/css", body: "h1 { color: navy }" };
  if (kind === "picture") return { type: "image/gif", body: pixel };
  if (kind === "head") return html(headPage(first));
  if (kind === "start") return html(startPage(first));
  const pattern = kind === "pattern" ? patterns.find(({ name }) => name === first) : undefined;
  const body = second === undefined ? pattern?.html : pattern?.pages?.[second];
  return pattern && body !== undefined ? html(documentOf(pattern.name, body)) : undefined;
}

/** An answer that never ends: one line every so often, as an EventSource or a stream has it. */
async function chatter(response: ServerResponse, line: string): Promise<void> {
  while (!response.destroyed) {
    response.write(line);
    await pause(everyMs);
  }
}

/** Reports the page something every so often, for as long as the socket lives. */
async function chatterOnSocket(request: IncomingMessage, socket: Duplex): Promise<void> {
  socket.on("error", () => undefined);
  const key = `${request.headers["sec-websocket-key"]}${websocketGuid}`;
  const accept = createHash("sha1").update(key).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  while (!socket.destroyed) {
    socket.write(Buffer.concat([Buffer.from([0x81, 4]), Buffer.from("tick")]));
    await pause(everyMs);
  }
}

const isDelayed = (kind: string): boolean => /^(api|script|style|picture)$/.test(kind);

/** An endless answer by its kind, with the line that it repeats. */
const endless: Readonly<Record<string, { type: string; line: string }>> = {
  events: { type: "text/event-stream", line: "data: tick\n\n" },
  media: { type: "video/webm", line: "x".repeat(100) },
};

async function answer(
  patterns: readonly Pattern[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const url = new URL(request.url ?? "/", "http://localhost");
  const [kind = "", ...rest] = url.pathname.slice(1).split("/").map(decodeURIComponent);
  await pause(Number(url.searchParams.get("wait") ?? (isDelayed(kind) ? rest[0] : 0)));
  if (kind === "redirect") {
    response.writeHead(302, { location: url.searchParams.get("to") ?? "/" }).end();
    return;
  }
  const stream = endless[kind];
  if (stream) {
    response.writeHead(200, { "content-type": stream.type });
    await chatter(response, stream.line);
    return;
  }
  const found = answerOf(patterns, kind, rest);
  const type = found?.type ?? "text/plain";
  response.writeHead(found ? 200 : 404, { "content-type": type, "cache-control": "no-store" });
  response.end(found?.body);
}

/** Serves the patterns on a free loopback port, at `/pattern/<name>`. */
export async function serveSettleSite(patterns: readonly Pattern[]): Promise<Site> {
  const server = createServer((request, response) => {
    answer(patterns, request, response).catch(() => response.destroy());
  });
  server.on("upgrade", (request, socket) => {
    chatterOnSocket(request, socket).catch(() => socket.destroy());
  });
  const sockets = new Set<Duplex>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}

import { createServer, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { closeServer, listenOnLoopback } from "../fixtures/loopback.ts";

/** What a path answers. `afterMs` is how long the server thinks first; `never` keeps the connection open without an answer. */
export type Answer = {
  status?: number;
  body?: string;
  headers?: Record<string, string>;
  afterMs?: number;
  never?: true;
};

/** One app under test: real servers on loopback that answer as reported, and may be closed while a test runs. */
export type Site = {
  url(path: string): string;
  answer(path: string, answer: Answer): void;
  /** `run` is done before the path is answered, each time it is asked for. */
  on(path: string, run: () => Promise<void>): void;
  close(): Promise<void>;
};

export async function openSite(tls?: { key: string; cert: string }): Promise<Site> {
  const answers = new Map<string, Answer>();
  const triggers = new Map<string, () => Promise<void>>();
  const server = tls ? createTlsServer(tls) : createServer();
  server.on("request", (request, response) => {
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    const reply = async () => {
      await triggers.get(path)?.();
      await send(response, answers.get(path) ?? { status: triggers.has(path) ? 200 : 404 });
    };
    reply().catch(() => response.destroy());
  });
  const port = await listenOnLoopback(server);
  return {
    url: (path) => `${tls ? "https" : "http"}://127.0.0.1:${port}${path}`,
    answer: (path, answer) => void answers.set(path, answer),
    on: (path, run) => void triggers.set(path, run),
    close: () => closeServer(server),
  };
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  const { status = 200, body = "", headers = {}, afterMs, never } = answer;
  if (afterMs !== undefined) await pause(afterMs);
  if (never || response.destroyed) return;
  response.writeHead(status, { "content-type": "text/html; charset=utf-8", ...headers });
  response.end(body);
}

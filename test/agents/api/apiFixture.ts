import { createHash } from "node:crypto";
import { request } from "node:http";
import type { AgentEvent } from "@labwright/agent-client";
import { io, type Socket } from "socket.io-client";
import { expect, onTestFinished } from "vitest";
import { createAgentApi } from "#mcp-server/agents/api/app.ts";
import type { ApiDeps, OutsideEvent } from "#mcp-server/agents/api/deps.ts";
import { agentsSchema } from "#mcp-server/config/agents.ts";
import type { ListenSettings } from "#mcp-server/server/http/listen.ts";
import {
  ended,
  type FakeConversations,
  fakeConversations,
  type Script,
} from "../../fixtures/fakeConversations.ts";
import { startHttp } from "../../fixtures/http.ts";
import { wireServices } from "../../fixtures/wire.ts";

export const ownerToken = "a token of the daemon, in these tests only".replaceAll(" ", "-");
export const annasKey = "lw_a_key_of_anna";
export const keys = [{ owner: "anna", sha256: createHash("sha256").update(annasKey).digest("hex") }];
export const webhookSecret = "a secret of the tests";

const notHere = () => Promise.reject(new Error("This test has no tasks."));

export type Answer = { status: number; headers: Headers; body: unknown };
export type ApiFixture = {
  url: string;
  port: number;
  conversations: FakeConversations;
  published: OutsideEvent[];
  saved: string[];
  faults: unknown[];
  /** As the owner of the daemon's token, unless `token` says otherwise; null for no one. */
  call(
    method: string,
    path: string,
    given?: { body?: unknown; token?: string | null; headers?: Record<string, string>; raw?: string },
  ): Promise<Answer>;
  connect(token?: string | null, options?: Parameters<typeof io>[1]): Socket;
  close(): Promise<void>;
};

/** The API behind the daemon's own checks, over fake conversations or others. It is closed when the test ends. */
export async function startFixture(
  given: Partial<ApiDeps> & {
    api?: object;
    script?: Script;
    putAway?: () => Promise<void>;
    hosts?: string[];
    origins?: string[];
    listen?: Partial<ListenSettings>;
  } = {},
): Promise<ApiFixture> {
  const conversations = fakeConversations(given.script, { ...(given.putAway && { putAway: given.putAway }) });
  const published: OutsideEvent[] = [];
  const saved: string[] = [];
  const faults: unknown[] = [];
  const deps: ApiDeps = {
    conversations,
    tasks: { start: notHere, get: notHere, cancel: notHere },
    messages: { deliver: notHere, list: notHere },
    settings: agentsSchema.parse({ api: given.api ?? {} }).api,
    allowedOrigins: given.origins ?? [],
    ownerToken,
    webhookSecret,
    async publish(event) {
      const first = published.findIndex(({ key }) => key === event.key);
      published.push(event);
      return { event_id: first === -1 ? published.length : first + 1 };
    },
    tryKey: async (key) => key.startsWith("good"),
    saveKey: async (key) => void saved.push(key),
    health: async () => ({ server: true, model: "a-model" }),
    clock: { now: () => Date.now(), sleep: async () => {} },
    env: {},
    fault: (error) => void faults.push(error),
    ...given,
  };
  const served = createAgentApi(deps);
  const http = await startHttp(wireServices(), [], {
    allowedHosts: given.hosts ?? [],
    allowedOrigins: given.origins ?? [],
    agents: async () => served,
    ...(given.listen && { listen: given.listen }),
  });
  const url = http.url("");
  const sockets: Socket[] = [];
  const end = async () => {
    for (const socket of sockets) socket.disconnect();
    await served.close();
    await http.end();
    await conversations.close();
  };
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= end();
    return closed;
  };
  onTestFinished(close);
  return {
    url,
    port: http.listening.port,
    conversations,
    published,
    saved,
    faults,
    async call(method, path, { body, token = ownerToken, headers = {}, raw } = {}) {
      const response = await fetch(`${url}${path.startsWith("/api/") ? "" : "/server/agent"}${path}`, {
        method,
        headers: {
          ...(token !== null && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(raw !== undefined && { body: raw }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, body: parsed(await response.text()) };
    },
    connect(token = ownerToken, options = {}) {
      const socket = io(`${url}/agent`, {
        ...(token !== null && { auth: { token } }),
        reconnection: false,
        forceNew: true,
        ...options,
      });
      sockets.push(socket);
      return socket;
    },
    close,
  };
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}

/** A request whose Host is another than where it goes, as a rebound name sends it. */
export function rawGet(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers, setHost: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.once("error", reject);
    asked.end();
  });
}

/** Every `agent_event` of a socket from now on. */
export function heard(socket: Socket): AgentEvent[] {
  const events: AgentEvent[] = [];
  socket.on("agent_event", (event: AgentEvent) => events.push(event));
  return events;
}

export const failure = (code: string, http_status: number) => ({
  success: false,
  error: {
    code,
    http_status,
    message: expect.any(String),
    hint: expect.any(String),
    details: expect.any(Object),
    trace_id: expect.stringMatching(/^[\da-f]{32}$/),
    timestamp: expect.any(String),
  },
});

/** Sends an event of a socket and returns its acknowledgement. */
export const ask = (socket: Socket, name: string, given?: unknown) =>
  new Promise<unknown>((resolve) => {
    if (given === undefined) socket.emit(name, resolve);
    else socket.emit(name, given, resolve);
  });
/** The acknowledgement of an event that was refused. */
export const bad = (code: string) => ({
  ok: false,
  error: { code, hint: expect.any(String), trace_id: expect.any(String) },
});

/** A run that goes on until it is interrupted. */
export const untilInterrupted: Script = async ({ signal }) => {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  return ended("cancelled", "");
};

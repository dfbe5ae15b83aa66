import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import type { Catalogue, CatalogueSkill } from "../../registry/catalogue.ts";
import {
  cutCatalogue,
  isOn,
  namesIn,
  type SubsetAsked,
  SubsetError,
  wholeCatalogue,
} from "../../registry/subset.ts";
import type { Clock } from "../../services/index.ts";
import type { Caller, CallTool } from "../call/call.ts";
import type { ToolCall } from "../mcp/backend.ts";
import { createServer } from "../mcp/createServer.ts";
import { createListening } from "../mcp/subscriptions.ts";
import type { Addresses } from "../page/addresses.ts";
import { mountPage } from "../page/page.ts";
import { createTickets, ticketMs } from "../page/tickets.ts";
import type { Resources } from "../resources/index.ts";
import {
  type Access,
  bearerToken,
  forAgents,
  hostAndOrigin,
  proveToken,
  refuse,
  sellToken,
} from "./access.ts";
import { clientHeader, projectIn } from "./clientHeaders.ts";
import { linkProtocol } from "./linkMessages.ts";
import { createLinks, type Links } from "./links.ts";
import { nodeBindings } from "./listen.ts";
import { localBackend } from "./localBackend.ts";
import { proofPath } from "./proof.ts";
import { createSessions } from "./sessions.ts";

const maxBodyBytes = 8 * 1024 * 1024;
/** An agent's conversation may contain pictures; no other path accepts as much. */
const maxEntriesBytes = 24 * 1024 * 1024;
const maxTicketBytes = 1_024;
const entriesPath = /^\/server\/agent\/store\/sessions\/[^/]+\/entries$/;

/** One token, so one principal; clients differ by {@link clientHeader}, a session or their name. */
const principal = "local";

export type HttpDeps = {
  access: Access;
  catalogue: Catalogue;
  callTool: CallTool;
  resources: Resources;
  /** The user's own skills; the same array until they change. */
  userSkills(): readonly CatalogueSkill[];
  clock: Clock;
  /** Signs what people open without the token. */
  addresses: Addresses;
  /** Makes the MCP servers. Tests add to the product's own. */
  createServer?: typeof createServer;
  /** The REST routes, mounted at /api/v1. */
  api?: Hono;
  /** The feed of events, mounted at /server/events. */
  events?: Hono;
  /** The store of agents, mounted at /server/agent/store. */
  agentStore?: Hono;
  /** The agents, opened when they are first asked for: they check who asks, and are mounted at /server/agent and /socket.io. */
  agents?: () => Promise<ServedAgents>;
  metrics?: () => Promise<{ text: string; contentType: string }>;
  /** True once calls can be answered. */
  isReady(): boolean;
  /** A bridge's or session's end, so that what it held is given back. */
  onClientEnd(client: string): void;
  /** Something was asked or a bridge came: not idle. */
  onActivity(): void;
  /** Asked to end; false if it is busy and `ifIdle`. */
  onStop(reason: string, ifIdle: boolean): Promise<boolean>;
  /** How long a vanished client's session is kept. */
  sessionIdleMs: number;
  bodyBytes?: number;
};

export type ServedAgents = {
  fetch(request: Request, env: unknown): Response | Promise<Response>;
  socketRequest(incoming: IncomingMessage, outgoing: ServerResponse): void;
  socketUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  streamUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
};

export type Http = {
  app: Hono;
  links: Links;
  /** Lets a socket of an agent's client in, or a bridge where `isOwn`, by the checks of every request. */
  upgrade(request: IncomingMessage, head: Buffer, isOwn: boolean): Promise<void>;
  sessions(): number;
  close(): Promise<void>;
};

/** Everything the daemon serves: MCP for both eras, REST, metrics, health, and the bridges' links. */
export function createHttp(deps: HttpDeps): Http {
  const limit = deps.bodyBytes ?? maxBodyBytes;
  const links = createLinks({
    backendOf: (client, project) =>
      localBackend({ ...deps, identify: () => ({ principal, client, project }) }),
    onOpen: deps.onActivity,
    onAsked: deps.onActivity,
    onEnd: (client) => {
      deps.onClientEnd(client);
      deps.onActivity();
    },
  });
  const mcp = mcpRoutes(deps, limit);
  const app = new Hono();
  app.use(hostAndOrigin(deps.access));
  const answerOrigins = cors({ origin: [...deps.access.allowedOrigins], exposeHeaders: ["mcp-session-id"] });
  // Only browsers send an origin, and its headers make Hono copy the answer.
  app.use((c, next) => (c.req.header("origin") === undefined ? next() : answerOrigins(c, next)));
  app.get("/livez", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) =>
    deps.isReady() ? c.json({ status: "ok" }) : c.json({ status: "starting" }, 503),
  );
  app.get(proofPath, proveToken(deps.access));
  const tickets = createTickets(deps.clock);
  mountPage(app);
  app.post("/page/tokens", limitBody(maxTicketBytes), sellToken(tickets));
  if (deps.agents)
    mountAgents(app, deps.agents, {
      onActivity: deps.onActivity,
      requestOf: (c) => forAgents(c, deps.access, tickets),
    });
  app.use(bearerToken(deps.access, { tickets, addresses: deps.addresses }));
  app.post("/page/tickets", (c) => c.json({ ticket: tickets.issue(), good_for_ms: ticketMs }));
  app.use(async (_, next) => {
    deps.onActivity();
    await next();
  });
  const limitEntries = limitBody(maxEntriesBytes);
  const limitOthers = limitBody(limit);
  app.use((c, next) => (entriesPath.test(c.req.path) ? limitEntries(c, next) : limitOthers(c, next)));
  for (const path of ["/mcp", "/mcp/skills/:skill"])
    app.all(path, async (c) => {
      try {
        return await mcp.handle(c.req.raw);
      } catch (error) {
        if (error instanceof SubsetError) return refuse(c, "INVALID_INPUT", error.message);
        throw error;
      }
    });
  mountRest(app, deps);
  app.notFound((c) =>
    c.json({ success: false, error: { code: "NOT_FOUND", message: "No such path." } }, 404),
  );
  return {
    app,
    links,
    upgrade: (request, head, isOwn) =>
      upgrade(app, { ...(isOwn && { links }), agents: deps.agents }, request, head),
    sessions: mcp.sessions,
    close: mcp.close,
  };
}

/** Refuses bodies over `bytes`. */
function limitBody(bytes: number): MiddlewareHandler {
  const whileReading = bodyLimit({
    maxSize: bytes,
    onError: (c) =>
      refuse(c, "INPUT_TOO_LARGE", `A request may have at most ${bytes} bytes. Send less at a time.`),
  });
  // Node reads no more than the length that a request gives; to look at its body is to copy it.
  return (c, next) => (Number(c.req.header("content-length")) <= bytes ? next() : whileReading(c, next));
}

/** Everything that is not MCP: bridge upgrade, shutdown, metrics, REST, events, agent store. */
function mountRest(app: Hono, deps: HttpDeps): void {
  app.get("/attach", (c) =>
    c.req.header("upgrade") === linkProtocol
      ? c.body(null, 204)
      : refuse(
          c,
          "INVALID_INPUT",
          "Bridges connect here, by an upgrade of HTTP. Others use /mcp or /api/v1.",
        ),
  );
  app.post("/shutdown", async (c) => {
    const ifIdle = c.req.query("if_idle") === "true";
    const leaving = await deps.onStop(c.req.query("reason")?.slice(0, 100) ?? "asked", ifIdle);
    return c.json({ leaving }, leaving ? 202 : 409);
  });
  const { api, events, agentStore, metrics } = deps;
  if (metrics) {
    app.get("/metrics", async (c) => {
      const { text, contentType } = await metrics();
      return c.body(text, 200, { "content-type": contentType });
    });
  }
  if (api) {
    app.route("/api/v1", api);
    // The path of seed 004.
    app.post("/host/aiagent/executeTask", (c) =>
      api.fetch(new Request(new URL("/agent/executeTask", c.req.url), c.req.raw)),
    );
  }
  if (events) app.route("/server/events", events);
  if (agentStore) app.route("/server/agent/store", agentStore);
}

const storePath = "/server/agent/store/";
const socketPath = "/socket.io/";
/** The plain WebSocket of seed 002. */
const streamPath = "/api/v1/agent/stream";

/** The routes of agents, which have credentials of their own. An upgrade is answered 204 here and continues below. */
function mountAgents(
  app: Hono,
  agents: NonNullable<HttpDeps["agents"]>,
  { onActivity, requestOf }: Pick<HttpDeps, "onActivity"> & { requestOf(c: Context): Request },
): void {
  const paths = ["/server/agent/*", "/api/v1/agent/task", "/api/v1/agent/task/*", "/api/v1/messages"];
  for (const path of paths)
    app.all(path, async (c, next) => {
      if (c.req.path.startsWith(storePath)) return next();
      onActivity();
      const opened = await agents().catch((error: unknown) => refuseWrong(c, error));
      return opened instanceof Response ? opened : opened.fetch(requestOf(c), c.env);
    });
  app.all(streamPath, (c) => {
    onActivity();
    return c.req.header("upgrade") === "websocket" ? c.body(null, 204) : c.notFound();
  });
  app.all(`${socketPath}*`, async (c) => {
    onActivity();
    if (c.req.header("upgrade") === "websocket") return c.body(null, 204);
    const node = nodeBindings(c.env);
    if (!node) return c.notFound();
    const opened = await agents().catch((error: unknown) => refuseWrong(c, error));
    if (opened instanceof Response) return opened;
    opened.socketRequest(node.incoming, node.outgoing);
    return RESPONSE_ALREADY_SENT;
  });
}

/** Answers with an error of the configuration that only the agents can find. Throws any other error. */
function refuseWrong(c: Context, error: unknown): Response {
  if (error instanceof Error && "code" in error && error.code === "CONFIG_INVALID")
    return refuse(
      c,
      "CONFIG_INVALID",
      `${error.message} ${"hint" in error ? String(error.hint) : ""}`.trim(),
    );
  throw error;
}

/** What an upgrade at this address is for: the agents' Socket.IO, or the stream of tasks. */
function socketOf(url: string | undefined) {
  if (url?.startsWith(socketPath)) return { path: socketPath, door: "socketUpgrade" } as const;
  return url === streamPath ? ({ path: streamPath, door: "streamUpgrade" } as const) : undefined;
}

/** Lets what asks for an upgrade in by the checks of every request, or refuses it with their answer. */
async function upgrade(
  app: Hono,
  { links, agents }: { links?: Links; agents: HttpDeps["agents"] },
  request: IncomingMessage,
  head: Buffer,
): Promise<void> {
  const { socket } = request;
  socket.on("error", () => {});
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (typeof value === "string") headers.set(name, value);
  const served = agents && socketOf(request.url);
  const path = served?.path ?? (links && request.url === "/attach" ? request.url : "/not-an-upgrade");
  const answer = await app.fetch(new Request(`http://127.0.0.1${path}`, { headers }));
  if (answer.status !== 204) {
    const body = await answer.text();
    const lines = [
      `HTTP/1.1 ${answer.status} Refused`,
      "content-type: application/json",
      "connection: close",
    ];
    socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
    return;
  }
  if (agents && served) return (await agents())[served.door](request, socket, head);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${linkProtocol}\r\n\r\n`);
  const client = clientName(headers.get(clientHeader)) ?? "unknown";
  links?.serve(socket, head, { client, project: projectIn(headers) });
}

function mcpRoutes(deps: HttpDeps, limit: number) {
  const backend = localBackend({ ...deps, identify: whoseOf });
  const subsetOf = (request: Request | undefined) =>
    request === undefined
      ? wholeCatalogue(deps.catalogue)
      : cutCatalogue(deps.catalogue, askedBy(new URL(request.url)), deps.userSkills());
  const create = deps.createServer ?? createServer;
  const listening = createListening(backend);
  // Streams from the start, so that a long call without progress is not cut off as a silent answer.
  const modern = createMcpHandler(({ requestInfo }) => create(subsetOf(requestInfo), backend), {
    legacy: "reject",
    responseMode: "sse",
    maxRequestBodySize: limit,
    bus: listening.bus,
  });
  const sessions = createSessions({
    createServer: (request) => create(subsetOf(request), backend),
    clock: deps.clock,
    idleMs: deps.sessionIdleMs,
    maxSessions: 256,
    maxBodyBytes: limit,
    onEnd: (session, host) => deps.onClientEnd(sessionClient(session, host)),
  });
  return {
    async handle(request: Request): Promise<Response> {
      // A wrong address is reported before the protocol is checked.
      subsetOf(request);
      const legacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: limit });
      if (legacy) return sessions.handle(request);
      return listening.isListen(request) ? listening.serve(request, modern.fetch) : modern.fetch(request);
    },
    sessions: sessions.count,
    async close() {
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

const whoseOf = (call: ToolCall): Caller => ({
  principal,
  client: clientOf(call),
  project: projectIn(call.http?.headers),
});

function clientOf(call: ToolCall): string {
  const named = clientName(call.http?.headers.get(clientHeader));
  if (named !== undefined) return named;
  if (call.session !== undefined) return sessionClient(call.session, call.host);
  return clientName(call.host) ?? "http";
}

/**
 * Whose call a REST request is.
 * @public main.ts takes it from the rooms that it loads
 */
export const restPrincipal = (request: Request): Caller => ({
  principal,
  client: clientName(request.headers.get(clientHeader)) ?? "rest",
  project: projectIn(request.headers),
});

const sessionClient = (session: string, host: string | undefined) =>
  `${clientName(host) ?? "http"}/${session}`;

/** A name as a client gives it, made fit for logs and messages. */
function clientName(given: string | null | undefined): string | undefined {
  const name = given
    ?.replace(/[^\w ./@-]/g, "")
    .trim()
    .slice(0, 100);
  return name === "" ? undefined : name;
}

const subsetParameters = ["skill", "skills", "tool", "tools", "exclude_tools", "read_only"];

/**
 * What an address asks for: `/mcp?skill=a,b`, `/mcp/skills/a`, `tools`, `exclude_tools`, `read_only`. Throws
 * {@link SubsetError} for an unknown parameter, which may be a misspelled limit.
 */
function askedBy({ pathname, searchParams }: URL): SubsetAsked {
  const unknown = [...searchParams.keys()].filter((name) => !subsetParameters.includes(name));
  if (unknown.length > 0)
    throw new SubsetError(`Unknown: ${unknown.join(", ")}. An address takes ${subsetParameters.join(", ")}.`);
  const path = /^\/mcp\/skills\/([^/]+)\/?$/.exec(pathname)?.[1];
  const given = (...names: string[]) => namesIn(names.flatMap((name) => searchParams.getAll(name)));
  const readOnly = searchParams.get("read_only");
  return {
    skills: namesIn([...(path === undefined ? [] : [decoded(path)]), ...given("skill", "skills")]),
    tools: given("tool", "tools"),
    exclude: given("exclude_tools"),
    readOnly: readOnly !== null && isOn(readOnly),
  };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context, Handler, MiddlewareHandler } from "hono";
import { type ErrorCode, errors } from "../../errors.ts";
import type { Addresses } from "../page/addresses.ts";
import { type Tickets, ticketMs } from "../page/tickets.ts";
import { clientHeader } from "./clientHeaders.ts";
import { nodeBindings } from "./listen.ts";
import { proofOf } from "./proof.ts";

/** Who may reach the HTTP port. Ports are known only once it listens. */
export type Access = {
  token: string;
  ports: () => readonly number[];
  /** Further Host headers: `name` with any port, or `name:port`. */
  allowedHosts: readonly string[];
  /** Further origins, as a browser sends them. */
  allowedOrigins: readonly string[];
};

const loopbackNames = ["127.0.0.1", "localhost", "[::1]"];

/** The errors of the HTTP edge, in the form of seed 002. */
export function refuse(
  c: Context,
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const http_status = errors[code].status;
  const trace_id = traceIdOf(c.req.header("traceparent")) ?? randomBytes(16).toString("hex");
  const timestamp = new Date().toISOString();
  const error = { code, message, http_status, details: {}, trace_id, timestamp };
  return Response.json({ success: false, error }, { status: http_status, headers });
}

/** Refuses a Host or Origin that is not ours: a web page that had its name point here (DNS rebinding) sends its own. */
export function hostAndOrigin(access: Access): MiddlewareHandler {
  return async (c, next) => {
    const host = c.req.header("host")?.toLowerCase() ?? "";
    if (!isAllowedHost(host, access)) {
      const message = `This server does not answer as ${JSON.stringify(host.slice(0, 200))}. Use 127.0.0.1 or localhost with its port, or add the name to server.allowed_hosts.`;
      return refuse(c, "HOST_DENIED", message);
    }
    const origin = c.req.header("origin")?.toLowerCase();
    if (origin !== undefined && !isAllowedOrigin(origin, access)) {
      const message = `Pages of ${JSON.stringify(origin.slice(0, 200))} may not call this server. Add the origin to server.allowed_origins if they should.`;
      return refuse(c, "ORIGIN_DENIED", message);
    }
    await next();
    return undefined;
  };
}

/** What a request has to show: the server's token; on some paths a page's token, or a signed address. */
export function bearerToken(
  access: Access,
  { tickets, addresses }: { tickets: Tickets; addresses: Addresses },
): MiddlewareHandler {
  const expected = digest(`Bearer ${access.token}`);
  return async (c, next) => {
    const authorization = c.req.header("authorization") ?? "";
    const isOwn = timingSafeEqual(digest(authorization), expected);
    if (isOwn || isOfPage(c, authorization, tickets) || isReadByAddress(c, addresses)) {
      await next();
      return undefined;
    }
    const isLink = c.req.query("by") !== undefined;
    const message = isLink
      ? "This link has expired, or the server was restarted since. Open the page with `labwright open`."
      : "Send the token of this server as `Authorization: Bearer <token>`; it is in daemon.json in the data directory.";
    return refuse(c, "UNAUTHORIZED", message, { "www-authenticate": 'Bearer realm="labwright"' });
  };
}

const pagePaths = /^\/(api\/v1|server\/events)(\/|$)/;

/** A page reaches REST and events, as the client that its token was sold to. */
const isOfPage = (c: Context, authorization: string, tickets: Tickets): boolean =>
  pagePaths.test(c.req.path) && isTokenOfPage(c, authorization, tickets);

function isTokenOfPage(c: Context, authorization: string, tickets: Tickets): boolean {
  const client = tickets.clientOf(authorization.replace(/^Bearer /, ""));
  return client !== undefined && client === c.req.header(clientHeader);
}

const agentPaths = /^\/(server\/agent\/sessions|api\/v1\/agent\/task)(\/|$)/;

/** A page's request to the agents, which check credentials themselves, as one with the server's token. Others stay as they are. */
export function forAgents(c: Context, { token }: Access, tickets: Tickets): Request {
  const authorization = c.req.header("authorization") ?? "";
  if (!agentPaths.test(c.req.path) || !isTokenOfPage(c, authorization, tickets)) return c.req.raw;
  const headers = new Headers(c.req.raw.headers);
  headers.set("authorization", `Bearer ${token}`);
  return new Request(c.req.raw, { headers });
}

const isReadByAddress = (c: Context, addresses: Addresses) =>
  c.req.method === "GET" && c.req.query("by") !== undefined && addresses.isSigned(new URL(c.req.url));

/** Sells a token for a ticket, to a page of this very server only. Body: the ticket. */
export function sellToken(tickets: Tickets): Handler {
  return async (c) => {
    const origin = c.req.header("origin") ?? "";
    if (!URL.canParse(origin) || new URL(origin).host !== c.req.header("host")?.toLowerCase())
      return refuse(c, "ORIGIN_DENIED", "Only a page of this server buys a token. Use `labwright open`.");
    const sold = tickets.redeem((await c.req.text()).slice(0, 200));
    if (sold !== undefined) return c.json({ success: true, ...sold }, 200, { "cache-control": "no-store" });
    const message = `This address was used already, or is older than ${ticketMs / 1_000} s. Get another with \`labwright open\`.`;
    return refuse(c, "UNAUTHORIZED", message);
  };
}

/** Answers the challenges of clients on this machine, which send the token only after that. The plain port is the last. */
export function proveToken({ token, ports }: Access): Handler {
  return (c) => {
    const challenge = c.req.query("challenge") ?? "";
    const port = nodeBindings(c.env)?.incoming.socket.localPort;
    if (port === undefined || port !== ports().at(-1) || !/^[\da-f]{32,128}$/.test(challenge))
      return c.notFound();
    return c.json({ proof: proofOf(token, challenge, port) });
  };
}

const digest = (text: string) => createHash("sha256").update(text).digest();

function isAllowedHost(host: string, access: Access): boolean {
  const ours = access.ports().flatMap((port) => loopbackNames.map((name) => `${name}:${port}`));
  return ours.includes(host) || isListed(host, access.allowedHosts);
}

function isListed(host: string, list: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, "");
  return list.some((entry) => entry.toLowerCase() === host || entry.toLowerCase() === name);
}

function isAllowedOrigin(origin: string, access: Access): boolean {
  if (access.allowedOrigins.some((entry) => entry.toLowerCase().replace(/\/$/, "") === origin)) return true;
  return access
    .ports()
    .some((port) =>
      loopbackNames.some((name) => ["http", "https"].some((s) => origin === `${s}://${name}:${port}`)),
    );
}

/** The trace id of a W3C traceparent header, if it is one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const match = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/.exec(traceparent ?? "");
  return match?.[1] === "0".repeat(32) ? undefined : match?.[1];
}

import type { LookupOptions } from "node:dns";
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import { DeviceError, resolveHost } from "@labwright/controllers";
import { ToolError } from "../../errors.ts";
import type { ProductionPolicy, WriteRequest } from "./production.ts";
import type { RequestLimits } from "./requestLimits.ts";
import type { UrlPolicy } from "./urlPolicy.ts";

type Addresses = Pick<UrlPolicy, "allowUrl" | "allowAddress">;

/** What every request of ours passes on its way out. Redirects pass it again. */
export type WayOut = Addresses & {
  production?: Pick<ProductionPolicy, "judgeWrite">;
  limits?: RequestLimits;
  /** Called for each request that was sent, with its whole address: the log masks it. */
  log?(request: { method: string; url: string; status?: number; duration_ms: number }): void;
};

export type AllowedRequest = Pick<WriteRequest, "environment" | "grant"> & {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | Uint8Array | undefined;
  signal: AbortSignal;
  /** A longer answer is INVALID_RESPONSE; 10 MB when left out. */
  maxBytes?: number | undefined;
  /** A redirect is an answer like any other where this is false. */
  followRedirects?: boolean | undefined;
  /** Sent with each hop, and filled by each hop's answer. */
  cookies?: Cookies | undefined;
  /** Requests that change nothing reuse these; every other one opens a connection of its own. */
  connections?: Connections | undefined;
  /** What holds secrets, and is not sent on to another origin by a redirect. */
  secret?: { headers: readonly string[]; body: boolean } | undefined;
  /** Called when a request goes out, after any wait for the limit of its host. */
  sending?: (() => void) | undefined;
};

/** Connections that stay open between requests under one policy. Each was judged by it when it was opened. */
export type Connections = { http: HttpAgent; https: HttpsAgent; close(): void };

export function openConnections(): Connections {
  const http = new HttpAgent({ keepAlive: true });
  const https = new HttpsAgent({ keepAlive: true });
  return {
    http,
    https,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

export type Cookies = {
  /** The value of a Cookie header for this address; empty for none. */
  for(url: string): string;
  keep(url: string, setCookies: readonly string[]): void;
};

const maxRedirects = 10;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Not sent on to another origin by a redirect. */
const privateHeaders: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * An HTTP request under the URL policy, which is asked again for each redirect and for the address really connected to.
 * Throws URL_DENIED, POLICY_DENIED, RATE_LIMITED, APP_UNREACHABLE, INVALID_RESPONSE, INVALID_INPUT (a header that HTTP
 * forbids), and the signal's reason.
 */
export async function allowedFetch(way: WayOut, url: string, init: AllowedRequest): Promise<Response> {
  let request = { ...init, method: (init.method ?? "GET").toUpperCase(), headers: lowerCase(init.headers) };
  let target = url;
  for (let hop = 0; hop <= maxRedirects; hop++) {
    const response = await sendOne(way, target, request);
    init.cookies?.keep(target, response.headers.getSetCookie());
    const location = response.headers.get("location");
    const isFollowed = init.followRedirects !== false && redirects.has(response.status);
    if (!isFollowed || location === null) return response;
    const next = URL.canParse(location, target) ? new URL(location, target) : undefined;
    if (next === undefined) throw invalidResponse(target, "it redirects to something that is not a URL");
    request = redirected(
      { ...request, sending: undefined },
      response.status,
      next.origin === new URL(target).origin,
    );
    target = next.href;
  }
  throw invalidResponse(url, `it redirects more than ${maxRedirects} times`);
}

async function sendOne(way: WayOut, target: string, request: Hop): Promise<Response> {
  const { method, environment, grant, signal } = request;
  way.allowUrl(target);
  way.production?.judgeWrite({ method, url: target, environment, grant });
  const url = new URL(target);
  await way.limits?.take(url.host, signal);
  request.sending?.();
  const started = performance.now();
  const log = (status?: number) =>
    way.log?.({
      method,
      url: target,
      ...(status !== undefined && { status }),
      duration_ms: Math.round(performance.now() - started),
    });
  try {
    const response = await send(way, url, request);
    log(response.status);
    return response;
  } catch (error) {
    log();
    throw error;
  }
}

type Hop = AllowedRequest & { method: string; headers: Record<string, string> };

const lowerCase = (headers: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** What the Fetch standard does to method, body and headers at a redirect. */
function redirected(request: Hop, status: number, sameOrigin: boolean): Hop {
  const becomesGet =
    (status === 303 && request.method !== "HEAD") || (status < 303 && request.method === "POST");
  const { secret = { headers: [], body: false } } = request;
  const kept = new Set(secret.headers.map((name) => name.toLowerCase()));
  const losesBody = becomesGet || (secret.body && !sameOrigin);
  const headers = Object.entries(request.headers).filter(
    ([name]) =>
      (sameOrigin || !(privateHeaders.has(name) || kept.has(name))) &&
      !(losesBody && name.startsWith("content-")) &&
      name !== "host",
  );
  const next = { ...request, headers: Object.fromEntries(headers) };
  return { ...next, ...(becomesGet && { method: "GET" }), ...(losesBody && { body: undefined }) };
}

/** A second DELETE may be answered in another way than the first, so only what changes nothing is asked twice. */
const repeatable: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function agentFor(url: URL, { method, connections }: Hop): HttpAgent | false {
  if (!connections || !repeatable.has(method)) return false;
  return url.protocol === "https:" ? connections.https : connections.http;
}

function send(policy: Addresses, url: URL, hop: Hop): Promise<Response> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(hop.signal.aborted ? hop.signal.reason : failure(url, error));
    const start = url.protocol === "https:" ? httpsRequest : httpRequest;
    let isAnswered = false;
    try {
      const request = start(url, {
        method: hop.method,
        headers: { "accept-encoding": "identity", ...withCookies(hop, url) },
        lookup: checkedLookup(policy, url),
        signal: hop.signal,
        agent: agentFor(url, hop),
      });
      request.once("response", (message) => {
        isAnswered = true;
        read(message, request, hop.maxBytes ?? 10_000_000, url).then(resolve, fail);
      });
      request.once("error", (error) => {
        // The server has closed a connection that was open from before: the request goes out on one of its own.
        if (request.reusedSocket && !isAnswered && !hop.signal.aborted)
          send(policy, url, { ...hop, connections: undefined }).then(resolve, reject);
        else fail(error);
      });
      // A second error may follow the first.
      request.on("error", () => undefined);
      request.end(hop.body);
    } catch (error) {
      fail(error);
    }
  });
}

function withCookies({ headers, cookies }: Hop, url: URL): Record<string, string> {
  const kept = cookies?.for(url.href) ?? "";
  const all = [headers.cookie, kept].filter((one) => one !== undefined && one !== "").join("; ");
  return all === "" ? headers : { ...headers, cookie: all };
}

/** Asks the policy for every address that the name resolves to, before any of them is connected to. */
function checkedLookup(policy: Addresses, url: URL): LookupFunction {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const resolveAllowed = async (hostname: string, options: LookupOptions) => {
    const addresses = await resolveHost(hostname);
    for (const address of addresses)
      policy.allowAddress(isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`);
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    return found.filter(({ family }) => !options.family || options.family === family);
  };
  return (hostname, options, done) => {
    resolveAllowed(hostname, options).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all || first === undefined) done(null, addresses);
        else done(null, first.address, first.family);
      },
      (error: Error) => done(error, []),
    );
  };
}

async function read(
  message: IncomingMessage,
  request: ClientRequest,
  maxBytes: number,
  url: URL,
): Promise<Response> {
  const { chunks, size } = await chunksOf(message, maxBytes, url);
  if (size > maxBytes) {
    request.destroy();
    throw invalidResponse(url.href, `its answer is longer than ${maxBytes} bytes`);
  }
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (let i = 0; i + 1 < message.rawHeaders.length; i += 2) {
    headers.append(message.rawHeaders[i] ?? "", message.rawHeaders[i + 1] ?? "");
  }
  const empty = status === 204 || status === 205 || status === 304;
  if (status < 200 || status > 599) throw invalidResponse(url.href, `its status is ${status}`);
  if (empty) return new Response(null, { status, headers });
  const encodings = headers.get("content-encoding") ?? "";
  const body = await decodeBody(encodings, Buffer.concat(chunks), maxBytes).catch((error: Error) => {
    throw invalidResponse(url.href, `${error.message} (status ${status})`);
  });
  return new Response(Buffer.from(body), { status, headers });
}

async function chunksOf(message: IncomingMessage, maxBytes: number, url: URL) {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of message) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) break;
      chunks.push(bytes);
    }
  } catch {
    throw invalidResponse(url.href, `its answer ended after ${size} bytes${promised(message)}`);
  }
  return { chunks, size };
}

function promised({ headers }: IncomingMessage): string {
  const length = headers["content-length"];
  return length === undefined ? ", before its last chunk" : ` of the ${length} that it announced`;
}

function failure(url: URL, error: unknown): unknown {
  if (error instanceof DeviceError || error instanceof ToolError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  // Codes of Node's HTTP parser, and of its checks of what is sent.
  if (code.startsWith("HPE_"))
    return invalidResponse(url.href, `it does not speak HTTP as it should: ${reason}`);
  if (code === "ERR_INVALID_CHAR" || code.startsWith("ERR_INVALID_HTTP"))
    return new ToolError(
      "INVALID_INPUT",
      `${reason}.`,
      "Take line breaks and letters outside Latin-1 out of it.",
    );
  return new ToolError(
    "APP_UNREACHABLE",
    `${url.origin} did not answer: ${reason}.`,
    "Check that the server runs and that the address and port are right.",
    { origin: url.origin },
    { cause: error },
  );
}

function invalidResponse(target: string, reason: string): ToolError {
  const { origin, pathname } = new URL(target);
  return new ToolError(
    "INVALID_RESPONSE",
    `${origin}${pathname} cannot be used: ${reason}.`,
    "Ask for less or for another address, or look at what answers there.",
    { url: origin + pathname },
  );
}

type Decode = (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>;

const inflateZlib = promisify(inflate);
const inflateBare = promisify(inflateRaw);
/** Some servers send `deflate` without its zlib wrapper, whose first byte has 8 in its low half. */
const deflated: Decode = (bytes, options) =>
  ((bytes[0] ?? 0) & 15) === 8 ? inflateZlib(bytes, options) : inflateBare(bytes, options);

const decoders: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  br: promisify(brotliDecompress),
  deflate: deflated,
};

/** The body without its content encodings. Throws an Error for one unknown here (Node 20 has no zstd), bad or too many bytes. */
async function decodeBody(encodings: string, bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const names = encodings.toLowerCase().split(",");
  const wanted = names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
  let decoded = bytes;
  if (bytes.length === 0) return decoded;
  for (const name of wanted.reverse()) decoded = await decodeOne(name, decoded, maxBytes);
  return decoded;
}

async function decodeOne(name: string, bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const decode = Object.hasOwn(decoders, name) ? decoders[name] : undefined;
  if (!decode) {
    const known = Object.keys(decoders).join(", ");
    throw new Error(`its content-encoding is ${name}; only ${known} can be decoded`);
  }
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE")
      throw new Error(`its answer is longer than ${maxBytes} bytes once decoded`, { cause: error });
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`its content-encoding is ${name}, and its body is not valid ${name}: ${why}`, {
      cause: error,
    });
  }
}

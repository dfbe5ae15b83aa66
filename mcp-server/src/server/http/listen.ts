import { lookup } from "node:dns/promises";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type HttpBindings, type ServerType, serve } from "@hono/node-server";
import type { Hono } from "hono";
import { isExposed, isLoopback } from "../../config/places.ts";
import { ToolError } from "../../errors.ts";

export type ListenSettings = {
  host: string;
  /** Undefined: a free one. */
  port: number | undefined;
  /** Whether another port may be taken when this one is in use. */
  portIsFixed: boolean;
  tls?: { cert: string; key: string } | undefined;
  /** Name or address of the proxy that ends TLS in front of this server. */
  trustedProxy?: string | undefined;
};

/** `localPort` is the plain port on 127.0.0.1 for bridges and the command line; it is `port` unless `host` is beyond loopback. */
export type Listening = { port: number; localPort: number; ports: readonly number[]; close(): Promise<void> };

/** Throws CONFIG_INVALID when the address is beyond loopback and nothing protects the token on its way. */
export function checkExposure(settings: Pick<ListenSettings, "host" | "tls" | "trustedProxy">): void {
  if (!isExposed(settings)) return;
  throw new ToolError(
    "CONFIG_INVALID",
    `server.host is ${settings.host}, beyond this machine, and the token would go over the network unprotected.`,
    "Set server.tls {cert, key}, or server.trusted_proxy to the proxy that ends TLS in front of it, or leave server.host at 127.0.0.1.",
  );
}

/** The app and the bridges, which `isOwn` accepts on the plain port only. */
export type Serving = {
  app: Hono;
  upgrade?(request: IncomingMessage, head: Buffer, isOwn: boolean): Promise<void>;
};

/** Opens the port, or both: the one for others and the plain one on loopback. Throws CONFIG_INVALID. */
export async function listen(serving: Serving, settings: ListenSettings): Promise<Listening> {
  checkExposure(settings);
  if (isLoopback(settings.host)) {
    const server = await openPort(serving, settings);
    return { port: server.port, localPort: server.port, ports: [server.port], close: server.close };
  }
  const proxies = settings.trustedProxy === undefined ? undefined : await addressesOf(settings.trustedProxy);
  const outer = await openPort(serving, settings, proxies);
  const inner = await openPort(serving, { host: "127.0.0.1", port: undefined, portIsFixed: false });
  return {
    port: outer.port,
    localPort: inner.port,
    ports: [outer.port, inner.port],
    async close() {
      await Promise.all([outer.close(), inner.close()]);
    },
  };
}

/**
 * Node closes a connection after 5 s without a request, and a client that is about to use it again loses that request.
 * Clients wait for less than this.
 */
const keepAliveMs = 65_000;

type OpenPort = { port: number; close(): Promise<void> };

async function openPort(
  serving: Serving,
  settings: ListenSettings,
  proxies?: ReadonlySet<string>,
): Promise<OpenPort> {
  try {
    return await bind(serving, settings, settings.port ?? 0, proxies);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "EADDRINUSE" || settings.port === undefined) throw cannotListen(settings, error);
    if (settings.portIsFixed) throw cannotListen(settings, error);
    return bind(serving, settings, 0, proxies);
  }
}

function bind(
  { app, upgrade }: Serving,
  settings: ListenSettings,
  port: number,
  proxies?: ReadonlySet<string>,
): Promise<OpenPort> {
  const { promise, resolve, reject } = deferred<OpenPort>();
  const server: ServerType = serve(
    {
      fetch: (request, env) => {
        if (proxies && !isFrom(proxies, nodeBindings(env)?.incoming.socket))
          return new Response("Not the trusted proxy.\n", { status: 403 });
        return app.fetch(request, env);
      },
      hostname: settings.host.replace(/^\[|\]$/g, ""),
      port,
      ...(settings.tls
        ? { createServer: createHttpsServer, serverOptions: certificate(settings.tls) }
        : { createServer: createHttpServer }),
    },
    (info) => resolve({ port: info.port, close: () => closeServer(server) }),
  );
  if (upgrade)
    server.on("upgrade", (request: IncomingMessage, _socket, head: Buffer) => {
      if (proxies && !isFrom(proxies, request.socket)) return request.socket.destroy();
      upgrade(request, head, isLoopback(settings.host)).catch(() => request.socket.destroy());
    });
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = keepAliveMs;
  server.once("error", reject);
  return promise;
}

function closeServer(server: ServerType): Promise<void> {
  const { promise, resolve } = deferred<void>();
  server.close(() => resolve());
  if ("closeAllConnections" in server) server.closeAllConnections();
  return promise;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function certificate(tls: { cert: string; key: string }): { cert: Buffer; key: Buffer } {
  try {
    return { cert: readFileSync(tls.cert), key: readFileSync(tls.key) };
  } catch (error) {
    throw new ToolError(
      "CONFIG_INVALID",
      `server.tls cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      "Give paths of PEM files that this user may read.",
      {},
      { cause: error },
    );
  }
}

function cannotListen(settings: ListenSettings, error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  return new ToolError(
    "CONFIG_INVALID",
    `Cannot listen on ${settings.host}:${settings.port ?? 0}: ${error instanceof Error ? error.message : String(error)}`,
    "Another program may hold the port: set server.port (or LABWRIGHT_PORT) to another one, or 0 for any.",
    {},
    { cause: error },
  );
}

async function addressesOf(name: string): Promise<ReadonlySet<string>> {
  const found = await lookup(name, { all: true }).catch((error: unknown) => {
    throw new ToolError(
      "CONFIG_INVALID",
      `server.trusted_proxy ${name} has no address: ${error instanceof Error ? error.message : String(error)}`,
      "Give the proxy's address, or a name that resolves here.",
    );
  });
  return new Set(found.map(({ address }) => address));
}

const isFrom = (proxies: ReadonlySet<string>, socket: { remoteAddress?: string | undefined } | undefined) =>
  proxies.has((socket?.remoteAddress ?? "").replace(/^::ffff:/, ""));

/** Node's own request and response; undefined without Node's HTTP server, as in a test. */
export const nodeBindings = (env: unknown): HttpBindings | undefined => (isNode(env) ? env : undefined);

const isNode = (env: unknown): env is HttpBindings =>
  typeof env === "object" && env !== null && "incoming" in env;

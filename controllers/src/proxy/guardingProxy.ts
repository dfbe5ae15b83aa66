import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, isIP, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ControllerContext } from "../contract.ts";
import { Answers } from "./answers.ts";
import type { Names } from "./names.ts";
import { type Place, placeOf, withPort } from "./place.ts";
import {
  copyBody,
  forwarded,
  headerOf,
  type RequestHead,
  readHead,
  readUntilBlankLine,
} from "./requestHead.ts";
import type { Upstream, Upstreams } from "./upstream.ts";

export type ProxyDeps = {
  policy: Pick<ControllerContext, "allowUrl" | "allowAddress" | "allowHost">;
  names: Names;
  upstreams: Upstreams;
  /** Called for each connection or request that the policy refuses. */
  denied(url: string, reason: string): void;
};

/** Chromium's name for why there is no connection. */
class NoConnection extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** The browser's side, and the server that its last request by plain HTTP went to. */
type Connection = { client: Socket; server: { key: string; socket: Socket; answers: Answers } | undefined };

const needsPassword =
  "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=labwright\r\nContent-Length: 0\r\n\r\n";
const deniedCode = "ERR_BLOCKED_BY_CLIENT";
const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "ERR_CONNECTION_REFUSED",
  ECONNRESET: "ERR_CONNECTION_RESET",
  ETIMEDOUT: "ERR_CONNECTION_TIMED_OUT",
  ENOTFOUND: "ERR_NAME_NOT_RESOLVED",
  EAI_AGAIN: "ERR_NAME_NOT_RESOLVED",
  EHOSTUNREACH: "ERR_ADDRESS_UNREACHABLE",
  ENETUNREACH: "ERR_ADDRESS_UNREACHABLE",
  EADDRNOTAVAIL: "ERR_ADDRESS_UNREACHABLE",
};
/** Either side may go on after the other has ended: a server may answer before the end of an upload. */
const halfOpen = { noDelay: true, allowHalfOpen: true } as const;
/** How long a host's first address family may take before the other is tried. */
const familyMs = 500;
const mostFailures = 500;

/** The proxy of one browser or program, on a free port of 127.0.0.1. */
export class GuardingProxy {
  readonly username = "labwright";
  readonly password = randomBytes(16).toString("hex");
  /** A host that only this proxy knows: it answers 204 for it, to a browser that has given the password. */
  readonly admissionUrl = `http://${randomBytes(8).toString("hex")}.invalid/`;
  /** How many requests to {@link admissionUrl} it has answered. */
  admissions = 0;
  readonly #authorization = `Basic ${Buffer.from(`${this.username}:${this.password}`).toString("base64")}`;
  readonly #failures = new Map<string, string>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(private readonly deps: ProxyDeps) {
    this.#server = createServer(halfOpen, (client) => {
      this.#keep(client);
      this.#serve(client).catch(() => client.destroy());
    });
  }

  static async start(deps: ProxyDeps): Promise<GuardingProxy> {
    const proxy = new GuardingProxy(deps);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.#server.unref();
    return proxy;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Why the last connection to this address's host and port failed, as Chromium calls it; undefined where it did not. */
  failureOf(url: string): string | undefined {
    const place = placeOf(url);
    return place && this.#failures.get(withPort(place.host, place.port));
  }

  /** Hosts of the proxies behind this one. */
  get upstreams(): readonly string[] {
    return this.deps.upstreams.names;
  }

  /** Whether a proxy behind this one resolves the name. */
  isResolvedElsewhere({ host, port, isPlain }: Place): boolean {
    return this.deps.upstreams.to(host, port, isPlain) !== undefined;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** One connection of the browser: requests by plain HTTP one after another, or one tunnel. */
  async #serve(client: Socket): Promise<void> {
    const connection: Connection = { client, server: undefined };
    for (let head = await readHead(client); head !== undefined; head = await readHead(client)) {
      if (headerOf(head, "proxy-authorization") !== this.#authorization) client.write(needsPassword);
      else if (head.method === "CONNECT") return this.#tunnel(client, head.target);
      else if (head.target === this.admissionUrl) {
        this.admissions++;
        client.write("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (!(await this.#request(connection, head))) return;
    }
    client.destroySoon();
  }

  /** Sends one request by plain HTTP on. Resolves to false where no other can follow on this connection. */
  async #request(connection: Connection, head: RequestHead): Promise<boolean> {
    const { client, server } = connection;
    const place = /^http:/i.test(head.target) ? placeOf(head.target) : undefined;
    if (place === undefined) throw new Error("not a request to a proxy");
    const { href, pathname, search } = new URL(head.target);
    const { host, port } = place;
    if (this.#isDenied(href, () => this.deps.policy.allowUrl(href))) throw new NoConnection(deniedCode);
    const key = withPort(host, port);
    const upstream = this.deps.upstreams.to(host, port, true);
    let to = server?.key === key && !server.socket.destroyed ? server : undefined;
    if (to === undefined) {
      // The browser has the whole answer to the request before, else it would not ask again.
      server?.answers.unpipe(client);
      server?.socket.destroy();
      const opening = upstream
        ? this.#openUpstream(client, upstream, host, port)
        : this.#connect(client, host, port);
      to = connection.server = { key, socket: await opening, answers: new Answers() };
      this.#passAnswersOn(to.socket, to.answers, client, place);
    }
    to.answers.begin();
    to.socket.write(forwarded(head, pathname + search, upstream), "latin1");
    return copyBody(head, client, to.socket);
  }

  #passAnswersOn(server: Socket, answers: Answers, client: Socket, { host, port }: Place): void {
    answers.once("error", () => {
      this.#note(host, port, "ERR_UNEXPECTED_PROXY_AUTH");
      client.destroy();
    });
    passErrorOn(server, client);
    server.pipe(answers).pipe(client);
  }

  async #tunnel(client: Socket, target: string): Promise<void> {
    const [, inBrackets, name, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/.exec(target) ?? [];
    const [host, port] = [(inBrackets ?? name ?? "").toLowerCase(), Number(digits)];
    try {
      if (this.#isDenied(`https://${target}/`, () => this.deps.policy.allowHost(host, port)))
        throw this.#note(host, port, deniedCode);
      const upstream = this.deps.upstreams.to(host, port, false);
      const server = await (upstream
        ? this.#tunnelThrough(client, upstream, host, port)
        : this.#connect(client, host, port));
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      passErrorOn(server, client);
      client.pipe(server).pipe(client);
    } catch {
      client.end("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").resume();
    }
  }

  #isDenied(url: string, allow: () => void): boolean {
    try {
      allow();
      return false;
    } catch (error) {
      this.deps.denied(url, error instanceof Error ? error.message : String(error));
      return true;
    }
  }

  /** Resolves the name, judges what it resolves to and connects to one of those addresses. Throws NoConnection. */
  async #connect(client: Socket, host: string, port: number): Promise<Socket> {
    const { names, policy } = this.deps;
    try {
      const addresses = await names.addressesOf(host);
      const allow = () => {
        for (const address of addresses) policy.allowAddress(withPort(address, port));
      };
      if (this.#isDenied(`http://${withPort(host, port)}/`, allow)) throw this.#note(host, port, deniedCode);
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      const socket = await this.#open(
        client,
        connect({
          ...{ ...halfOpen, host, port, autoSelectFamily: true },
          autoSelectFamilyAttemptTimeout: familyMs,
          lookup: (_name, _options, done) => done(null, found),
        }),
      );
      this.#failures.delete(withPort(host, port));
      return socket;
    } catch (error) {
      throw error instanceof NoConnection ? error : this.#note(host, port, codeOf(error));
    }
  }

  /** A connection to the next proxy, for a request to this host. Throws NoConnection. */
  async #openUpstream(client: Socket, upstream: Upstream, host: string, port: number): Promise<Socket> {
    const place = { ...halfOpen, host: upstream.host, port: upstream.port };
    const servername = isIP(upstream.host) === 0 ? upstream.host : "";
    try {
      return await this.#open(client, upstream.isTls ? connectTls({ ...place, servername }) : connect(place));
    } catch {
      throw this.#note(host, port, "ERR_PROXY_CONNECTION_FAILED");
    }
  }

  async #tunnelThrough(client: Socket, upstream: Upstream, host: string, port: number): Promise<Socket> {
    const socket = await this.#openUpstream(client, upstream, host, port);
    const { authorization } = upstream;
    const credentials = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
    const target = withPort(host, port);
    socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${credentials}\r\n`);
    const head = await readUntilBlankLine(socket);
    if (head !== undefined && /^HTTP\/1\.[01] 2\d\d/.test(head)) {
      this.#failures.delete(withPort(host, port));
      return socket;
    }
    socket.destroy();
    throw this.#note(host, port, "ERR_TUNNEL_CONNECTION_FAILED");
  }

  /** It ends with the browser's connection, also while it is being opened. */
  async #open(client: Socket, socket: Socket): Promise<Socket> {
    this.#keep(socket);
    const end = () => socket.destroy();
    if (client.destroyed) end();
    client.once("close", end);
    socket.once("close", () => client.off("close", end));
    await once(socket, "encrypted" in socket ? "secureConnect" : "connect");
    return socket;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    // An error is followed by "close".
    socket.on("error", () => undefined);
  }

  #note(host: string, port: number, code: string): NoConnection {
    if (this.#failures.size >= mostFailures) this.#failures.clear();
    this.#failures.set(withPort(host, port), code);
    return new NoConnection(code);
  }
}

/** A server's reset stays a reset. */
function passErrorOn(server: Socket, client: Socket): void {
  server.once("error", (error) => {
    if ("code" in error && error.code === "ECONNRESET") client.resetAndDestroy();
    else client.destroy();
  });
}

function codeOf(error: unknown): string {
  const all = error instanceof AggregateError ? error.errors : [error];
  const found = all.flatMap((one) => (one instanceof Error && "code" in one ? [String(one.code)] : []));
  // A server that refuses says more than an address family that this machine lacks.
  const code = found.includes("ECONNREFUSED") ? "ECONNREFUSED" : found.at(-1);
  return codes[code ?? ""] ?? "ERR_CONNECTION_FAILED";
}

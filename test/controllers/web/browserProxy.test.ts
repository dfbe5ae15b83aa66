import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { GuardingProxy } from "#controllers/proxy/guardingProxy.ts";
import { Names } from "#controllers/proxy/names.ts";
import { findUpstreams } from "#controllers/proxy/upstream.ts";
import { closeServer, listenOnLoopback } from "../../fixtures/loopback.ts";
import { shared } from "../../fixtures/shared.ts";

/** Answers each request with what it was, and counts connections. */
async function startEcho() {
  let connections = 0;
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    response.end(JSON.stringify({ url: request.url, headers: request.headers, bytes: body.length }));
  });
  server.on("connection", () => connections++);
  const port = await listenOnLoopback(server);
  return { port, connections: () => connections, close: () => closeServer(server) };
}

/** A proxy of a company: it leads every name to `port`, and notes who asks for what. */
async function startUpstream(port: () => number) {
  const asked: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    asked.push([method, url, headers["proxy-authorization"]].join(" "));
  const server = createServer((message, response) => {
    note(message);
    response.end("from the proxy");
  });
  server.on("connect", (message: IncomingMessage, client: Socket) => {
    note(message);
    if (message.url?.startsWith("closed.")) return client.end("HTTP/1.1 503 No\r\n\r\n");
    const target = connect(port(), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(target).pipe(client);
    });
  });
  const own = await listenOnLoopback(server);
  return { port: own, asked, close: () => closeServer(server) };
}

const echo = shared(startEcho);
const upstream = shared(() => startUpstream(() => echo.port));

async function startProxy(env: NodeJS.ProcessEnv = {}) {
  const everything = { allowUrl() {}, allowAddress() {}, allowHost() {} };
  const proxy = await GuardingProxy.start({
    policy: everything,
    names: new Names(async () => ["127.0.0.1"]),
    upstreams: findUpstreams(undefined, env),
    denied() {},
  });
  const { hostname: host, port } = new URL(proxy.address);
  const authorization = `Basic ${Buffer.from(`${proxy.username}:${proxy.password}`).toString("base64")}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { "proxy-authorization": authorization, "proxy-connection": "keep-alive" };
  return {
    proxy,
    async ask(path: string, { method = "GET", body = "", own = headers as Record<string, string> } = {}) {
      const asking = request({
        host,
        port,
        agent,
        method,
        path,
        headers: { ...own, host: new URL(path).host },
      });
      asking.end(body);
      const [answer]: IncomingMessage[] = await once(asking, "response");
      return { status: answer?.statusCode, text: answer ? await text(answer) : "" };
    },
    /** Sends everything before it reads, as Chromium does. Returns all that comes back. */
    async exchange(head: string, body = "") {
      const socket = connect(Number(port), host);
      const [first = "", ...lines] = head.split("\r\n");
      const request = [first, `Proxy-Authorization: ${authorization}`, ...lines, "", body].join("\r\n");
      await new Promise<void>((resolve, reject) => {
        socket.once("error", reject);
        socket.write(request, "latin1", (error) => (error ? reject(error) : resolve()));
      });
      return text(socket);
    },
    async tunnel(target: string, bytes: string) {
      const socket = connect(Number(port), host);
      socket.write(`CONNECT ${target} HTTP/1.1\r\nProxy-Authorization: ${authorization}\r\n\r\n${bytes}`);
      return text(socket);
    },
    close() {
      agent.destroy();
      proxy.close();
    },
  };
}

test("Only the browser that knows the password may use the proxy", async () => {
  const mine = await startProxy();
  const before = echo.connections();
  const wrong = { "proxy-authorization": `Basic ${Buffer.from("labwright:guess").toString("base64")}` };
  for (const own of [{}, wrong]) {
    const { status } = await mine.ask(`http://shop.test:${echo.port}/`, { own });
    expect(status).toBe(407);
  }
  expect(echo.connections()).toBe(before);
  mine.close();
});

test("A server sees a request as if the browser had asked it directly, one connection for many", async () => {
  const mine = await startProxy();
  const before = echo.connections();
  const body = "x".repeat(3_000_000);
  for (const method of ["POST", "PUT"]) {
    const { text: answer } = await mine.ask(`http://shop.test:${echo.port}/a?b=1`, { method, body });
    const seen = JSON.parse(answer);
    expect(seen).toMatchObject({ url: "/a?b=1", bytes: body.length });
    expect(seen.headers).not.toHaveProperty("proxy-authorization");
    expect(seen.headers).toMatchObject({ host: `shop.test:${echo.port}`, connection: "keep-alive" });
  }
  expect(echo.connections()).toBe(before + 1);
  const { text: other } = await mine.ask(`http://other.test:${echo.port}/`);
  expect(JSON.parse(other).headers.host).toBe(`other.test:${echo.port}`);
  expect(echo.connections()).toBe(before + 2);
  mine.close();
});

test("The proxy of the environment leads to all but this machine and NO_PROXY", async () => {
  const address = `http://me:pa%3Ass@127.0.0.1:${upstream.port}`;
  const mine = await startProxy({ HTTP_PROXY: address, https_proxy: address, NO_PROXY: "intra.test, .corp" });
  const authorization = `Basic ${Buffer.from("me:pa:ss").toString("base64")}`;
  expect(await mine.ask("http://shop.test/a")).toEqual({ status: 200, text: "from the proxy" });
  const get = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  expect(await mine.tunnel("shop.test:443", get)).toContain('"url":"/"');
  expect(await mine.tunnel("closed.test:443", get)).toMatch(/^HTTP\/1.1 502 /);
  expect(mine.proxy.failureOf("https://closed.test/")).toBe("ERR_TUNNEL_CONNECTION_FAILED");
  for (const direct of ["localhost", "intra.test", "a.corp"])
    expect((await mine.ask(`http://${direct}:${echo.port}/`)).text).toContain(`"url":"/"`);
  expect(upstream.asked).toEqual([
    `GET http://shop.test/a ${authorization}`,
    `CONNECT shop.test:443 ${authorization}`,
    `CONNECT closed.test:443 ${authorization}`,
  ]);
  mine.close();
});

test("A server sees the method and the bytes of a header as the browser sent them", async () => {
  const mine = await startProxy();
  const cookie = Buffer.from("name=à").toString("latin1");
  const head = `M-SEARCH http://shop.test:${echo.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nCookie: ${cookie}\r\n`;
  expect(JSON.parse((await mine.exchange(head)).split("\r\n\r\n")[1] ?? "")).toMatchObject({
    headers: { cookie },
  });
  mine.close();
});

/** Answers the first bytes of each connection with these pieces, and sends nothing after them. It reads on until the other side ends. */
async function startRude(...pieces: string[]) {
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    socket.once("data", async () => {
      for (const piece of pieces) await new Promise((sent) => socket.write(piece, sent));
      socket.end();
    });
    socket.on("data", () => undefined);
  });
  const port = await listenOnLoopback(server);
  return { port, close: () => closeServer(server) };
}

test("A server's answer that comes before the end of an upload arrives", async () => {
  const [mine, strict] = [await startProxy(), await startRude("HTTP/1.1 413 Too Large\r\n\r\nno")];
  const body = "x".repeat(30_000_000);
  const post = (target: string) =>
    `POST ${target} HTTP/1.1\r\nHost: shop.test\r\nContent-Length: ${body.length}\r\n`;
  expect(await mine.exchange(post(`http://shop.test:${strict.port}/`), body)).toMatch(/^HTTP\/1.1 413 /);
  const tunnelled = `${post("/")}\r\n${body}`;
  expect(await mine.tunnel(`shop.test:${strict.port}`, tunnelled)).toContain("HTTP/1.1 413 ");
  mine.close();
  await strict.close();
});

test.each([
  ["at once", ["HTTP/1.1 407 No\r\n\r\n"]],
  ["in pieces, and other words", ["\nhttp/1.0  0", "407\r\n\r\n"]],
  ["after another", ["HTTP/1.1 103 Early Hints\r\nLink: x\r\n", "\r\nHTTP/1.1 407 No\r\n\r\n"]],
])("A server's 407, by which Chromium would forget the password, does not arrive: %s", async (_, pieces) => {
  const [mine, rude] = [await startProxy(), await startRude(...pieces)];
  const answer = await mine.exchange(`GET http://shop.test:${rude.port}/ HTTP/1.1\r\nHost: x\r\n`);
  expect(answer).not.toContain("407");
  expect(mine.proxy.failureOf(`http://shop.test:${rude.port}/`)).toBe("ERR_UNEXPECTED_PROXY_AUTH");
  mine.close();
  await rude.close();
});

test("NO_PROXY may name networks, and ALL_PROXY is not read where the others are set", () => {
  const one = "http://proxy.test:3128";
  const env = {
    HTTP_PROXY: one,
    HTTPS_PROXY: one,
    ALL_PROXY: "socks5://proxy.test",
    NO_PROXY: "10.0.0.0/8,fd00::/8",
  };
  const { to } = findUpstreams(undefined, env);
  expect(["10.1.2.3", "fd00::1"].map((host) => to(host, 443, false))).toEqual([undefined, undefined]);
  expect(["11.1.2.3", "shop.test"].map((host) => to(host, 80, true)?.host)).toEqual([
    "proxy.test",
    "proxy.test",
  ]);
});

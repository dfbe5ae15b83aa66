import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

/** `drop` ends the connections that there are. */
export type Relay = { port: number; drop(): void; close(): Promise<void> };

type RelayOptions = {
  target: number;
  packageName(): string;
  /** Of Chrome, in place of the real one. */
  version(): string | undefined;
};

/** DevTools of a Chromium as a WebView offers them: it says which app it is of, and which version it is. */
export async function startRelay(options: RelayOptions): Promise<Relay> {
  const { target } = options;
  const server = createServer((incoming, answer) => {
    const { url, headers, method } = incoming;
    const asked = request({ port: target, host: "127.0.0.1", path: url, headers, method }, (reply) => {
      void textOf(reply).then((text) => {
        const body = url?.startsWith("/json/version") ? ofWebView(text, options) : text;
        const length = Buffer.byteLength(body);
        answer.writeHead(reply.statusCode ?? 500, { ...reply.headers, "content-length": length });
        answer.end(body);
      });
    });
    asked.on("error", () => answer.destroy());
    incoming.pipe(asked);
  });
  const sockets = new Set<Duplex>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    const browser = connect(target, "127.0.0.1");
    const lines = incoming.rawHeaders.flatMap((name, at, all) => (at % 2 ? [] : [`${name}: ${all[at + 1]}`]));
    browser.write([`GET ${incoming.url} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
    browser.write(head);
    for (const one of [browser, client]) one.on("error", () => undefined);
    browser.pipe(client).once("close", () => browser.destroy());
    client.pipe(browser).once("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    drop,
    port: address !== null && typeof address === "object" ? address.port : 0,
    async close() {
      const closed = once(server, "close");
      server.close();
      drop();
      await closed;
    },
  };
}

async function textOf(reply: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of reply) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

function ofWebView(text: string, { packageName, version }: RelayOptions): string {
  const own: Record<string, unknown> = JSON.parse(text);
  const product =
    version() === undefined ? String(own.Browser).replace("Headless", "") : `Chrome/${version()}`;
  return JSON.stringify({ ...own, Browser: product, "Android-Package": packageName() });
}

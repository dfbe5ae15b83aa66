import type { Socket } from "node:net";

/** Chromium and Firefox send less; cookies alone may take some 200 KB. */
const longestHead = 1_000_000;

/** The head of a request to a proxy. `target` is `host:port` for CONNECT, else a whole address. */
export type RequestHead = {
  method: string;
  target: string;
  version: string;
  headers: readonly (readonly [name: string, value: string])[];
};

/** Reads the next head of a paused socket; undefined when the socket has ended or what it sends is not HTTP. */
export async function readHead(socket: Socket): Promise<RequestHead | undefined> {
  const text = await readUntilBlankLine(socket);
  return text === undefined ? undefined : parse(text);
}

/** The text before the next blank line, which is taken off too; undefined when the socket ends first. */
export async function readUntilBlankLine(socket: Socket): Promise<string | undefined> {
  let seen: Buffer = Buffer.alloc(0);
  while (seen.length <= longestHead) {
    const chunk: Buffer | undefined = await readSome(socket);
    if (chunk === undefined) return undefined;
    const from = Math.max(0, seen.length - 3);
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const end = seen.indexOf("\r\n\r\n", from);
    if (end < 0) continue;
    if (end + 4 < seen.length) socket.unshift(seen.subarray(end + 4));
    return seen.toString("latin1", 0, end);
  }
  return undefined;
}

function parse(text: string): RequestHead | undefined {
  const [first = "", ...lines] = text.split("\r\n");
  const [, method, target, version] = /^([^\s"(),/:;<=>?@[\\\]{}]+) (\S+) (HTTP\/1\.[01])$/.exec(first) ?? [];
  if (method === undefined || target === undefined || version === undefined) return undefined;
  const headers: [string, string][] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon <= 0) return undefined;
    // Not trim(), which takes the last byte of some letters for white space.
    headers.push([line.slice(0, colon), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, "")]);
  }
  return { method, target, version, headers };
}

export const headerOf = ({ headers }: RequestHead, name: string): string | undefined =>
  headers.find(([one]) => one.toLowerCase() === name)?.[1];

/** The head as a server gets it that is asked directly, or with `proxied` as the next proxy gets it. */
export function forwarded(
  head: RequestHead,
  path: string,
  proxied?: { authorization: string | undefined },
): string {
  const target = proxied ? head.target : path;
  const hasOwn = headerOf(head, "connection") !== undefined;
  const headers = head.headers.flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === "proxy-authorization") return [];
    if (lower !== "proxy-connection" || proxied) return [`${name}: ${value}`];
    return hasOwn ? [] : [`Connection: ${value}`];
  });
  if (proxied?.authorization !== undefined) headers.push(`Proxy-Authorization: ${proxied.authorization}`);
  return `${head.method} ${target} ${head.version}\r\n${headers.join("\r\n")}\r\n\r\n`;
}

/** Copies the body of a request. Resolves to false where no further request can follow on this connection. */
export async function copyBody(head: RequestHead, from: Socket, to: Socket): Promise<boolean> {
  if (["transfer-encoding", "upgrade"].some((name) => headerOf(head, name) !== undefined)) {
    // Chromium and Firefox send neither by plain HTTP. Its end is not looked for.
    from.pipe(to);
    return false;
  }
  let left = Number(headerOf(head, "content-length") ?? 0);
  if (!Number.isSafeInteger(left) || left < 0) return false;
  while (left > 0) {
    const chunk = await readSome(from, left);
    if (chunk === undefined) return false;
    left -= chunk.length;
    if (!to.write(chunk)) await drained(to);
  }
  return true;
}

/** What has arrived, at most `most` bytes; undefined when the socket has ended. */
async function readSome(socket: Socket, most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
  for (;;) {
    const length = Math.min(most, socket.readableLength);
    const chunk: Buffer | null = length > 0 ? socket.read(length) : socket.read(0);
    if (chunk !== null) return chunk;
    if (socket.readableEnded || socket.destroyed) return undefined;
    await oneOf(socket, ["readable", "end", "close", "error"]);
  }
}

const drained = (socket: Socket) => oneOf(socket, ["drain", "close", "error"]);

function oneOf(socket: Socket, events: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      for (const event of events) socket.off(event, done);
      resolve();
    };
    for (const event of events) socket.on(event, done);
  });
}

import { createServer, type RequestListener } from "node:http";
import { DeviceError } from "@labwright/controllers";
import { ToolError } from "@labwright/mcp-server";
import { afterEach, describe, expect, it } from "vitest";
import { allowedFetch, openConnections } from "#mcp-server/services/policy/allowedFetch.ts";
import { createProductionPolicy } from "#mcp-server/services/policy/production.ts";
import { createRequestLimits, limitPerMinute } from "#mcp-server/services/policy/requestLimits.ts";
import { createUrlPolicy } from "#mcp-server/services/policy/urlPolicy.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

const { signal } = new AbortController();
const policy = createUrlPolicy({ allow: [], deny: [] }, { port: () => undefined });

async function failureOf(work: Promise<unknown>) {
  const error = await work.then(
    () => new Error("it succeeded"),
    (reason: unknown) => reason,
  );
  if (error instanceof ToolError || error instanceof DeviceError) return error;
  throw error;
}

describe("requests", () => {
  it("sends method, headers and body and gives status, headers and text back", async () => {
    const url = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += String(chunk);
      });
      request.on("end", () => {
        response.writeHead(201, { "content-type": "text/plain", "set-cookie": ["a=1", "b=2"] });
        response.end(`${request.method} ${request.headers["x-a"]} ${body}`);
      });
    });
    const response = await allowedFetch(policy, `${url}/x`, {
      method: "post",
      headers: { "X-A": "1" },
      body: "hello",
      signal,
    });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(await response.text()).toBe("POST 1 hello");
  });

  it("reuses a connection for what may be asked twice, and asks anew where it was closed meanwhile", async () => {
    const ports: (number | undefined)[] = [];
    const url = await serve((request, response) => {
      ports.push(request.socket.remotePort);
      // The fourth request finds its connection closed.
      if (ports.length === 3) request.socket.end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      else response.end("ok");
    });
    const connections = openConnections();
    const ask = async (method: string) =>
      (await allowedFetch(policy, url, { method, signal, connections })).text();
    for (const method of ["GET", "OPTIONS", "GET", "GET", "DELETE"]) expect(await ask(method)).toBe("ok");
    connections.close();
    expect(ports[1]).toBe(ports[0]);
    expect(ports[2]).toBe(ports[0]);
    expect(new Set(ports.slice(2)).size).toBe(3);
  });

  it("gives an answer without a body for 204 and HEAD", async () => {
    const url = await serve((request, response) => {
      response.writeHead(request.method === "HEAD" ? 200 : 204).end();
    });
    expect((await allowedFetch(policy, url, { signal })).status).toBe(204);
    expect(await (await allowedFetch(policy, url, { method: "HEAD", signal })).text()).toBe("");
  });

  it("says what to check when no one answers", async () => {
    const url = await serve(() => {});
    for (const close of open.splice(0)) close();
    expect(await failureOf(allowedFetch(policy, url, { signal }))).toMatchObject({ code: "APP_UNREACHABLE" });
  });

  it("ends with the signal's reason when it aborts", async () => {
    const controller = new AbortController();
    const url = await serve(() => controller.abort(new ToolError("CANCELLED", "Stopped.", "Start again.")));
    expect(await failureOf(allowedFetch(policy, url, { signal: controller.signal }))).toMatchObject({
      code: "CANCELLED",
    });
  });

  it("refuses an answer over its limit without reading it to the end", async () => {
    let closed: (() => void) | undefined;
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await serve((request, response) => {
      request.socket.once("close", () => closed?.());
      const more = () => {
        while (response.write(Buffer.alloc(65_536))) {
          // until the socket is full
        }
      };
      response.on("drain", more);
      more();
    });
    expect(await failureOf(allowedFetch(policy, url, { signal, maxBytes: 200_000 }))).toMatchObject({
      code: "INVALID_RESPONSE",
    });
    await gone;
  });
});

describe("redirects", () => {
  const redirecting =
    (to: string | undefined, status = 302): RequestListener =>
    (request, response) => {
      if (request.url === "/end")
        response.end(
          `${request.method} ${request.headers.authorization ?? "-"} ${request.headers["content-type"] ?? "-"}`,
        );
      else response.writeHead(status, to === undefined ? {} : { location: to }).end();
    };

  it("are followed, a POST becoming a GET without its body for 302 and 303 but not for 307", async () => {
    const send = async (status: number) => {
      const url = await serve(redirecting("/end", status));
      const init = {
        method: "POST",
        body: "x",
        headers: { "Content-Type": "text/x", Authorization: "Basic a" },
        signal,
      };
      return (await allowedFetch(policy, url, init)).text();
    };
    expect(await send(302)).toBe("GET Basic a -");
    expect(await send(303)).toBe("GET Basic a -");
    expect(await send(307)).toBe("POST Basic a text/x");
  });

  it("do not carry credentials to another origin", async () => {
    const other = await serve(redirecting("/end"));
    const url = await serve(redirecting(`${other}/end`));
    const response = await allowedFetch(policy, url, { headers: { authorization: "Basic a" }, signal });
    expect(await response.text()).toBe("GET - -");
  });

  it.each([
    "http://169.254.169.254/latest",
    "file:///etc/passwd",
    "//[::ffff:169.254.169.254]/x",
    "javascript:1",
  ])("are judged at each hop: %s", async (to) => {
    const last = await serve(redirecting(to));
    const url = await serve(redirecting(`${last}/`));
    expect(await failureOf(allowedFetch(policy, url, { signal }))).toMatchObject({ code: "URL_DENIED" });
  });

  it("end after ten", async () => {
    const url = await serve(redirecting("/again"));
    expect(await failureOf(allowedFetch(policy, url, { signal }))).toMatchObject({
      code: "INVALID_RESPONSE",
    });
  });

  it("without a place to go are an answer like any other", async () => {
    const url = await serve(redirecting(undefined));
    expect((await allowedFetch(policy, url, { signal })).status).toBe(302);
  });
});

describe("the address really connected to", () => {
  it("is judged after the name was resolved", async () => {
    const url = new URL(await serve((_, response) => response.end("reached")));
    const asked: string[] = [];
    const strict = {
      allowUrl: () => {},
      allowAddress: (address: string) => {
        asked.push(address);
        throw new DeviceError("URL_DENIED", "Not this address.");
      },
    };
    const named = `http://localhost:${url.port}/`;
    expect(await failureOf(allowedFetch(strict, named, { signal }))).toMatchObject({ code: "URL_DENIED" });
    expect(asked[0]).toMatch(new RegExp(`^(127\\.0\\.0\\.1|\\[::1\\]):${url.port}$`));
    const response = await allowedFetch(policy, named, { signal });
    expect(await response.text()).toBe("reached");
  });

  it("may not be our own port, whatever the name", async () => {
    const url = new URL(await serve((_, response) => response.end("reached")));
    const own = createUrlPolicy({ allow: [], deny: [] }, { port: () => Number(url.port) });
    const blind = { ...own, allowUrl: () => {} };
    expect(await failureOf(allowedFetch(blind, `http://localhost:${url.port}/`, { signal }))).toMatchObject({
      code: "URL_DENIED",
    });
  });
});

describe("limits of all requests", () => {
  const counting = async () => {
    const seen: string[] = [];
    const url = await serve((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end("ok");
    });
    return { seen, url };
  };

  it("waits for the next window, and counts each host with its port by itself", async () => {
    const [one, other] = [await counting(), await counting()];
    const way = { ...policy, limits: createRequestLimits(2, 1_000) };
    let sent = 0;
    const ask = (url: string) => allowedFetch(way, url, { signal, sending: () => sent++ });
    await Promise.all([ask(one.url), ask(one.url), ask(other.url)]);
    expect(sent).toBe(3);
    const third = ask(one.url);
    await ask(other.url);
    expect(one.seen).toHaveLength(2);
    await third;
    expect(one.seen).toHaveLength(3);
  });

  it("fails with the name of the setting when its time is over first, and sends nothing", async () => {
    const { seen, url } = await counting();
    const way = { ...policy, limits: limitPerMinute(1) };
    await allowedFetch(way, url, { signal });
    const error = await failureOf(allowedFetch(way, url, { signal: AbortSignal.timeout(50) }));
    expect(error).toMatchObject({
      code: "RATE_LIMITED",
      hint: expect.stringContaining("limits.requests_per_host_minute"),
    });
    expect(seen).toHaveLength(1);
  });

  it("judges each redirect as a write too, and logs every request that was sent", async () => {
    const live = await counting();
    const staging = await serve((_request, response) => {
      response.writeHead(307, { location: live.url }).end();
    });
    const lines: unknown[] = [];
    const environment = { production: true, urls: [new URL(live.url).host], allow_writes: false, pii: [] };
    const way = {
      ...policy,
      production: createProductionPolicy({ live: environment }),
      log: (line: object) => lines.push(line),
    };
    const error = await failureOf(allowedFetch(way, staging, { method: "POST", body: "x", signal }));
    expect([error.code, live.seen]).toEqual(["POLICY_DENIED", []]);
    await allowedFetch(way, staging, { method: "POST", body: "x", signal, grant: true });
    expect(live.seen).toEqual(["POST /"]);
    expect(lines).toMatchObject([{ status: 307 }, { status: 307 }, { method: "POST", status: 200 }]);
  });
});

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "#mcp-server/registry/tool.ts";
import { checkExposure, listen } from "#mcp-server/server/http/listen.ts";
import type { CallContext } from "#mcp-server/services/index.ts";
import { bearer, connectHttp, type HttpFixture, rpc, startHttp, whoAmI } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const clients: string[] = [];
const contexts: CallContext[] = [];
const callers = whoAmI((context) => {
  clients.push(context.client);
  contexts.push(context);
});

const gate: { entered(): void } = { entered: () => {} };
const aborted: string[] = [];
const waitForever = defineTool({
  ...callers,
  name: "wait_forever",
  input: z.strictObject({}),
  output: z.strictObject({}),
  handle({ context }) {
    gate.entered();
    return new Promise((_, reject) => {
      context.signal.addEventListener("abort", () => {
        aborted.push(context.client);
        reject(context.signal.reason);
      });
    });
  },
});

const errorBody = z.object({
  success: z.literal(false),
  error: z.object({ code: z.string(), message: z.string(), http_status: z.int(), trace_id: z.string() }),
});

type Answer = { status: number; headers: Record<string, unknown>; body: string };

/** fetch forbids a Host header; this does not. */
function raw(url: string, options: { method?: string; headers?: Record<string, string>; ca?: Buffer } = {}) {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise<Answer>((resolve, reject) => {
    const sent = send(url, { rejectUnauthorized: false, ...options }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const body = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

const codeOf = (answer: Answer) => errorBody.parse(JSON.parse(answer.body)).error.code;

let http: HttpFixture;
beforeAll(async () => {
  const api = new Hono().get("/health", (c) => c.json({ status: "healthy" }));
  http = await startHttp(wireServices(), [callers, waitForever], {
    api,
    metrics: async () => ({ text: "calls 1\n", contentType: "text/plain; version=0.0.4" }),
    allowedOrigins: ["https://lab.example"],
    allowedHosts: ["lab.example"],
    bodyBytes: 100_000,
  });
});
afterAll(() => http.end());

describe("who may reach the port", () => {
  const port = () => http.listening.port;

  it.each([
    "/api/v1/health",
    "/mcp",
    "/metrics",
    "/attach",
    "/nothing",
  ])("needs the token: %s", async (path) => {
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: bearer.authorization.slice(7) },
    ]) {
      const answer = await raw(http.url(path), { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toContain("Bearer");
      expect(codeOf(answer)).toBe("UNAUTHORIZED");
    }
  });

  it("lets the token in, to REST, metrics and health", async () => {
    expect((await raw(http.url("/api/v1/health"), { headers: bearer })).body).toContain("healthy");
    expect((await raw(http.url("/metrics"), { headers: bearer })).body).toBe("calls 1\n");
    expect((await raw(http.url("/nothing"), { headers: bearer })).status).toBe(404);
    for (const path of ["/livez", "/readyz"]) expect((await raw(http.url(path))).status).toBe(200);
  });

  it.each([
    "evil.example",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example",
    "localhost.evil.example:80",
    "@127.0.0.1",
  ])("refuses a forged Host, also with the token: %j", async (host) => {
    const answer = await raw(http.url("/livez"), { headers: { ...bearer, host } });
    // Node itself answers 400 to a header that is not a host.
    expect([400, 403]).toContain(answer.status);
    if (answer.status === 403) expect(codeOf(answer)).toBe("HOST_DENIED");
  });

  it("answers as each loopback name with its port, and as a configured name", async () => {
    for (const host of [
      `127.0.0.1:${port()}`,
      `localhost:${port()}`,
      `[::1]:${port()}`,
      `LOCALHOST:${port()}`,
      "lab.example",
      "lab.example:8443",
    ]) {
      expect((await raw(http.url("/livez"), { headers: { host } })).status).toBe(200);
    }
  });

  it.each([
    "https://evil.example",
    "null",
    "http://localhost",
    "http://127.0.0.1:1",
    "https://lab.example.evil",
  ])("refuses a forged Origin, also with the token: %s", async (origin) => {
    const answer = await raw(http.url("/mcp"), { method: "POST", headers: { ...bearer, origin } });
    expect(answer.status).toBe(403);
    expect(codeOf(answer)).toBe("ORIGIN_DENIED");
  });

  it("lets pages of its own and of configured origins call, and says so to browsers", async () => {
    const own = await raw(http.url("/livez"), { headers: { origin: `http://localhost:${port()}` } });
    expect(own.status).toBe(200);
    const headers = { origin: "https://lab.example", "access-control-request-method": "POST" };
    const preflight = await raw(http.url("/api/v1/tools/x"), { method: "OPTIONS", headers });
    expect(preflight.headers["access-control-allow-origin"]).toBe("https://lab.example");
  });

  it.each([
    "/mcp",
    "/api/v1/tools/who_am_i",
  ])("refuses a body over the limit with what to do: %s", async (path) => {
    const response = await fetch(http.url(path), {
      method: "POST",
      headers: { ...bearer, "content-type": "application/json" },
      body: JSON.stringify({ note: "x".repeat(100_001) }),
    });
    expect(response.status).toBe(413);
    expect(errorBody.parse(await response.json()).error).toMatchObject({
      code: "INPUT_TOO_LARGE",
      message: expect.stringContaining("100000 bytes"),
    });
  });
});

it("a host's `arguments: null` counts as no arguments, also in a request without a session", async () => {
  clients.length = 0;
  const version = "2026-07-28";
  const headers = { "mcp-protocol-version": version, "mcp-method": "tools/call", "mcp-name": "who_am_i" };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientInfo": { name: "null-host", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "who_am_i", arguments: null, _meta };
  const response = await rpc(http.url("/mcp"), { method: "tools/call", params }, headers);
  expect(await response.text()).toContain('"client":"null-host"');
  expect(clients).toEqual(["null-host"]);
  const other = await rpc(http.url("/mcp"), { id: 7, method: "tools/list", params: { _meta } }, headers);
  expect(other.status, "a header that names another method").toBe(400);
  expect(await other.json()).toMatchObject({ id: 7, error: { code: -32020 } });
});

describe("whose call it is", () => {
  it("is the client's own name for a bridge, its session for a 2025 client, its name for a 2026 client", async () => {
    clients.length = 0;
    const bridge = await connectHttp(
      http.url("/mcp"),
      { pin: "2026-07-28" },
      { "x-labwright-client": "claude/1a2b" },
    );
    const modern = await connectHttp(http.url("/mcp"), { pin: "2026-07-28" });
    const legacy = await connectHttp(http.url("/mcp"), "legacy");
    for (const { client } of [bridge, modern, legacy])
      await client.callTool({ name: "who_am_i", arguments: {} });
    expect(clients).toEqual(["claude/1a2b", "http-test", `http-test/${legacy.transport.sessionId}`]);
    expect(http.sessions()).toBe(1);
    await legacy.transport.terminateSession();
    expect(http.sessions()).toBe(0);
    expect(http.ended).toContain(clients[2]);
    await Promise.all([bridge, modern, legacy].map(({ client }) => client.close()));
  });

  it("ends a trace id that came in a header in the call's context", async () => {
    contexts.length = 0;
    const traceparent = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    const { client } = await connectHttp(http.url("/mcp"), { pin: "2026-07-28" }, { traceparent });
    await client.callTool({ name: "who_am_i", arguments: {} });
    expect(contexts[0]?.trace_id).toBe("c".repeat(32));
    await client.close();
  });

  it("asks a 2025 client of an ended session to begin again", async () => {
    const response = await rpc(http.url("/mcp"), { method: "tools/list" }, { "mcp-session-id": "gone" });
    expect(response.status).toBe(404);
  });
});

describe("a cancelled call over HTTP", () => {
  it.each(["legacy", "modern"] as const)("reaches the tool: %s", async (era) => {
    aborted.length = 0;
    const { client } = await connectHttp(http.url("/mcp"), era === "legacy" ? era : { pin: "2026-07-28" });
    const entered = new Promise<void>((resolve) => {
      gate.entered = resolve;
    });
    const stop = new AbortController();
    const call = client.callTool({ name: "wait_forever", arguments: {} }, { signal: stop.signal });
    const rejected = expect(call).rejects.toThrow();
    await entered;
    stop.abort();
    await rejected;
    await expect.poll(() => aborted).toHaveLength(1);
    await client.close();
  });
});

describe("being asked to end", () => {
  it("passes on who asked, and says whether it leaves", async () => {
    let idle = false;
    const server = await startHttp(wireServices(), [callers], { isIdle: () => idle });
    const ask = (query: string) =>
      fetch(server.url(`/shutdown?${query}`), { method: "POST", headers: bearer });
    expect((await ask("if_idle=true&reason=newer")).status).toBe(409);
    idle = true;
    expect((await ask("reason=stop")).status).toBe(202);
    expect(server.stops).toEqual([
      { reason: "newer", ifIdle: true },
      { reason: "stop", ifIdle: false },
    ]);
    await server.end();
  });
});

describe("beyond loopback", () => {
  const folder = mkdtempSync(join(tmpdir(), "labwright-tls-"));
  const tls = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  beforeAll(() => {
    const subject = ["-subj", "/CN=localhost", "-days", "2", "-nodes"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-keyout", tls.key, "-out", tls.cert, ...subject],
      {
        stdio: "ignore",
      },
    );
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    "0.0.0.0",
    "::",
    "192.168.1.7",
    "lab.example",
  ])("refuses to serve %s unprotected, and says why", (host) => {
    expect(() => checkExposure({ host, tls: undefined, trustedProxy: undefined })).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("beyond this machine"),
        hint: expect.stringContaining("server.tls"),
      }),
    );
  });

  it.each(["127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost"])("serves %s as it is", (host) => {
    expect(() => checkExposure({ host, tls: undefined, trustedProxy: undefined })).not.toThrow();
  });

  it("serves with a certificate, and bridges on a plain port of loopback", async () => {
    const server = await startHttp(wireServices(), [callers], { listen: { host: "0.0.0.0", tls } });
    const { port, localPort } = server.listening;
    expect(localPort).not.toBe(port);
    expect((await raw(`https://127.0.0.1:${port}/livez`)).status).toBe(200);
    expect((await raw(`http://127.0.0.1:${localPort}/livez`)).status).toBe(200);
    const challenge = `/proof?challenge=${"0".repeat(64)}`;
    expect((await raw(`https://127.0.0.1:${port}${challenge}`)).status).toBe(404);
    expect((await raw(`http://127.0.0.1:${localPort}${challenge}`)).status).toBe(200);
    await expect(raw(`http://127.0.0.1:${port}/livez`)).rejects.toThrow();
    await server.end();
  });

  it("says which certificate cannot be read", async () => {
    const wrong = { cert: join(folder, "none.pem"), key: tls.key };
    const server = startHttp(wireServices(), [callers], { listen: { host: "0.0.0.0", tls: wrong } });
    await expect(server).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining("none.pem"),
    });
  });

  it("answers behind a proxy only to that proxy", async () => {
    const open = async (trustedProxy: string) =>
      startHttp(wireServices(), [callers], { listen: { host: "0.0.0.0", trustedProxy } });
    const trusted = await open("127.0.0.1");
    expect((await raw(`http://127.0.0.1:${trusted.listening.port}/livez`)).status).toBe(200);
    await trusted.end();
    const other = await open("192.0.2.7");
    expect((await raw(`http://127.0.0.1:${other.listening.port}/livez`)).status).toBe(403);
    await other.end();
  });
});

describe("a port that is taken", () => {
  it("is replaced by a free one unless someone asked for it", async () => {
    const settings = { host: "127.0.0.1", port: http.listening.port };
    const other = await listen({ app: new Hono() }, { ...settings, portIsFixed: false });
    expect(other.port).not.toBe(http.listening.port);
    await other.close();
    await expect(listen({ app: new Hono() }, { ...settings, portIsFixed: true })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      hint: expect.stringContaining("server.port"),
    });
  });
});

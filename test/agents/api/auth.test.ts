import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { listenOnLoopback } from "../../fixtures/loopback.ts";
import { annasKey, failure, keys, ownerToken, rawGet, startFixture as start } from "./apiFixture.ts";
import { ecJwt, hmacJwt, unsignedJwt } from "./jwt.ts";

const secret = "0123456789abcdef0123456789abcdef";
const env = { JWT_SECRET: secret };
const jwt = { secret_env: "JWT_SECRET", issuer: "https://id.example", audience: "labwright" };

type Claims = { sub?: string; iss?: string; aud?: string; exp?: number };
const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;
const claims = (given: Claims) => {
  const { sub = "berta", iss = jwt.issuer, aud = jwt.audience, exp = inAnHour() } = given;
  return { sub, iss, aud, exp };
};
const token = (given: Claims = {}, key = secret, alg: "HS256" | "HS512" = "HS256") =>
  hmacJwt(claims(given), key, { alg });

describe("credentials", () => {
  it.each([
    ["none", null],
    ["a wrong token", "wrong"],
    ["half of the token", ownerToken.slice(0, 10)],
    ["the hash of a key", keys[0]?.sha256 ?? ""],
    ["three parts that are no JWT", "a.b.c"],
    ["very many characters", "x".repeat(8_000)],
  ])("are refused: %s", async (_what, given) => {
    const { call } = await start({ api: { keys, jwt }, env });
    const answer = await call("GET", "/sessions", { token: given });
    expect(answer).toMatchObject({ status: 401, body: failure("UNAUTHORIZED", 401) });
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="labwright"');
  });

  it("are those of a Bearer, not of Basic, a query or a cookie", async () => {
    const { call } = await start();
    const basic = { authorization: `Basic ${Buffer.from(`a:${ownerToken}`).toString("base64")}` };
    expect(await call("GET", "/sessions", { token: null, headers: basic })).toMatchObject({ status: 401 });
    expect(await call("GET", `/sessions?token=${ownerToken}`, { token: null })).toMatchObject({
      status: 401,
    });
    const cookie = { cookie: `token=${ownerToken}` };
    expect(await call("GET", "/sessions", { token: null, headers: cookie })).toMatchObject({ status: 401 });
  });

  it("name the owner: the daemon's token, a key, a JWT", async () => {
    const { call } = await start({ api: { keys, jwt }, env });
    for (const [given, owner] of [
      [ownerToken, "local"],
      [annasKey, "anna"],
      [token(), "jwt:berta"],
      [token({ sub: "anna" }), "jwt:anna"],
      [token({ sub: "local" }), "jwt:local"],
    ] as const) {
      expect(await call("POST", "/sessions", { token: given })).toMatchObject({
        status: 201,
        body: { owner },
      });
    }
  });

  it("of another client do not show a session, nor let it be touched", async () => {
    const { call, conversations } = await start({ api: { keys, jwt }, env });
    await call("POST", "/sessions", { token: ownerToken });
    await call("POST", "/sessions", { token: annasKey });
    // A JWT of the same name is somebody else.
    const annasJwt = token({ sub: "anna" });
    expect(await call("GET", "/sessions/s2", { token: annasJwt })).toMatchObject({ status: 404 });
    expect((await call("GET", "/sessions", { token: annasJwt })).body).toMatchObject({ sessions: [] });
    for (const [method, path, body] of [
      ["GET", "/sessions/s1", undefined],
      ["DELETE", "/sessions/s1", undefined],
      ["GET", "/sessions/s1/events", undefined],
      ["POST", "/sessions/s1/messages", { text: "hello" }],
      ["POST", "/sessions/s1/messages?wait=true", { text: "hello" }],
      ["POST", "/sessions/s1/interrupt", undefined],
      ["POST", "/sessions/s1/approvals/ap-1", { approved: true }],
    ] as const) {
      expect(await call(method, path, { token: annasKey, ...(body && { body }) })).toMatchObject({
        status: 404,
        body: failure("SESSION_NOT_FOUND", 404),
      });
    }
    expect((await call("GET", "/sessions", { token: annasKey })).body).toMatchObject({
      sessions: [{ id: "s2" }],
    });
    expect(conversations.removed).toEqual([]);
  });
});

describe("a JWT", () => {
  const refused: [string, () => string][] = [
    ["that has expired", () => token({ exp: Math.floor(Date.now() / 1_000) - 60 })],
    ["for another audience", () => token({ aud: "another" })],
    ["of another issuer", () => token({ iss: "https://elsewhere.example" })],
    ["signed with another secret", () => token({}, "another secret of thirty-two bytes")],
    ["signed in another way with the same secret", () => token({}, secret + secret, "HS512")],
    ["that nobody signed", () => unsignedJwt(claims({}))],
    ["without a name", () => token({ sub: "" })],
    ["without an end", () => hmacJwt({ ...claims({}), exp: undefined }, secret, { alg: "HS256" })],
    ["that begins later", () => hmacJwt({ ...claims({}), nbf: inAnHour() }, secret, { alg: "HS256" })],
    ["whose claims were changed", () => changed(token())],
  ];
  it.each(refused)("%s is refused", async (_what, make) => {
    const { call } = await start({ api: { jwt }, env });
    expect(await call("GET", "/sessions", { token: make() })).toMatchObject({
      status: 401,
      body: failure("UNAUTHORIZED", 401),
    });
  });

  it("is not looked at when none are accepted", async () => {
    const { call } = await start({ env });
    expect(await call("GET", "/sessions", { token: token() })).toMatchObject({ status: 401 });
  });

  it("signed with a key of the issuer's set is let in, one of another key or with the public one as secret is not", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwk = { ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256" };
    const jwks_url = await serveJson({ keys: [jwk] });
    const { call } = await start({ api: { jwt: { ...jwt, secret_env: undefined, jwks_url } }, env });
    const signed = (aud: string) => ecJwt(claims({ aud }), privateKey, { kid: "one" });
    const good = await call("POST", "/sessions", { token: signed(jwt.audience) });
    expect(good).toMatchObject({ status: 201, body: { owner: "jwt:berta" } });
    expect(await call("GET", "/sessions", { token: signed("another") })).toMatchObject({ status: 401 });
    const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const forged = ecJwt(claims({}), other, { kid: "one" });
    expect(await call("GET", "/sessions", { token: forged })).toMatchObject({ status: 401 });
    const pem = publicKey.export({ format: "pem", type: "spki" }).toString();
    const confused = hmacJwt(claims({}), pem, { alg: "HS256" });
    expect(await call("GET", "/sessions", { token: confused })).toMatchObject({ status: 401 });
  });

  it("cannot be checked while the issuer's keys cannot be had, and says so", async () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const jwks_url = await serveJson({ nothing: true });
    const { call } = await start({ api: { jwt: { ...jwt, secret_env: undefined, jwks_url } }, env });
    const signed = ecJwt(claims({}), privateKey);
    expect(await call("GET", "/sessions", { token: signed })).toMatchObject({
      status: 503,
      body: failure("SERVER_UNREACHABLE", 503),
    });
  });

  it.each([
    ["a secret that is not set", { secret_env: "MISSING" }],
    ["a short secret", { secret_env: "SHORT" }],
  ])("with %s keeps the API from starting", async (_what, given) => {
    await expect(start({ api: { jwt: given }, env: { SHORT: "short" } })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
  });
});

describe("the key of a model", () => {
  it("is tried, kept, and reported to no one", async () => {
    const { call, saved } = await start();
    const answer = await call("POST", "/api-key", { body: { api_key: "good-key-123" } });
    expect(answer).toMatchObject({ status: 200, body: { saved: true } });
    expect(saved).toEqual(["good-key-123"]);
  });

  it("that is refused where it is for is not kept", async () => {
    const { call, saved } = await start();
    const answer = await call("POST", "/api-key", { body: { api_key: "wrong-key-123" } });
    expect(answer).toMatchObject({ status: 401, body: failure("API_KEY_INVALID", 401) });
    expect(JSON.stringify(answer.body)).not.toContain("wrong-key-123");
    expect(saved).toEqual([]);
  });

  it("is not set by who has a key of the API or nothing", async () => {
    const { call, saved } = await start({ api: { keys } });
    const body = { api_key: "good-key-123" };
    expect(await call("POST", "/api-key", { token: annasKey, body })).toMatchObject({
      status: 403,
      body: failure("FORBIDDEN", 403),
    });
    expect(await call("POST", "/api-key", { token: null, body })).toMatchObject({ status: 401 });
    expect(saved).toEqual([]);
  });

  it.each([
    "short",
    "with spaces in it",
    "with\nline ends",
    7,
  ])("is refused unread as %j", async (api_key) => {
    const { call, saved } = await start();
    const answer = await call("POST", "/api-key", { body: { api_key } });
    expect(answer).toMatchObject({ status: 400, body: failure("INVALID_INPUT", 400) });
    if (typeof api_key === "string") expect(JSON.stringify(answer.body)).not.toContain(api_key);
    expect(saved).toEqual([]);
  });
});

describe("how often", () => {
  it("each owner may ask is counted apart", async () => {
    const { call } = await start({ api: { keys, requests_per_minute: 2 } });
    await call("GET", "/sessions");
    await call("GET", "/sessions");
    const third = await call("GET", "/sessions");
    expect(third).toMatchObject({ status: 429, body: failure("RATE_LIMITED", 429) });
    expect(Number(third.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await call("GET", "/sessions", { token: annasKey })).toMatchObject({ status: 200 });
  });

  it("wrong credentials come from an address is limited, and the right ones are still served", async () => {
    const { call, connect, port } = await start({ api: { keys, jwt }, env });
    const wrong = (at: number) =>
      at % 2 ? `wrong-${at}` : token({}, `another secret of thirty-two byte${at}`);
    for (let at = 0; at < 20; at++)
      expect(await call("GET", "/sessions", { token: wrong(at) })).toMatchObject({ status: 401 });
    const limited = await call("GET", "/sessions", { token: wrong(20) });
    expect(limited).toMatchObject({ status: 429, body: failure("RATE_LIMITED", 429) });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(0);
    const socket = connect("wrong-21");
    const refused = await new Promise<Error>((resolve) => socket.once("connect_error", resolve));
    expect(refused).toMatchObject({ data: { code: "RATE_LIMITED" } });
    const stream = { authorization: "Bearer wrong-22", connection: "upgrade", upgrade: "websocket" };
    const key = { "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==", "sec-websocket-version": "13" };
    const host = { host: `127.0.0.1:${port}` };
    expect(await rawGet(port, "/api/v1/agent/stream", { ...host, ...stream, ...key })).toMatchObject({
      status: 429,
    });
    for (const right of [annasKey, token(), ownerToken])
      expect(await call("GET", "/sessions", { token: right })).toMatchObject({ status: 200 });
  });

  it("an address may send events is counted", async () => {
    const { call, published } = await start({ api: { requests_per_minute: 1 } });
    expect(await call("POST", "/events", { token: null, body: {} })).toMatchObject({ status: 401 });
    expect(await call("POST", "/events", { token: null, body: {} })).toMatchObject({ status: 429 });
    expect(published).toEqual([]);
  });
});

describe("Host and Origin", () => {
  const auth = { authorization: `Bearer ${ownerToken}` };
  const path = "/server/agent/health";

  it("of a name that was made to point here is refused", async () => {
    const { port } = await start();
    const answer = await rawGet(port, path, { ...auth, host: `evil.example:${port}` });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: "HOST_DENIED" } });
    const own = await rawGet(port, path, { ...auth, host: `localhost:${port}` });
    expect(own).toMatchObject({ status: 200 });
  });

  it("of a name that the settings have is served", async () => {
    const { port } = await start({ hosts: ["lab.example"] });
    expect(await rawGet(port, path, { ...auth, host: "lab.example" })).toMatchObject({ status: 200 });
    expect(await rawGet(port, path, { ...auth, host: "x.lab.example" })).toMatchObject({ status: 403 });
  });

  it.each(["https://evil.example", "null"])("of a page elsewhere is refused (%s)", async (origin) => {
    const { call } = await start();
    const answer = await call("GET", "/sessions", { headers: { origin } });
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "ORIGIN_DENIED" } } });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("of our own port is served, without a word of CORS", async () => {
    const { call, url } = await start();
    const answer = await call("GET", "/sessions", { headers: { origin: url } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("of a page that the settings have gets what CORS asks for, errors too", async () => {
    const origin = "https://pages.example";
    const { call } = await start({ origins: [origin] });
    const asked = await call("OPTIONS", "/sessions", {
      token: null,
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(origin);
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    const refused = await call("GET", "/sessions", { token: null, headers: { origin } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe(origin);
  });
});

function changed(jws: string): string {
  const [header = "", , signature = ""] = jws.split(".");
  const payload = Buffer.from(JSON.stringify({ ...claims({ sub: "carla" }) })).toString("base64url");
  return [header, payload, signature].join(".");
}

async function serveJson(body: object): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(body));
  });
  const port = await listenOnLoopback(server);
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${port}/keys`;
}

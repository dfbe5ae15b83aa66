import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Addresses, createAddresses } from "#mcp-server/server/page/addresses.ts";
import { createTickets } from "#mcp-server/server/page/tickets.ts";
import { fakeClock } from "../fixtures/fakeClock.ts";
import { bearer, type HttpFixture, startHttp, testToken } from "../fixtures/http.ts";
import { wireServices } from "../fixtures/wire.ts";

const clock = fakeClock();
const sha256 = "ab".repeat(32);
const file = `/api/v1/artifacts/${sha256}`;
let http: HttpFixture;
let addresses: Addresses;
beforeAll(async () => {
  addresses = createAddresses(clock, () => http.listening.port);
  const api = new Hono()
    .get("/artifacts/:sha256", (c) => c.text("a file"))
    .delete("/artifacts/:sha256", (c) => c.text("gone"))
    .get("/health", (c) => c.json({ asked: c.req.header("x-labwright-client") }));
  http = await startHttp(wireServices(), [], {
    ...{ clock, addresses, api, agents: async () => agents },
    allowedOrigins: ["https://lab.example"],
  });
});
afterAll(() => http.end());

/** Says what credentials a request came with. */
const agents = {
  fetch: (request: Request) => Response.json({ authorization: request.headers.get("authorization") }),
  ...{ socketRequest() {}, socketUpgrade() {}, streamUpgrade() {} },
};

const ticketSchema = z.object({ ticket: z.string().min(32), good_for_ms: z.literal(60_000) });
const tokenSchema = z.object({ token: z.string().min(32), client: z.string().startsWith("page/") });
const failureSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const failureOf = async (answer: Response) => failureSchema.parse(await answer.json()).error;

const own = () => http.url("");
const newTicket = async () => {
  const answer = await fetch(http.url("/page/tickets"), { method: "POST", headers: bearer });
  return ticketSchema.parse(await answer.json()).ticket;
};
const buy = (ticket: string, headers: Record<string, string> = { origin: own() }) =>
  fetch(http.url("/page/tokens"), { method: "POST", headers, body: ticket });
const bought = async () => tokenSchema.parse(await (await buy(await newTicket())).json());

describe("a ticket", () => {
  it("needs the server's own token, and a page's token buys no other", async () => {
    const post = { method: "POST" };
    expect((await fetch(http.url("/page/tickets"), post)).status).toBe(401);
    const { token, client } = await bought();
    const headers = { authorization: `Bearer ${token}`, "x-labwright-client": client };
    expect((await fetch(http.url("/page/tickets"), { ...post, headers })).status).toBe(401);
  });

  it("is good once", async () => {
    const ticket = await newTicket();
    expect((await buy(ticket)).status).toBe(200);
    const again = await buy(ticket);
    expect(again.status).toBe(401);
    expect((await failureOf(again)).message).toContain("labwright open");
  });

  it("is refused when it is late, by a second", async () => {
    const [intime, late] = [await newTicket(), await newTicket()];
    await clock.advance(59_000);
    expect((await buy(intime)).status).toBe(200);
    await clock.advance(1_000);
    expect((await buy(late)).status).toBe(401);
  });

  it.each([
    ["no origin", {}],
    ["another site", { origin: "https://evil.example" }],
    ["an origin that may call the server otherwise", { origin: "https://lab.example" }],
    ["a sandboxed page of ours", { origin: "null" }],
  ])("sells nothing to %s, and stays good", async (_, headers: Record<string, string>) => {
    const ticket = await newTicket();
    const answer = await buy(ticket, headers);
    expect(answer.status).toBe(403);
    expect((await failureOf(answer)).code).toBe("ORIGIN_DENIED");
    expect((await buy(ticket)).status).toBe(200);
  });

  it("keeps 100 of each kind, the newest", () => {
    const many = createTickets(clock);
    const issued = Array.from({ length: 101 }, () => many.issue());
    expect(many.redeem(issued[0] ?? "")).toBeUndefined();
    expect(many.redeem(issued[100] ?? "")).toBeDefined();
    expect(many.redeem("")).toBeUndefined();
  });
});

describe("a page's token", () => {
  const ask = (path: string, { token, client }: { token: string; client: string }) =>
    fetch(http.url(path), { headers: { authorization: `Bearer ${token}`, "x-labwright-client": client } });

  it("reaches REST as the client that it was sold to, and nothing else", async () => {
    const session = await bought();
    expect(await (await ask("/api/v1/health", session)).json()).toEqual({ asked: session.client });
    for (const path of ["/mcp", "/metrics", "/shutdown", "/attach", "/api/v11", "/server/agent/store/x"])
      expect((await ask(path, session)).status, path).toBe(401);
    expect((await ask("/api/v1/health", { ...session, client: "cli/1" })).status).toBe(401);
    expect((await ask("/api/v1/health", { ...session, token: testToken })).status).toBe(200);
  });

  it("reaches conversations and tasks of agents as the server's own, and their other paths as none", async () => {
    const session = await bought();
    const seen = async (path: string, given = session) =>
      z.object({ authorization: z.string() }).parse(await (await ask(path, given)).json()).authorization;
    for (const path of [
      "/server/agent/sessions",
      "/server/agent/sessions/x/messages",
      "/api/v1/agent/task/x",
    ])
      expect(await seen(path), path).toBe(`Bearer ${testToken}`);
    for (const path of ["/server/agent/api-key", "/server/agent/sessionsx", "/server/agent/events"])
      expect(await seen(path), path).toBe(`Bearer ${session.token}`);
    expect(await seen("/server/agent/sessions", { ...session, client: "cli/1" })).toBe(
      `Bearer ${session.token}`,
    );
  });

  it("ends after half a day without a call", async () => {
    const session = await bought();
    await clock.advance(11 * 3_600_000);
    expect((await ask("/api/v1/health", session)).status).toBe(200);
    await clock.advance(11 * 3_600_000);
    expect((await ask("/api/v1/health", session)).status).toBe(200);
    await clock.advance(12 * 3_600_000);
    expect((await ask("/api/v1/health", session)).status).toBe(401);
  });
});

describe("a signed address", () => {
  const get = (path: string, method = "GET") => fetch(http.url(path), { method });

  it("is read without a token until its end, and says how to get another then", async () => {
    const address = addresses.sign(file, 10_000);
    expect(await (await get(address)).text()).toBe("a file");
    await clock.advance(11_000);
    const late = await get(address);
    expect(late.status).toBe(401);
    expect((await failureOf(late)).message).toContain("labwright open");
  });

  it("is good for one path, one end and reading only", async () => {
    const address = addresses.sign(file, 10_000);
    const others = [
      address.replace(sha256, "cd".repeat(32)),
      address.replace("until=", "until=1"),
      address.replace("/artifacts/", "/artifacts//"),
      `${file}?by=`,
      `${file}?until=zzzzzzz&by=AAAAAAAAAAAAAAAAAAAAAA`,
      address.replace(file, "/api/v1/health"),
    ];
    for (const other of others) expect((await get(other)).status, other).toBe(401);
    expect((await get(address, "DELETE")).status).toBe(401);
  });

  it("is made of files and live pictures only, and of no other server", () => {
    expect(() => addresses.sign("/api/v1/health", 1)).toThrow();
    expect(() => addresses.sign(`${file}/../../health`, 1)).toThrow();
    expect(addresses.sign("/api/v1/devices/lab%2Fbrowser/live", 1)).toContain("/live?until=");
    expect(addresses.sign("/api/v1/devices/lab%2Fbrowser/recent/12", 1)).toContain("/recent/12?until=");
    expect(() => addresses.sign("/api/v1/devices/lab%2Fbrowser/recent", 1)).toThrow();
    expect(addresses.linkTo("tree://x")).toBeUndefined();
    const elsewhere = createAddresses(clock, () => 1).sign(file, 10_000);
    expect(addresses.isSigned(new URL(elsewhere, "http://127.0.0.1"))).toBe(false);
  });
});

describe("the page", () => {
  it("is served to who may reach the port, with a policy that allows no script but its own", async () => {
    const answer = await fetch(http.url("/"));
    expect(answer.status).toBe(200);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const page = await answer.text();
    expect(page).not.toMatch(/<script(?! type="module" src="\/page\/)|https?:\/\/(?!www\.w3\.org)/);
    expect(answer.headers.get("set-cookie")).toBeNull();
    const etag = answer.headers.get("etag") ?? "";
    expect((await fetch(http.url("/"), { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await fetch(http.url("/page/other.js"))).status).toBe(401);
    const forged = await fetch(http.url("/"), { headers: { origin: "https://evil.example" } });
    expect(forged.status).toBe(403);
  });
});

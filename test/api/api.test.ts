import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openApiDocument } from "#mcp-server/api/openapi.ts";
import { error, post, registry, start } from "./bench.ts";

describe("GET /health", () => {
  it("has the seed's shape, and is 503 when a service is down", async () => {
    const up = await start().api.request("/health");
    expect(up.status).toBe(200);
    expect(await up.json()).toEqual({
      status: "healthy",
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      services: { database: "ok" },
    });
    const down = await start(undefined, false).api.request("/health");
    expect(down.status).toBe(503);
    expect(await down.json()).toMatchObject({ status: "unhealthy", services: { database: "down" } });
  });
});

describe("GET /tools", () => {
  it("has the seed's shape with the strict schema of the arguments", async () => {
    const response = await start().api.request("/tools");
    const { tools } = z
      .object({ tools: z.array(z.record(z.string(), z.unknown())) })
      .parse(await response.json());
    expect(tools.map(({ name }) => name)).toEqual(["look_around", "plant_tree"]);
    expect(tools[0]).toEqual({
      name: "look_around",
      description: "Looks.",
      capabilities: ["SCREENSHOT"],
      domain: "screen",
      seed_domains: ["ui_testing"],
      timeout: 1_000,
      max_retries: 3,
      schema: { type: "object", properties: { where: { type: "string" } }, additionalProperties: false },
    });
    expect(JSON.stringify(tools[1]?.schema)).toContain("children");
    expect(tools[1]).toMatchObject({ seed_domains: [], max_retries: 0 });
  });

  it("finds tools by any of several capabilities, and by domains of ours and of the seed", async () => {
    const namesOf = async (query: string) => {
      const reply = await start().api.request(`/tools?${query}`);
      const { tools } = z
        .object({ tools: z.array(z.object({ name: z.string() })) })
        .parse(await reply.json());
      return tools.map(({ name }) => name);
    };
    expect(await namesOf("capability=SCREENSHOT")).toEqual(["look_around"]);
    expect(await namesOf("capability=SCREENSHOT,NAVIGATION_MODEL")).toEqual(["look_around", "plant_tree"]);
    expect(await namesOf("capability=SCREENSHOT&capability=NAVIGATION_MODEL")).toHaveLength(2);
    expect(await namesOf("domain=tree")).toEqual(["plant_tree"]);
    expect(await namesOf("domain=ui_testing")).toEqual(["look_around"]);
    expect(await namesOf("domain=ui_testing&capability=NAVIGATION_MODEL")).toEqual([]);
    expect(await namesOf("domain=sensors")).toEqual([]);
  });

  it.each([
    ["capability=SCREENSHOTS", "SCREENSHOT"],
    ["domain=ui_test", "ui_testing"],
    ["domain=", "ui_testing"],
  ])("refuses what there is not, with the nearest: %s", async (query, near) => {
    const response = await start().api.request(`/tools?${query}`);
    expect(response.status).toBe(400);
    const body = z
      .object({ error: z.object({ code: z.string(), hint: z.string() }) })
      .parse(await response.json());
    expect(body.error.code).toBe("INVALID_INPUT");
    expect(body.error.hint).toContain(near);
  });
});

describe("GET /audit", () => {
  it("passes its filters on", async () => {
    const filters = "tool=take_control&client=cli/&since=2026-11-27T09:00:00%2B01:00&limit=5";
    const response = await start().api.request(`/audit?${filters}`);
    expect(await response.json()).toEqual({
      calls: [{ tool: "take_control", client: "cli/", since: "2026-11-27T08:00:00.000Z", limit: 5 }],
    });
    expect(await (await start().api.request("/audit")).json()).toEqual({ calls: [{ limit: 100 }] });
  });

  it.each([
    "limit=0",
    "limit=x",
    "limit=1001",
    "since=yesterday",
    "tool=",
    "tol=x",
  ])("refuses %s", async (query) => {
    const response = await start().api.request(`/audit?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
  });
});

describe("/memory", () => {
  it.each([
    ["GET", "", { memory: [] }],
    ["GET", "scope=device&subject=box&kind=flaky&limit=5", { memory: [] }],
    ["DELETE", "id=3f0c9a1b2d4e5f60", { forgotten: 1 }],
    ["DELETE", "all=true", { forgotten: 2 }],
  ])("%s %s", async (method, query, reply) => {
    const response = await start().api.request(`/memory?${query}`, { method });
    expect(await response.json()).toEqual(reply);
  });

  it.each([
    ["GET", "scope=planet"],
    ["GET", "kind=rumour"],
    ["GET", "limit=0"],
    ["DELETE", ""],
    ["DELETE", "id="],
    ["DELETE", "all=yes"],
    ["DELETE", "id=a&all=true"],
  ])("%s refuses %s", async (method, query) => {
    const response = await start().api.request(`/memory?${query}`, { method });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ success: false, error: { code: "INVALID_INPUT" } });
  });
});

describe("POST /tools/:name", () => {
  it("passes arguments, caller, trace and key to the one path and gives its result back", async () => {
    const { api, requests } = start();
    const traceparent = `00-${error.trace_id}-00f067aa0ba902b7-01`;
    const headers = { traceparent, "idempotency-key": "k1", "x-labwright-client": "cli/1" };
    const response = await api.request("/tools/look_around", post('{"where": "here"}', headers));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      success: true,
      result: { seen: "it" },
      trace_id: error.trace_id,
    });
    expect(requests[0]).toMatchObject({
      name: "look_around",
      arguments: { where: "here" },
      principal: "owner",
      client: "cli/1",
      traceparent,
      idempotency_key: "k1",
    });
  });

  it("takes no body for no arguments", async () => {
    const { api, requests } = start();
    await api.request("/tools/look_around", { method: "POST" });
    expect(requests[0]?.arguments).toEqual({});
  });

  it("answers a failure with the seed's error object and its HTTP status", async () => {
    const { api } = start({ ok: false, tool: "look_around", trace_id: error.trace_id, error });
    const response = await api.request("/tools/look_around", post("{}"));
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ success: false, error: { ...error } });
  });

  it("refuses a body that is not JSON before anything is called", async () => {
    const { api, requests } = start();
    const response = await api.request("/tools/look_around", post("{where: here}"));
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      error: { code: "INVALID_INPUT", http_status: 400 },
    });
    expect(requests).toEqual([]);
  });

  it("gives pictures as links to stored artifacts", async () => {
    const { api } = start({
      ok: true,
      tool: "look_around",
      trace_id: error.trace_id,
      structured: { seen: "it" },
      text: "",
      attachments: [
        { kind: "image", mimeType: "image/png", bytes: new Uint8Array([1, 2, 3]), note: "the screen" },
        { kind: "link", uri: `artifact://${"a".repeat(64)}`, name: "full", mimeType: "image/png" },
      ],
    });
    const body = z
      .object({
        artifacts: z.array(
          z.object({ name: z.string(), uri: z.string(), href: z.string(), mime_type: z.string() }),
        ),
      })
      .parse(await (await api.request("/tools/look_around", post("{}"))).json());
    expect(body.artifacts.map(({ name }) => name)).toEqual(["the screen", "full"]);
    expect(body.artifacts[1]?.href).toBe(`/api/v1/artifacts/${"a".repeat(64)}`);
    const href = body.artifacts[0]?.href.replace("/api/v1", "") ?? "";
    expect(new Uint8Array(await (await api.request(href)).arrayBuffer())).toEqual(new Uint8Array([1, 2, 3]));
  });

  it("cancels the call when the caller goes away", async () => {
    const controller = new AbortController();
    const { api } = start(
      ({ signal, name }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () =>
            resolve({
              ok: false,
              tool: name,
              trace_id: "",
              error: { ...error, code: "CANCELLED", http_status: 499 },
            }),
          );
          controller.abort();
        }),
    );
    const response = await api.request("/tools/look_around", { ...post("{}"), signal: controller.signal });
    expect(response.status).toBe(499);
  });
});

it("gives the last pictures of a device at signed addresses, each also for the time after it", async () => {
  const { api } = start();
  const response = await api.request("/devices/lab%2Ftv/recent");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const { pictures } = z
    .object({ pictures: z.array(z.object({ at: z.iso.datetime(), href: z.string() })) })
    .parse(await response.json());
  expect(pictures.map(({ at }) => at)).toEqual(["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:03.000Z"]);
  const { pathname, searchParams } = new URL(pictures[1]?.href ?? "", "http://127.0.0.1");
  expect(searchParams.get("by")).toMatch(/^.{22}$/);
  const picture = async (path: string) => api.request(path.replace("/api/v1", ""));
  const second = await picture(pathname);
  expect(second.headers.get("cache-control")).toBe("no-store");
  expect(second.headers.get("content-type")).toBe("image/jpeg");
  expect([...new Uint8Array(await second.arrayBuffer())]).toEqual([3]);
  const between = await picture(pathname.replace("3000", "2999"));
  expect([...new Uint8Array(await between.arrayBuffer())]).toEqual([1]);
  expect((await picture(pathname.replace("3000", "999"))).status).toBe(404);
  expect((await api.request("/devices/radio/recent")).status).toBe(404);
});

describe("GET /artifacts/:sha256", () => {
  it("gives the file with its type, kept for ever, and harmless if it is a page", async () => {
    const { api, artifacts } = start();
    const { sha256 } = await artifacts.put(Buffer.from("<script>alert(1)</script>"), "text/html");
    const response = await api.request(`/artifacts/${sha256}`);
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(response.headers.get("content-type")).toBe("text/html");
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    expect(response.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
    const again = await api.request(`/artifacts/${sha256}`, {
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    const partOf = async (range: string) => {
      const part = await api.request(`/artifacts/${sha256}`, { headers: { range } });
      return [part.status, part.headers.get("content-range"), await part.text()];
    };
    expect(await partOf("bytes=8-12")).toEqual([206, "bytes 8-12/25", "alert"]);
    expect(await partOf("bytes=16-")).toEqual([206, "bytes 16-24/25", "</script>"]);
    expect(await partOf("bytes=0-99")).toEqual([206, "bytes 0-24/25", "<script>alert(1)</script>"]);
    for (const range of ["bytes=25-", "bytes=9-8", "bytes=0-1,3-4", "lines=1-2"])
      expect(await partOf(range)).toEqual([200, null, "<script>alert(1)</script>"]);
  });

  it.each([
    "a".repeat(64),
    "..%2f..%2fetc%2fpasswd",
    "A".repeat(64),
    "abc",
  ])("knows no artifact %s", async (name) => {
    const response = await start().api.request(`/artifacts/${name}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: "ARTIFACT_NOT_FOUND" } });
  });
});

describe("everything else", () => {
  it("is answered with where to look", async () => {
    const response = await start().api.request("/nothing");
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      success: false,
      error: { hint: expect.stringContaining("openapi.json") },
    });
  });

  it("does not show a fault of ours, but logs it", async () => {
    const { api, faults } = start(() => Promise.reject(new Error("password hunter22")));
    const response = await api.request("/tools/look_around", post("{}"));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("hunter22");
    expect(faults).toHaveLength(1);
  });
});

describe("the OpenAPI document", () => {
  it("describes each tool with its strict input and its output, recursive ones included", async () => {
    const document = await (await start().api.request("/openapi.json")).json();
    expect(document).toEqual(openApiDocument(registry.list(), "1.2.3"));
    expect(document).toMatchObject({
      openapi: "3.1.0",
      paths: {
        "/tools/look_around": { post: { operationId: "look_around", parameters: [] } },
        "/tools/plant_tree": { post: { parameters: [{ name: "Idempotency-Key" }] } },
        "/health": { get: { operationId: "health", responses: { 503: {} } } },
        "/tools": { get: { operationId: "tools" } },
        "/events": {
          get: {
            parameters: [
              { name: "after", in: "query", schema: { type: "integer", minimum: 0 } },
              { name: "consumer", in: "query", schema: { type: "string" } },
              { name: "device", in: "query", schema: { type: "string" } },
              { name: "limit", in: "query", schema: { minimum: 1, maximum: 1_000, default: 100 } },
            ],
          },
        },
        "/events/cursors/{consumer}": {
          get: { parameters: [{ name: "consumer", in: "path", required: true }] },
          put: { requestBody: { required: true } },
        },
        "/artifacts/{sha256}": { get: { parameters: [{ schema: { pattern: "^[0-9a-f]{64}$" } }] } },
      },
    });
  });

  it("has no reference that leads nowhere", () => {
    const document = openApiDocument(registry.list(), "1");
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
    expect(refs.some((ref) => ref.includes("plant_tree_input__"))).toBe(true);
    for (const ref of refs) {
      const found = ref
        .replace(/^#\//, "")
        .split("/")
        .reduce<unknown>((at, key) => z.record(z.string(), z.unknown()).parse(at)[key], document);
      expect(found, ref).toBeDefined();
    }
  });
});

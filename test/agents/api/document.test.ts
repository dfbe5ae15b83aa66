import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { type ApiFixture, startFixture } from "./apiFixture.ts";

let api: ApiFixture;
beforeEach(async () => {
  api = await startFixture();
});
afterEach(() => api.close());

const documentSchema = z.object({
  openapi: z.string(),
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ summary: z.string(), responses: z.record(z.string(), z.unknown()) })),
  ),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

describe("the OpenAPI document", () => {
  it("is open and names every path", async () => {
    const { status, body } = await api.call("GET", "/openapi.json", { token: null });
    expect(status).toBe(200);
    const document = documentSchema.parse(body);
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path.replace("/server/agent/", "")}`),
    );
    expect(operations.sort()).toEqual([
      "delete sessions/{id}",
      "get health",
      "get sessions",
      "get sessions/{id}",
      "get sessions/{id}/events",
      "post api-key",
      "post events",
      "post sessions",
      "post sessions/{id}/approvals/{approval_id}",
      "post sessions/{id}/interrupt",
      "post sessions/{id}/messages",
    ]);
  });

  it("refers to nothing that it does not hold", async () => {
    const { body } = await api.call("GET", "/openapi.json", { token: null });
    const { components } = documentSchema.parse(body);
    const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, name] of references) expect(Object.keys(components.schemas)).toContain(name);
  });

  it("knows every event that an agent tells", async () => {
    const text = JSON.stringify((await api.call("GET", "/openapi.json", { token: null })).body);
    for (const type of ["thinking", "skill_loaded", "approval_required", "handoff", "session_ended"]) {
      expect(text).toContain(`"${type}"`);
    }
  });
});

describe("its page", () => {
  it("shows every path and needs nothing from anywhere", async () => {
    const { status, headers, body } = await api.call("GET", "/docs", { token: null });
    expect(status).toBe(200);
    expect(headers.get("content-type")).toContain("text/html");
    const page = z.string().parse(body);
    expect(page).toContain("POST /server/agent/sessions/{id}/messages");
    expect(page).not.toMatch(/<script|src=|@import|url\(|<link/i);
    expect(page).not.toMatch(/href="(?!openapi\.json")/);
  });

  it("allows itself its own style and nothing else", async () => {
    const { headers, body } = await api.call("GET", "/docs", { token: null });
    const style = /<style>(.*?)<\/style>/s.exec(z.string().parse(body))?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(policy).not.toContain("unsafe-inline");
  });
});

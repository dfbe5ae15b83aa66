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
  it("names every path", async () => {
    const { status, body } = await api.call("GET", "/openapi.json");
    expect(status).toBe(200);
    const document = documentSchema.parse(body);
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path.replace("/server/agent/", "")}`),
    );
    expect(operations.sort()).toEqual([
      "delete /api/v1/agent/task/{id}",
      "delete sessions/{id}",
      "get /api/v1/agent/task/{id}",
      "get /api/v1/messages",
      "get health",
      "get sessions",
      "get sessions/{id}",
      "get sessions/{id}/events",
      "post /api/v1/agent/task",
      "post /api/v1/messages",
      "post api-key",
      "post events",
      "post sessions",
      "post sessions/{id}/approvals/{approval_id}",
      "post sessions/{id}/interrupt",
      "post sessions/{id}/messages",
    ]);
  });

  it("refers to nothing that it does not hold", async () => {
    const { body } = await api.call("GET", "/openapi.json");
    const { components } = documentSchema.parse(body);
    const references = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(0);
    for (const [, name] of references) expect(Object.keys(components.schemas)).toContain(name);
  });

  it("knows every event that an agent reports", async () => {
    const text = JSON.stringify((await api.call("GET", "/openapi.json")).body);
    for (const type of ["thinking", "skill_loaded", "approval_required", "handoff", "session_ended"]) {
      expect(text).toContain(`"${type}"`);
    }
  });
});

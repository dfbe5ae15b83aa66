import { beforeAll, beforeEach, expect, it } from "vitest";
import { type ApiSpecRow, type ApiSpecRows, apiSpecRows, type Storage } from "#mcp-server/storage/index.ts";
import { apiSpecs } from "#mcp-server/storage/schema/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const row = (name: string, more: Partial<ApiSpecRow> = {}): ApiSpecRow => ({
  ...{ id: crypto.randomUUID(), name, project: "", source: "http://pets.example/openapi.json" },
  ...{ version: "1", document_hash: "ab".repeat(32) },
  spec: {
    ...{ title: name, version: "1", format: "3.0", servers: [], security_schemes: {}, operations: [] },
    // An order that the database must keep, and a text that its own JSON would not take.
    ...{ definitions: { Z: true, A: { const: "\u0000" } } },
  },
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  ...more,
});

describeEachDatabase("rows of descriptions of APIs", (open) => {
  let storage: Storage;
  let rows: ApiSpecRows;
  beforeAll(async () => {
    storage = await open();
    rows = apiSpecRows(storage.db);
  });
  beforeEach(async () => {
    await storage.db.delete(apiSpecs);
  });

  const keep = { replace: false };
  it("replaces by name in its project, returns what was there, and keeps its id and age", async () => {
    const first = row("Pets");
    expect(await rows.put(first, keep)).toBeUndefined();
    expect(await rows.put(row("Pets", { project: "/a" }), keep)).toBeUndefined();
    const later = "2026-02-01T00:00:00.000Z";
    const replaced = await rows.put(row("Pets", { version: "2", created_at: later, updated_at: later }), {
      replace: true,
    });
    expect(replaced).toEqual(first);
    const now = await rows.load(first.id);
    expect(now).toEqual({ ...first, version: "2", updated_at: later });
    expect(JSON.stringify(now?.spec)).toBe(JSON.stringify(first.spec));
    expect((await rows.named("Pets")).map(({ project, version }) => [project, version]).sort()).toEqual([
      ["", "2"],
      ["/a", "1"],
    ]);
  });

  it("lets each of several imports at once see what it replaces", async () => {
    const versions = ["1", "2", "3", "4"];
    const before = await Promise.all(
      versions.map((version) => rows.put(row("Pets", { version }), { replace: true })),
    );
    const kept = await rows.list();
    expect(kept).toHaveLength(1);
    expect([...before.map((one) => one?.version ?? "none"), kept[0]?.version].sort()).toEqual(
      [...versions, "none"].sort(),
    );
  });
});

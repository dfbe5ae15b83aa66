import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { databaseOnly } from "#mcp-server/domain/index.ts";
import {
  type ReferenceRow,
  type ReferenceRows,
  referenceRows,
  type Storage,
} from "#mcp-server/storage/index.ts";
import { userinterfaceRows } from "#mcp-server/storage/rows/userinterfaceRows.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const at = "2026-01-01T00:00:00.000Z";
const later = "2026-01-02T00:00:00.000Z";
const sha256 = "ab".repeat(32);

const row = (name: string, more: Partial<ReferenceRow> = {}): ReferenceRow => ({
  id: `id of ${name}`,
  userinterface_id: "shop",
  device_model: "web",
  name,
  kind: "text",
  text: "Welcome",
  created_at: at,
  updated_at: at,
  ...more,
});
const image = (name: string, more: Partial<ReferenceRow> = {}): ReferenceRow => {
  const { text: _, ...rest } = row(name, more);
  return { ...rest, kind: "image", sha256, area: { x: 1, y: 2, width: 30, height: 40 } };
};

describeEachDatabase("rows of references", (open) => {
  let storage: Storage;
  let rows: ReferenceRows;
  beforeAll(async () => {
    storage = await open();
    rows = referenceRows(storage.db);
  });
  beforeEach(async () => {
    await storage.db.execute(sql`truncate userinterfaces cascade`);
    for (const id of ["shop", "bank"]) {
      await userinterfaceRows(storage.db).insert({
        ...{ id, name: `The ${id}`, models: ["web"], app: {}, variables: {} },
        ...{ ...databaseOnly, archived_at: null },
        ...{ test_id_attribute: "data-testid", root_tree_id: `${id} tree`, created_at: at, updated_at: at },
      });
    }
  });

  it("a row comes back as it was stored, and a second of its name is refused", async () => {
    for (const stored of [row("Welcome"), image("Logo")]) {
      expect(await rows.insert(stored)).toBe(true);
      expect(await rows.find(stored)).toEqual(stored);
      expect(await rows.insert({ ...stored, id: "another" })).toBe(false);
    }
    expect(await rows.insert(row("Welcome", { id: "tv", device_model: "stb" }))).toBe(true);
    expect(await rows.insert(row("Welcome", { id: "bank", userinterface_id: "bank" }))).toBe(true);
    expect(await rows.find(row("Nothing"))).toBeUndefined();
  });

  it("a row put in place of another keeps its id and age, and nothing of its content", async () => {
    await rows.put(row("Banner", { area: { x: 0, y: 0, width: 5, height: 5 } }));
    await rows.put(image("Banner", { id: "new", created_at: later, updated_at: later }));
    expect(await rows.find(row("Banner"))).toEqual(image("Banner", { updated_at: later }));
  });

  it("they are listed by app, model and name, as many as asked for, by every filter", async () => {
    await rows.insert(row("b"));
    await rows.insert(row("a"));
    await rows.insert(row("c", { device_model: "stb" }));
    await rows.insert(row("z", { userinterface_id: "bank" }));
    const { found, total } = await rows.list({}, 3);
    expect(found.map(({ userinterface_name, name }) => `${userinterface_name} ${name}`)).toEqual([
      "The bank z",
      "The shop c",
      "The shop a",
    ]);
    expect(total).toBe(4);
    const both = await rows.list({ userinterface_id: "shop", device_model: "web" }, 9);
    expect(both).toMatchObject({ found: [{ name: "a" }, { name: "b" }], total: 2 });
  });

  it("they go with their app, and files that none names are known by that", async () => {
    await rows.insert(image("Logo"));
    const other = "cd".repeat(32);
    expect(await rows.used([sha256, other])).toEqual(new Set([sha256]));
    expect(await rows.used([])).toEqual(new Set());
    await userinterfaceRows(storage.db).remove("shop");
    expect(await rows.used([sha256])).toEqual(new Set());
    expect((await rows.list({}, 9)).total).toBe(0);
  });
});

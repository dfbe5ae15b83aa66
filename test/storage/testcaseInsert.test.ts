import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { databaseOnly, testcaseSchema } from "#mcp-server/domain/index.ts";
import { databaseBytes } from "#mcp-server/storage/index.ts";
import { testcaseRows } from "#mcp-server/storage/rows/testcaseRows.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

const at = "2026-01-01T00:00:00.000Z";
const testcase = (description: string) =>
  testcaseSchema.parse({
    name: "inserted",
    description,
    userinterface_name: "shop",
    blocks: [{ id: "start", type: "start" }],
    edges: [],
  });

describeEachDatabase("a new test case", (open) => {
  it("is kept by the first who inserts its name, however many do at once, and by no later one", async () => {
    const rows = testcaseRows((await open()).db);
    const asked = Array.from({ length: 8 }, (_, one) => ({
      id: randomUUID(),
      testcase: testcase(`by ${one}`),
    }));
    const kept = await Promise.all(
      asked.map(({ id, testcase: own }) => rows.insert({ id, testcase: own, source: databaseOnly }, at)),
    );
    const first = asked.find(({ id }) => kept.includes(id));
    expect(kept.filter((id) => id !== undefined)).toHaveLength(1);
    expect(await rows.named("inserted")).toEqual([
      {
        ...first?.testcase,
        id: first?.id,
        created_at: at,
        updated_at: at,
        source: databaseOnly,
      },
    ]);
    expect(await rows.list({ name: "shop" })).toHaveLength(1);
  });
});

describeEachDatabase("the size of a database", (open) => {
  it("is what it takes on its disk", async () => {
    expect(await databaseBytes((await open()).db)).toBeGreaterThan(1_000_000);
  });
});

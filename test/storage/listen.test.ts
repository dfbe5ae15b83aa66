import type { PoolClient } from "pg";
import { beforeAll, expect, it } from "vitest";
import { Notifications } from "#mcp-server/storage/engine/listen.ts";
import type { Storage } from "#mcp-server/storage/index.ts";
import { describeEachDatabase } from "../fixtures/database.ts";

describeEachDatabase("notifications", (open) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await open();
  });

  it("give their connection back once, also when the server ends it as it is given back", async () => {
    let client: PoolClient | undefined;
    storage.pool.once("acquire", (acquired) => {
      client = acquired;
    });
    const notifications = new Notifications(storage.pool);
    await notifications.listen("closing", () => {});
    const taken = storage.pool.totalCount;
    notifications.close();
    await expect.poll(() => storage.pool.totalCount).toBe(taken - 1);
    expect(() =>
      client?.emit("error", new Error("terminating connection due to administrator command")),
    ).not.toThrow();
    expect(client).toBeDefined();
  });
});

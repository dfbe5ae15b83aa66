import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";
import { sharedDatabase } from "../fixtures/sharedPostgres.ts";
import { chain, click, sees } from "../services/apps/testcases/testcaseBench.ts";

const one = (name: string, at: number) => ({
  ...{ name, description: `of ${at}` },
  ...chain([click("open", "Movies"), sees("look", "All movies")]),
});
const app = (name: string, at: number) => ({ name, models: ["simulated"], variables: { at } });

/** What callers store at once under one name, each something else; `name` is another in each try. */
const saves: readonly [tool: string, args: (name: string, at: number) => Record<string, unknown>][] = [
  ["save_testcase", (name, at) => ({ testcase: one(name, at) })],
  ["import_userinterface", (name, at) => ({ yaml: JSON.stringify({ tests: [one("a", 0), one(name, at)] }) })],
  [
    "import_userinterface",
    (name, at) => ({ yaml: JSON.stringify({ ...app(name, at), tests: [one(`${name} ${at}`, at)] }) }),
  ],
  ["create_userinterface", app],
  ["rename_testcase", (new_name, at) => ({ testcase: `old ${at}`, new_name })],
  ["create_requirement", (name, at) => ({ code: name, name: `of ${at}` })],
];

describe.each([
  ["one server, on PGlite", 1],
  ["two servers of one PostgreSQL", 2],
])("calls at once on %s", (_, count) => {
  const products: Product[] = [];
  const clients: TestClient[] = [];
  beforeAll(async () => {
    const databaseUrl = count > 1 ? await sharedDatabase() : undefined;
    for (let at = 0; at < count; at++) {
      const product = await openProduct("", {}, undefined, databaseUrl ? { databaseUrl } : {});
      products.push(product);
      clients.push(await product.connect(), await product.connect());
    }
    const [client] = clients;
    for (let at = 0; at < clients.length; at++)
      await client?.call("save_testcase", { testcase: one(`old ${at}`, at) });
  });
  afterAll(async () => {
    for (const product of products) await product.dispose();
  });

  test.each(saves)("%s stores the first of a name, and the others say that it exists", async (tool, args) => {
    const name = `N-${randomUUID()}`;
    const replies = await Promise.all(clients.map((client, at) => client.call(tool, args(name, at))));
    const codes = replies.map(({ error }) => error?.code ?? "stored").sort();
    expect(codes).toEqual([...clients.slice(1).map(() => "ALREADY_EXISTS"), "stored"]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { TestClient } from "../fixtures/client.ts";
import { openProduct, type Product } from "../fixtures/product.ts";

const longestLine = 100;
const folder = new URL(".", import.meta.url);
const apps = readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const ours = (app: string) => readFileSync(new URL(`${app}/${app}.yaml`, folder), "utf8");
const theirs = (app: string) => readFileSync(new URL(`${app}/${app}.spec.ts`, folder), "utf8");
const flowsOf = (app: string) =>
  z
    .object({ name: z.literal(app), tests: z.array(z.object({ name: z.string() })) })
    .parse(parse(ours(app)))
    .tests.map(({ name }) => name);

let product: Product;
let client: TestClient;
beforeAll(async () => {
  product = await openProduct("devices: [{ name: browser, model: web }]");
  client = await product.connect();
});
afterAll(() => product.dispose());

test("ten flows of five apps", () => {
  expect(apps).toHaveLength(5);
  expect(apps.flatMap(flowsOf)).toHaveLength(10);
});

test.each(apps)("%s: the app and its tests are understood", async (app) => {
  const { error, structured } = await client.call("import_userinterface", {
    yaml: ours(app),
    file: `${app}.yaml`,
  });
  expect(error?.message).toBeUndefined();
  expect(structured.names).toEqual(flowsOf(app));
});

test.each(apps)("%s: both sides have the same flows, in lines of at most 100 columns", (app) => {
  const titles = [...theirs(app).matchAll(/^test\("(.+)", async/gm)].map(([, title]) => title);
  expect(titles).toEqual(flowsOf(app));
  for (const line of `${ours(app)}\n${theirs(app)}`.split("\n"))
    expect(line.length, line).toBeLessThanOrEqual(longestLine);
});

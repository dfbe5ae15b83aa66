import { afterAll, beforeAll, expect, test } from "vitest";
import { openProduct, type Product } from "../../../fixtures/product.ts";
import { phrasingDevices, readPhrasings } from "./readPhrasings.ts";

let product: Product;
beforeAll(async () => {
  product = await openProduct(phrasingDevices);
});
afterAll(() => product.dispose());

test.each([
  ["phrasings", 60, 0.95],
  ["held_back", 20, 0.95],
] as const)("of the %s of apps that are not ours, enough are planned right, and none is planned wrong", async (set, count, least) => {
  const rows = await readPhrasings(await product.connect(), set);
  expect(rows).toHaveLength(count);
  const missed = rows.filter(({ verdict }) => verdict !== "right");
  expect(missed.filter(({ verdict }) => verdict === "wrong")).toEqual([]);
  expect(missed.length, JSON.stringify(missed, null, 2)).toBeLessThanOrEqual(count * (1 - least));
});

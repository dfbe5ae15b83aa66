import { expect, test } from "vitest";
import { filtered } from "#mcp-server/cli/run/plan.ts";

const tests = [
  { name: "sign in", tags: ["smoke"] },
  { name: "Sign out", tags: ["smoke", "slow"] },
  { name: "buy a lamp", tags: ["shop"] },
  { name: "buy two lamps", tags: [] },
];
const hasFailed = ({ name }: { name: string }) => name === "Sign out" || name === "buy a lamp";
const names = (filter: Parameters<typeof filtered>[1]) =>
  filtered(tests, filter, hasFailed).map(({ name }) => name);
const refusal = (filter: Parameters<typeof filtered>[1]) => {
  try {
    return names(filter);
  } catch (error) {
    return error;
  }
};

test("a test has one of the tags, and its name the text in any case or what the expression says", () => {
  expect(names({})).toHaveLength(4);
  expect(names({ tags: ["slow", "shop"] })).toEqual(["Sign out", "buy a lamp"]);
  expect(names({ grep: "sign" })).toEqual(["sign in", "Sign out"]);
  expect(names({ grep: "/^sign/" })).toEqual(["sign in"]);
  expect(names({ grep: "/^SIGN/gi", tags: ["smoke"] })).toEqual(["sign in", "Sign out"]);
});

test.each([1, 2, 3, 4])("%d shards together are all tests once, whatever their order", (total) => {
  const shards = Array.from({ length: total }, (_, at) => ({ index: at + 1, total }));
  const parts = shards.map((shard) => names({ shard }));
  expect(parts.flat().sort()).toEqual(tests.map(({ name }) => name).sort());
  const again = shards.map((shard) =>
    filtered(tests.toReversed(), { shard }, hasFailed).map(({ name }) => name),
  );
  expect(again.map((part) => part.sort())).toEqual(parts.map((part) => part.sort()));
});

test("--last-failed leaves those that failed, of which the other filters choose", () => {
  expect(names({ lastFailed: true })).toEqual(["Sign out", "buy a lamp"]);
  expect(names({ lastFailed: true, tags: ["shop"] })).toEqual(["buy a lamp"]);
  expect(names({ lastFailed: true, shard: { index: 2, total: 2 } })).toEqual(["buy a lamp"]);
  expect(refusal({ lastFailed: true, grep: "sign in" })).toMatchObject({ code: "INVALID_INPUT" });
});

test("a filter that leaves nothing says what there is", () => {
  expect(refusal({ tags: ["smoke", "slwo"] })).toMatchObject({
    code: "INVALID_INPUT",
    message: 'No test case has the tag "slwo".',
    hint: "Did you mean slow? The tags are shop, slow, smoke.",
  });
  expect(refusal({ grep: "buy a lampe" })).toMatchObject({
    code: "INVALID_INPUT",
    hint: expect.stringContaining('"buy a lamp"'),
  });
  expect(refusal({ grep: "/(/" })).toMatchObject({
    code: "INVALID_INPUT",
    hint: expect.stringContaining("slashes"),
  });
  expect(refusal({ shard: { index: 5, total: 5 } })).toMatchObject({
    code: "INVALID_INPUT",
    message: "Shard 5/5 of 4 test cases is empty.",
  });
});

import { expect, test } from "vitest";
import { headersOf } from "#mcp-server/services/lab/investigations/sources/access.ts";

test.each([
  ["basic", {}, ["ada", "pass"], { authorization: "Basic YWRhOnBhc3M=" }],
  ["api_key", {}, ["key"], { "x-api-key": "key" }],
  ["api_key", { header: "x-super-key" }, ["key"], { "x-super-key": "key" }],
  ["bearer", {}, ["key"], { authorization: "Bearer key" }],
  ["none", {}, [], {}],
] as const)("a source that signs in by %s gets its header", (auth, more, values, headers) => {
  expect(headersOf({ auth, values, ...more })).toEqual(headers);
});

test.each(["basic", "api_key"] as const)("%s without all that it needs is refused", (auth) => {
  const values = auth === "basic" ? ["ada"] : [];
  expect(() => headersOf({ auth, values })).toThrow(`auth: ${auth} needs`);
});

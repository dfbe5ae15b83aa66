import { expect, it } from "vitest";
import type { ApiResponse } from "#mcp-server/domain/apiSpec.ts";
import { contractChecks } from "#mcp-server/services/apps/apis/requests/contract.ts";
import { judge } from "#mcp-server/services/apps/apis/requests/judge.ts";

const response = (content: ApiResponse["content"], more: Partial<ApiResponse> = {}): ApiResponse => ({
  ...{ content, required_headers: [], links: [] },
  ...more,
});
const json = { "application/json": { schema: { type: "object" }, examples: [] } };
const noSchemas = { check: async () => ({ findings: [], more: 0 }) };

async function brokenBy(
  responses: Record<string, ApiResponse>,
  status: number,
  headers: Record<string, string> = {},
) {
  const answer = { status, headers, body: {}, duration_ms: 1 };
  const judged = await judge(contractChecks({ definitions: {} }, { responses }, answer), answer, noSchemas);
  return judged.flatMap((one) => (one.pass ? [] : one.expected));
}

it("takes an answer by its status, its class or the default, and no other", async () => {
  const type = { "content-type": "application/json; charset=utf-8" };
  expect(await brokenBy({ "200": response(json) }, 200, type)).toEqual([]);
  expect(await brokenBy({ "2XX": response(json) }, 204, type)).toEqual([]);
  expect(await brokenBy({ "200": response({}), default: response(json) }, 500, type)).toEqual([]);
  expect(await brokenBy({ "200": response(json), "4XX": response({}) }, 500)).toEqual(["status 200, 4xx"]);
});

it("wants a content type that is described, and the headers that are required", async () => {
  const type = (name: string) => ({ "content-type": name });
  const described = { "200": response({ ...json, "text/*": { examples: [] } }) };
  expect(await brokenBy(described, 200, type("Text/CSV"))).toEqual([]);
  expect(await brokenBy(described, 200, type("image/png"))).toEqual([
    expect.stringContaining("application/json|text/"),
  ]);
  expect(await brokenBy({ "200": response({}) }, 200, type("image/png"))).toEqual([]);
  expect(await brokenBy({ "200": response({}, { required_headers: ["x-total"] }) }, 200)).toEqual([
    "header x-total is present",
  ]);
});

import { expect, test } from "vitest";
import type { Step } from "#mcp-server/domain/index.ts";
import { findingsOf, type Outcome } from "#mcp-server/services/apps/apiTests/findings.ts";
import { requestBlock } from "#mcp-server/services/apps/apiTests/graphs.ts";
import { makeValue } from "#mcp-server/services/apps/apiTests/makeValue.ts";
import { lenient } from "#mcp-server/services/apps/apiTests/schemas.ts";
import type { Ask } from "#mcp-server/services/apps/apiTests/types.ts";

const person = {
  type: "object",
  required: ["name", "friends"],
  properties: {
    name: { type: "string", minLength: 3, maxLength: 12 },
    zip: { type: "string", pattern: "^[0-9]{5}$" },
    age: { type: "integer", minimum: 18, maximum: 19 },
    born: { type: "string", format: "date" },
    id: { type: "integer", readOnly: true },
    friends: { type: "array", minItems: 1, items: { $ref: "#/$defs/Person" } },
  },
};
const root = { $ref: "#/$defs/Person", $defs: { Person: person } };

test("values are the same for the same seed, other for another variant, and end where a schema contains itself", () => {
  const make = (seed: number, variant: number) => makeValue(root, { root, seed, variant });
  const value = make(7, 0);
  expect(value).toMatchObject({
    name: expect.stringMatching(/^.{3,12}$/),
    zip: expect.stringMatching(/^\d{5}$/),
    age: 19,
    born: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
  });
  expect(value).not.toHaveProperty("id");
  expect(make(7, 0)).toEqual(value);
  expect(make(7, 1)).not.toMatchObject({ name: Object(value).name });
  expect(JSON.stringify(value).length).toBeLessThan(2_000);
});

test("a value is not called wrong for a format, or for a second alternative that holds too", () => {
  const schema = {
    oneOf: [
      { type: "string", format: "email" },
      { type: "string", format: "made-up" },
    ],
  };
  expect(lenient(schema, "request")).toEqual({ anyOf: [{ type: "string" }, { type: "string" }] });
  expect(lenient(schema, "response")).toEqual({
    anyOf: [{ type: "string", format: "email" }, { type: "string" }],
  });
});

type Said = { field?: string; trial?: string; kind?: Ask["kind"]; status?: number; body?: unknown };

/** A request of one operation and its reply. */
function outcome({ field, trial, kind = "probe", status = 500, body = {} }: Said): Outcome {
  const request = { method: "POST", url: "http://shop/orders", headers: {}, body };
  const label = `${field} ${trial}`;
  const block = requestBlock("ask", {
    label,
    kind,
    operation: "createOrder",
    request,
    checks: [{ status: 200 }],
  });
  const checks = [{ expected: "status 200", pass: false, found: `status ${status}` }];
  const step: Step = {
    ...{
      index: 0,
      path: "ask",
      kind: "api_request",
      label,
      status: "failed",
      started_at: "",
      duration_ms: 1,
    },
    ...{ input: request, output: { status, checks }, artifacts: [] },
  };
  const ask = {
    id: "ask",
    label,
    kind,
    operation: "createOrder",
    block,
    ...(field && { field }),
    ...(trial && { trial }),
  };
  return { ask, step, execution_id: "run", setup: [] };
}
const placesOf = (...all: Said[]) => findingsOf(all.map(outcome)).map(({ fault, at }) => `${fault} ${at}`);

test("one cause is one finding, however many requests show it", () => {
  const one = { field: "body.name", trial: "missing" };
  expect(placesOf(one, { field: "body.name", trial: "null" })).toEqual(["F100 body.name"]);
  expect(placesOf(one, { field: "body.size", trial: "null" })).toEqual(["F100 body.name", "F100 body.size"]);
  // A body of another kind has no name either.
  expect(placesOf(one, { field: "body", trial: "wrong type" })).toEqual(["F100 body.name, body"]);
  expect(placesOf(one, { kind: "good" })).toEqual(["F100 request"]);
  const fields = ["a", "b", "c", "d", "e"].map((name) => ({
    field: `body.${name}`,
    kind: "invalid" as const,
  }));
  const taken = fields.slice(0, 4).map((said) => ({ ...said, trial: "wrong type", status: 200 }));
  expect(placesOf(...taken, { ...fields[4], trial: "wrong type", status: 400 })).toHaveLength(1);
});

test("the smallest request is told, and a refusal is never a fault", () => {
  const [finding] = findingsOf([
    outcome({ field: "body.name", trial: "null", body: { name: null, size: 3 } }),
    outcome({ field: "body.name", trial: "null", body: { name: null } }),
  ]);
  expect(finding).toMatchObject({ times: 2, curl: expect.stringContaining(`'{"name":null}'`) });
  expect(placesOf({ kind: "good", status: 422 }, { kind: "invalid", status: 409, field: "body.x" })).toEqual(
    [],
  );
});

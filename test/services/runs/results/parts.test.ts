import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { classificationSchema, type FinalStatus } from "#mcp-server/domain/index.ts";
import { contradiction } from "#mcp-server/services/runs/judgement/judgements.ts";
import { cursorOf, placeOf } from "#mcp-server/services/runs/results/index.ts";
import { instantOf } from "#mcp-server/services/runs/results/instant.ts";
import { pageOf } from "#mcp-server/services/values/pages.ts";

describe("a classification", () => {
  const allowed: Record<FinalStatus, string[]> = {
    passed: ["VALID_PASS", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
    failed: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
    error: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
    cancelled: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
    timeout: ["VALID_FAIL", "BUG", "SCRIPT_ISSUE", "SYSTEM_ISSUE"],
  };
  const statuses = ["passed", "failed", "error", "cancelled", "timeout"] as const;
  test.each(statuses)("of a run that ended %s must not contradict its verdict", (status) => {
    const fits = classificationSchema.options.filter((one) => contradiction(one, status) === undefined);
    expect(fits).toEqual(allowed[status]);
  });

  test("that contradicts the verdict is refused with both", () => {
    expect(contradiction("VALID_PASS", "timeout")).toContain("ended timeout");
    expect(contradiction("BUG", "passed")).toContain("this one passed");
  });
});

describe("a cursor", () => {
  test("gives back its place, to the millisecond", () => {
    const place = { started_at: "2026-11-22T05:37:43.123Z", execution_id: "k3j-9_x" };
    expect(placeOf(cursorOf(place))).toEqual(place);
  });

  test.each([
    "",
    "-",
    "abc",
    "zzzzzzzzzz-a",
    "mi8x-",
    "mi8x-a b",
    "mi8x-\u0000",
    "x".repeat(9_999),
  ])("is none: %j", (text) => {
    expect(() => placeOf(text)).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });
});

describe("a time", () => {
  test.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000Z"],
    ["2026-01-31T08:00:00.5+02:00", "2026-01-31T06:00:00.500Z"],
  ])("%s is %s", (text, instant) => expect(instantOf("since", text)).toBe(instant));

  test.each([
    "",
    "yesterday",
    "1",
    "2026-02-30",
    "2026-01-31 08:00",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-10:00",
    "9".repeat(999),
  ])("is none: %j", (text) => {
    expect(() => instantOf("until", text)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("until") }),
    );
  });
});

describe("a list", () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({
    execution_id: `k3j9x${i}q7p2`,
    name: `Log in as user ${i}`,
    status: "passed",
    started_at: "2026-11-22T05:37:43.123Z",
  }));
  test.each([200, 2_000, 10_000])("stays within %i tokens, and uses most of them", (maxTokens) => {
    const tokens = encode(JSON.stringify(pageOf(rows, 0, maxTokens).items)).length;
    expect(tokens).toBeLessThanOrEqual(maxTokens);
    expect(tokens).toBeGreaterThan(maxTokens * 0.4);
  });

  test("has one item at least, and none of nothing", () => {
    expect(pageOf([{ message: "long ".repeat(9_999) }, { message: "short" }], 0, 50)).toMatchObject({
      items: [{}],
      more: 1,
    });
    expect(pageOf([], 0, 50)).toEqual({ items: [], more: 0 });
  });
});

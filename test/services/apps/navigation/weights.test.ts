import { describe, expect, test } from "vitest";
import { expectedMs, successRate, wilson } from "#mcp-server/services/apps/userinterfaces/weights.ts";

const ran = (successes: number, runs: number, median_ms = 1_000) => ({ successes, runs, median_ms });

describe("the Wilson interval", () => {
  // Expected values: the closed formula of Wilson (1927) with z = 1.959964.
  test.each([
    [0, 10, 0, 0.2775],
    [8, 10, 0.4902, 0.9433],
    [10, 10, 0.7225, 1],
    [90, 100, 0.8256, 0.9448],
  ])("of %i in %i is %f to %f", (successes, runs, low, high) => {
    expect(wilson(successes, runs).low).toBeCloseTo(low, 3);
    expect(wilson(successes, runs).high).toBeCloseTo(high, 3);
  });

  test("is the whole range when nothing ran", () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe("the success rate", () => {
  test("is the mean of Beta(1, 1) with the runs so far until three of them", () => {
    expect([undefined, ran(1, 1), ran(0, 2), ran(2, 2)].map(successRate)).toEqual([0.5, 2 / 3, 0.25, 0.75]);
  });

  test("is what was seen from three runs on", () => {
    expect(successRate(ran(2, 3))).toBeCloseTo(2 / 3);
  });
});

describe("the expected time", () => {
  test("of an edge that never ran is the prior duration over the prior rate", () => {
    expect(expectedMs(undefined, undefined)).toBe(2_000);
  });

  test("is the median over the lower bound of the rate, plus the checks of the target", () => {
    expect(expectedMs(ran(10, 10, 1_000), ran(5, 5, 300))).toBe(Math.round(1_000 / wilson(10, 10).low + 300));
  });

  test("grows as an edge gets less reliable", () => {
    const times = [10, 8, 5, 1].map((successes) => expectedMs(ran(successes, 10), undefined));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(new Set(times).size).toBe(4);
  });

  test("is infinite for an edge that never once worked", () => {
    expect(expectedMs(ran(0, 5), undefined)).toBe(Number.POSITIVE_INFINITY);
  });
});

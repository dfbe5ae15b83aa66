import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Goal, parseGoals, readGoals, renderTable, toRow } from "./rows.ts";
import { alternate, median } from "./statistics.ts";

const here = dirname(fileURLToPath(import.meta.url));
const goal: Goal = {
  ...{ id: "a.b", what: "a", feels: "A tester waits." },
  ...{ goal: 0.5, unit: "ms", of: "ratio", better: "lower" },
};

describe("goals and rows", () => {
  it.each(
    readdirSync(here).filter((file) => /^goals.*\.json$/.test(file)),
  )("%s has goals with unique ids", async (file) => {
    const ids = (await readGoals(join(here, file))).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("refuse a goal that no one feels, and more than 30", () => {
    const { feels: _, ...unfelt } = goal;
    const parse = (goals: readonly object[]) => parseGoals(JSON.stringify(goals));
    expect(parse(Array.from({ length: 30 }, () => goal))).toHaveLength(30);
    expect(() => parse(Array.from({ length: 31 }, () => goal))).toThrow("<=30");
    expect(() => parse([unfelt])).toThrow("feels");
    expect(() => parse([{ ...goal, feels: "" }])).toThrow("feels");
  });

  it("does not meet a goal that nothing measured", () => {
    expect(toRow(goal, undefined)).toMatchObject({ met: false, ours: null, runs: 0 });
  });

  it("bounds the ratio where the goal says so", () => {
    expect(toRow(goal, { id: "a.b", ours: 10, theirs: 20, runs: 5 })).toMatchObject({
      met: true,
      ratio: 0.5,
    });
    expect(toRow(goal, { id: "a.b", ours: 11, theirs: 20, runs: 5 })).toMatchObject({ met: false });
    expect(toRow(goal, { id: "a.b", ours: 1, runs: 5 })).toMatchObject({ met: false, ratio: null });
  });

  it("bounds our own figure where the goal says so, in the better direction", () => {
    const labels: Goal = { ...goal, of: "ours", better: "higher", goal: 34 };
    expect(toRow(labels, { id: "a.b", ours: 34, theirs: 50, runs: 5 }).met).toBe(true);
    expect(toRow(labels, { id: "a.b", ours: 33, theirs: 1, runs: 5 }).met).toBe(false);
    expect(toRow({ ...labels, better: "lower" }, { id: "a.b", ours: Number.NaN, runs: 5 }).met).toBe(false);
  });

  it("reports the least, the middle and the greatest ratio of the rounds", () => {
    const found = { id: "a.b", ours: 10, theirs: 20, runs: 3, ratios: [0.5, 0.25, 1.234] };
    expect(toRow(goal, found).spread).toEqual([0.25, 0.5, 1.23]);
    expect(renderTable([toRow(goal, found)], [goal])).toContain("0.25 0.5 1.23");
  });

  it("prints goals that are not met in capitals", () => {
    const table = renderTable([toRow(goal, undefined)], [goal]);
    expect(table.split("\n").at(-1)).toMatch(/a\.b .*<= 0\.5x .*NO/);
  });
});

describe("statistics", () => {
  it("takes the middle, and the mean of the two in the middle", () => {
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });

  it("runs the sides in turn, turns the order round, and leaves warm-ups out", async () => {
    const order: string[] = [];
    const side = (name: string, ms: number) => () => {
      order.push(name);
      return Promise.resolve(ms);
    };
    expect(await alternate([side("a", 1), side("b", 2)], { rounds: 2, warmUps: 1 })).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(order.join("")).toBe("baabba");
  });
});

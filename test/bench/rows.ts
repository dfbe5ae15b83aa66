import { readFile } from "node:fs/promises";
import { z } from "zod";
import { median } from "./statistics.ts";

const goalSchema = z.strictObject({
  id: z.string(),
  what: z.string(),
  /** Who feels it when the goal is missed, and how. A figure that no one feels is not measured. */
  feels: z.string().min(1),
  goal: z.number(),
  unit: z.string(),
  /** What the goal bounds: our figure, or ours divided by theirs. */
  of: z.enum(["ours", "ratio"]),
  better: z.enum(["lower", "higher"]),
});
export type Goal = z.output<typeof goalSchema>;

/** Each goal keeps a mechanism in the product for ever. A new one takes the place of another. */
const mostGoals = 30;

export const parseGoals = (json: string): readonly Goal[] =>
  z.array(goalSchema).max(mostGoals).parse(JSON.parse(json));

export const readGoals = async (file: string): Promise<readonly Goal[]> =>
  parseGoals(await readFile(file, "utf8"));

/**
 * One figure in the goal's unit. `runs`: the number of measurements behind the median. `ratios`: the ratio of each round,
 * where their spread matters.
 */
export type Measurement = {
  id: string;
  ours: number;
  theirs?: number;
  runs: number;
  ratios?: readonly number[];
};

export type Row = Pick<Goal, "id" | "what" | "feels" | "unit" | "goal"> & {
  ours: number | null;
  theirs: number | null;
  ratio: number | null;
  /** Least, median and greatest ratio of the rounds. */
  spread: readonly number[] | null;
  met: boolean;
  runs: number;
};

const rounded = (value: number | undefined): number | null =>
  value === undefined ? null : Number(value.toPrecision(4));

function isMet({ of, better, goal }: Goal, ours: number | undefined, ratio: number | undefined): boolean {
  const value = of === "ratio" ? ratio : ours;
  if (value === undefined || !Number.isFinite(value)) return false;
  return better === "lower" ? value <= goal : value >= goal;
}

const spreadOf = (ratios: readonly number[]): number[] =>
  [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => Number(ratio.toFixed(2)));

/** A goal that nothing measured is a row that is not met. */
export function toRow(goal: Goal, found: Measurement | undefined): Row {
  const { id, what, feels, unit, goal: limit } = goal;
  const ratio = found?.theirs ? found.ours / found.theirs : undefined;
  return {
    ...{ id, what, feels, unit, goal: limit },
    ours: rounded(found?.ours),
    theirs: rounded(found?.theirs),
    ratio: rounded(ratio),
    spread: found?.ratios ? spreadOf(found.ratios) : null,
    met: isMet(goal, found?.ours, ratio),
    runs: found?.runs ?? 0,
  };
}

const number = (value: number | null): string => (value === null ? "-" : String(value));

/** Lines of a Markdown table, columns padded. */
export function renderTable(rows: readonly Row[], goals: readonly Goal[]): string {
  const limit = (row: Row): string => {
    const goal = goals.find((g) => g.id === row.id);
    return `${goal?.better === "higher" ? ">=" : "<="} ${row.goal}${goal?.of === "ratio" ? "x" : ""}`;
  };
  const cells = [
    ["id", "what", "unit", "ours", "theirs", "ratio", "spread", "goal", "met", "runs"],
    ...rows.map((row) => [
      ...[row.id, row.what, row.unit, number(row.ours), number(row.theirs), number(row.ratio)],
      ...[row.spread?.join(" ") ?? "-", limit(row), row.met ? "yes" : "NO", String(row.runs)],
    ]),
  ];
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  const [head = [], ...body] = cells;
  return [line(head), rule, ...body.map(line)].join("\n");
}

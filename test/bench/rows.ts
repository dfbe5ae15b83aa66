import { readFile } from "node:fs/promises";
import { z } from "zod";
import { median } from "./statistics.ts";

const goalSchema = z.strictObject({
  id: z.string(),
  step: z.int(),
  /** Later steps that must reach it too. */
  again: z.array(z.int()).optional(),
  what: z.string(),
  goal: z.number(),
  unit: z.string(),
  /** What the goal bounds: our figure, or ours divided by theirs. */
  of: z.enum(["ours", "ratio"]),
  better: z.enum(["lower", "higher"]),
  /** The row tells how it stands and fails nothing, once it is measured. */
  information: z.literal(true).optional(),
});
export type Goal = z.output<typeof goalSchema>;

export async function readGoals(file: string): Promise<readonly Goal[]> {
  return z.array(goalSchema).parse(JSON.parse(await readFile(file, "utf8")));
}

/**
 * One figure as measured, in the goal's unit. `runs` is how many measurements the medians stand on; `ratios` those of the
 * single rounds, where their spread is of interest.
 */
export type Measurement = {
  id: string;
  ours: number;
  theirs?: number;
  runs: number;
  ratios?: readonly number[];
};

export type Row = {
  step: number;
  id: string;
  what: string;
  unit: string;
  ours: number | null;
  theirs: number | null;
  ratio: number | null;
  /** Least, median and greatest ratio of the rounds. */
  spread: readonly number[] | null;
  goal: number;
  met: boolean;
  runs: number;
};

const rounded = (value: number): number => Number(value.toPrecision(4));

function isMet(goal: Goal, ours: number, ratio: number | null): boolean {
  const value = goal.of === "ratio" ? ratio : ours;
  if (value === null || !Number.isFinite(value)) return false;
  return goal.better === "lower" ? value <= goal.goal : value >= goal.goal;
}

const spreadOf = (ratios: readonly number[]): number[] =>
  [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((ratio) => Number(ratio.toFixed(2)));

/** A goal that nothing measured is a row that is not met. */
export function toRow(goal: Goal, found: Measurement | undefined): Row {
  const { step, id, what, unit, goal: limit } = goal;
  if (!found)
    return {
      step,
      id,
      what,
      unit,
      ours: null,
      theirs: null,
      ratio: null,
      spread: null,
      goal: limit,
      met: false,
      runs: 0,
    };
  const ratio = found.theirs === undefined || found.theirs === 0 ? null : found.ours / found.theirs;
  return {
    step,
    id,
    what,
    unit,
    ours: rounded(found.ours),
    theirs: found.theirs === undefined ? null : rounded(found.theirs),
    ratio: ratio === null ? null : rounded(ratio),
    spread: found.ratios ? spreadOf(found.ratios) : null,
    goal: limit,
    met: isMet(goal, found.ours, ratio),
    runs: found.runs,
  };
}

/** How many rows hold what they promise, of those that promise something. A row that nothing measured promises it too. */
export function countMet(rows: readonly Row[], goals: readonly Goal[]): { met: number; of: number } {
  const isInformation = ({ id }: Row) => goals.find((goal) => goal.id === id)?.information === true;
  const counted = rows.filter((row) => !isInformation(row) || row.ours === null);
  return { met: counted.filter(({ met }) => met).length, of: counted.length };
}

const number = (value: number | null): string => (value === null ? "-" : String(value));

/** Lines of a Markdown table, columns padded. */
export function renderTable(rows: readonly Row[], goals: readonly Goal[]): string {
  const limit = (row: Row): string => {
    const goal = goals.find((g) => g.id === row.id);
    const bound = `${goal?.better === "higher" ? ">=" : "<="} ${row.goal}${goal?.of === "ratio" ? "x" : ""}`;
    return goal?.information ? `(${bound})` : bound;
  };
  const cells = [
    ["id", "what", "unit", "ours", "theirs", "ratio", "spread", "goal", "met", "runs"],
    ...rows.map((row) => [
      row.id,
      row.what,
      row.unit,
      number(row.ours),
      number(row.theirs),
      number(row.ratio),
      row.spread?.join(" ") ?? "-",
      limit(row),
      row.met ? "yes" : "NO",
      String(row.runs),
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

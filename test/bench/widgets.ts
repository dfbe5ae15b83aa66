import { type Result, runWidgets, tableHead, tableLine } from "../widgets/all.ts";
import type { Measurement } from "./rows.ts";
import type { Sides } from "./sides.ts";

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Tasks with the widgets of others: how many each side does, and what the tasks cost that both do. */
export async function measureWidgets(sides: Sides, note: (line: string) => void): Promise<Measurement[]> {
  const results: Result[] = [];
  await runWidgets(sides, { tell: (result) => results.push(result) });
  note(tableHead);
  for (const result of results) note(tableLine(result));
  const both = results.filter(({ ours, theirs }) => ours.done && theirs.done);
  const count = (side: "ours" | "theirs") => results.filter((result) => result[side].done).length;
  return [
    { id: "widgets.done", ours: count("ours"), theirs: count("theirs"), runs: 1 },
    {
      id: "widgets.tokens",
      ours: sum(both.map(({ ours }) => ours.tokens)),
      theirs: sum(both.map(({ theirs }) => theirs.tokens)),
      ratios: both.map(({ ours, theirs }) => ours.tokens / theirs.tokens),
      runs: both.length,
    },
  ];
}

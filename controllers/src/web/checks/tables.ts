import { z } from "zod";
import { type Check, defineCheck, type Reading } from "../../contract.ts";
import { matches, matchSchema, matchWords, partNote, relation } from "../../elements/match.ts";
import { nearestOf } from "../../elements/nearest.ts";
import { quoted } from "../../elements/quoted.ts";
import { inconclusive, ofSubject } from "../../elements/readings.ts";
import { targetShape } from "../../elements/target.ts";
import { fold } from "../../elements/text.ts";
import { wantedIn } from "../../elements/titles.ts";
import type { CheckSession } from "../browser/session.ts";
import { runApart } from "../page/askAgent.ts";
import { drawnTable, type TableData, tableOf } from "../page/tables.ts";
import { foundOne, lookUp, notOne, readOptions } from "./lookup.ts";

export function tableCell(session: CheckSession): Check {
  return defineCheck({
    name: "table_cell",
    description: `A cell of a table or grid; ${matchWords}`,
    input: z.strictObject({
      ...targetShape,
      row: z
        .union([z.int().min(1), z.string().min(1).max(1_000)])
        .describe("Its number from 1 below the headers, or the text of any of its cells."),
      column: z
        .union([z.int().min(1), z.string().min(1).max(1_000)])
        .describe("Its number from 1, or its header."),
      text: z.string().max(100_000),
      match: matchSchema.default("same"),
    }),
    judges: ofSubject,
    title: (element, { column, row, ...input }) =>
      `${String(column)} of ${String(row)} in ${element} shows ${wantedIn(input, "text")}`,
    async read({ row, column, text, match, ...target }, signal) {
      const lookup = await lookUp(session, target, signal);
      const place = `column ${nameOf(column)} of row ${nameOf(row)} in ${lookup.target}`;
      const expected = `${place} ${relation(match)} ${quoted(text)}`;
      const one = foundOne(lookup);
      const drawn = one && (await runApart(one, z.string(), drawnTable, undefined, readOptions(signal)));
      if (drawn === undefined) return notOne(session, lookup, expected, signal);
      if (drawn === "")
        return inconclusive(
          expected,
          `${lookup.target} is not a table or grid, and contains none or several`,
        );
      return { expected, ...(await cellReading(tableOf(drawn), { row, column, text, match })) };
    },
  });
}

const nameOf = (place: number | string): string => (typeof place === "number" ? `${place}` : quoted(place));

type Wanted = {
  row: number | string;
  column: number | string;
  text: string;
  match: z.output<typeof matchSchema>;
};

async function cellReading(
  { columns, rows }: TableData,
  { row, column, text, match }: Wanted,
): Promise<Omit<Reading, "expected">> {
  const missing = (actual: string, names: readonly string[] = []) => ({
    holds: false,
    actual,
    missing: "absent" as const,
    ...(names.length > 0 && { nearest: names }),
  });
  // A number beyond the last row or column is a text, such as an order number.
  const key = isAt(column, columns)
    ? columns[column - 1]
    : columns.find((name) => fold(name) === fold(`${column}`));
  if (key === undefined) return missing(`there is no such column`, columns.slice(0, 20));
  const fitting = isAt(row, rows) ? rows.slice(row - 1, row) : rows.filter(has(`${row}`));
  const [found, ...others] = fitting;
  if (found === undefined) {
    const cells = rows.slice(0, 200).flatMap((one) => Object.values(one));
    const near = nearestOf(`${row}`, cells, { text: String });
    return missing(`there is no such row among ${rows.length}`, near);
  }
  if (others.length > 0) {
    const actual = `${fitting.length} rows have such a cell; give the number of one`;
    return { holds: false, actual, missing: "unclear" };
  }
  const cell = found[key] ?? "";
  return {
    holds: await matches(match, text, cell),
    actual: `it is ${quoted(cell, text)}${partNote(match, text, [cell])}`,
  };
}

const isAt = (place: number | string, list: readonly unknown[]): place is number =>
  typeof place === "number" && place <= list.length;

const has = (wanted: string) => (row: Record<string, string>) =>
  Object.values(row).some((cell) => fold(cell) === fold(wanted));

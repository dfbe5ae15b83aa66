import type { Params, TestCaseInput } from "../../../domain/index.ts";
import { didYouMean } from "../../../domain/schemaProblems.ts";
import { ToolError } from "../../../errors.ts";
import { isNumber, jsonText, parseJson } from "../../values/exactNumbers.ts";
import { settled } from "../../values/expressions.ts";
import { readyToResolve, resolveValue, withExactNumbers } from "../../values/values.ts";
import { type RowFiles, readCsv } from "./rowFiles.ts";
import { asType } from "./scope.ts";

/** What one run of a test case with `for_each` gets. `label` names it in reports, such as `2 user=anna`. */
export type Row = { label: string; inputs: Params };

/** `place` is `row 2`, with the line in its file. */
type Read = { place: string; cells: Params; missing?: string | undefined };

const maxRows = 1_000;
const longestCell = 40;
const shown = 20;

/** The rows with the inputs of their runs. A given input wins over a column. Throws every problem as INVALID_INPUT, and PATH_DENIED. */
export async function rowsOf(
  testcase: TestCaseInput,
  given: Params,
  appVariables: Params,
  uploads: RowFiles,
): Promise<Row[]> {
  const read = await readRows(testcase, given, appVariables, uploads);
  const problems = rowProblems(testcase, given, read);
  if (problems.length > 0) throw rowsError(testcase.name, problems);
  const names = testcase.inputs.map(({ name }) => name);
  return read.map(({ cells }, index) => {
    const own = names.filter((name) => Object.hasOwn(cells, name));
    const inputs = { ...Object.fromEntries(own.map((name) => [name, cells[name]])), ...given };
    return { label: labelOf(index + 1, own[0], inputs), inputs };
  });
}

/** What is wrong with rows that are written in the test case itself. */
export function listedRowProblems(testcase: TestCaseInput): string[] {
  if (!Array.isArray(testcase.for_each)) return [];
  return rowProblems(testcase, {}, testcase.for_each.map(listed));
}

function labelOf(number: number, column: string | undefined, inputs: Params): string {
  if (column === undefined) return String(number);
  const value = inputs[column];
  const text = (typeof value === "string" ? value : (jsonText(value) ?? "")).replace(/\p{Cc}+/gu, " ");
  return `${number} ${column}=${text.length > longestCell ? `${text.slice(0, longestCell)}…` : text}`;
}

async function readRows(
  { for_each, inputs, name }: TestCaseInput,
  given: Params,
  appVariables: Params,
  uploads: RowFiles,
): Promise<Read[]> {
  if (typeof for_each !== "string") return (for_each ?? []).map(listed);
  const source = for_each.trim();
  if (!source.startsWith("{{")) return readFile(name, source, await uploads.readText(source));
  await readyToResolve(source);
  const defaults = inputs.map(({ name: input, default: value }) => [input, value ?? null]);
  const scope = { ...appVariables, ...Object.fromEntries(defaults), ...given };
  return listOf(name, source, await settled(() => resolveValue(source, scope)));
}

function readFile(name: string, file: string, text: string): Read[] {
  if (!/\.csv$/i.test(file)) return listOf(name, file, parsedJson(file, text));
  const { columns, rows } = readCsv(file, text);
  const twice = columns.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined) throw rowsError(name, [`${file} has the column "${twice}" twice`]);
  return rows.map(({ cells, line }, index) => {
    const place = `row ${index + 1} (line ${line})`;
    if (cells.length > columns.length)
      throw rowsError(name, [
        `${place} has ${cells.length} values, and the header has ${columns.length} columns`,
      ]);
    const known = columns.slice(0, cells.length).map((column, at) => [column, cells[at]]);
    return { place, cells: Object.fromEntries(known), missing: columns[cells.length] };
  });
}

function parsedJson(file: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ToolError(
      "INVALID_INPUT",
      `${file} is not JSON: ${why}.`,
      "It holds a list of objects, one for each row.",
    );
  }
}

const isRow = (value: unknown): value is Params =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isNumber(value);
const listed = (cells: Params, index: number): Read => ({
  place: `row ${index + 1}`,
  cells: withExactNumbers(cells),
});

function listOf(name: string, source: string, value: unknown): Read[] {
  if (!Array.isArray(value)) throw rowsError(name, [`${source} gives no list of rows`]);
  const wrong = value.findIndex((one) => !isRow(one));
  if (wrong >= 0)
    throw rowsError(name, [`row ${wrong + 1} of ${source} is not an object of columns and values`]);
  return value.filter(isRow).map(listed);
}

function rowProblems(testcase: TestCaseInput, given: Params, rows: readonly Read[]): string[] {
  if (rows.length === 0) return ["there is no row"];
  if (rows.length > maxRows) return [`there are ${rows.length} rows; at most ${maxRows} are run`];
  const columns = new Set(
    rows.flatMap(({ cells, missing }) => [
      ...Object.keys(cells),
      ...(missing === undefined ? [] : [missing]),
    ]),
  );
  const asked = testcase.inputs.filter(({ name }) => !Object.hasOwn(given, name));
  const wanted = asked.filter(({ name }) => columns.has(name));
  const absent = asked.filter(({ name, default: fallback }) => !columns.has(name) && fallback === undefined);
  const alike = wanted.length === 0 && absent.length === 0;
  return [
    ...(alike ? [`no column is an input of the test; columns are ${[...columns].join(", ")}`] : []),
    ...absent.map(({ name }) => `no row has the column "${name}"${didYouMean(name, columns)}`),
    ...rows.flatMap((row) => cellProblems(testcase, wanted, row)),
  ];
}

function cellProblems(
  { types = {} }: TestCaseInput,
  wanted: TestCaseInput["inputs"],
  { place, cells, missing }: Read,
): string[] {
  if (missing !== undefined) return [`${place} lacks the column "${missing}"`];
  return wanted.flatMap(({ name, default: fallback }) => {
    if (!Object.hasOwn(cells, name))
      return fallback === undefined
        ? [`${place} lacks the column "${name}"${didYouMean(name, Object.keys(cells))}`]
        : [];
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    const typed = type === undefined ? { value: cells[name] } : asType(cells[name], type);
    return "problem" in typed ? [`${place}, column "${name}": ${typed.problem}`] : [];
  });
}

function rowsError(name: string, problems: readonly string[]): ToolError {
  const more = problems.length > shown ? ` (${problems.length - shown} more)` : "";
  return new ToolError(
    "INVALID_INPUT",
    `${name}, for_each: ${problems.slice(0, shown).join("; ")}${more}.`,
    "Each row has a value for every input without a default; nothing was run.",
    { problems },
  );
}

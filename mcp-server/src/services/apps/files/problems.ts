import type { z } from "zod";
import { isFeature } from "../../../config/places.ts";
import type { Path, Source } from "../../../config/source.ts";
import { schemaProblems } from "../../../domain/schemaProblems.ts";
import { type ErrorCode, ToolError } from "../../../errors.ts";
import { readYamlSource, sizeProblem } from "../../values/yamlSource.ts";
import { codeOf, type ListedProblem } from "../testcases/index.ts";

const shownProblems = 20;

type Line = { line: number; column: number; path: string; message: string };

/** Collects what is wrong with a file, with line and column. */
export class Problems {
  readonly lines: Line[] = [];
  private readonly known = new Set<string>();

  constructor(
    private readonly file: string | undefined,
    private readonly source: Source,
  ) {
    for (const { line = 1, column = 1, path, message } of this.source.problems)
      this.lines.push({ line, column, path, message });
  }

  /** Those of the text alone, to read it once more. */
  again(): Problems {
    return new Problems(this.file, this.source);
  }

  get value(): unknown {
    return this.source.value;
  }

  /** The place of a value, or of one of its keys. */
  placeOf(path: Path, key?: string): Pick<Line, "line" | "column"> {
    const { line = 1, column = 1 } = this.source.problem(path, "", key);
    return { line, column };
  }

  add(path: Path, message: string, key?: string): void {
    const { line = 1, column = 1, path: written } = this.source.problem(path, message, key);
    // Several tests have the steps of one background.
    const same = `${line}:${column} ${written} ${message}`;
    if (this.known.has(same)) return;
    this.known.add(same);
    this.lines.push({ line, column, path: written, message });
  }

  /** Parses a value. Adds its problems and returns undefined if the schema refuses it. */
  parsed<Schema extends z.ZodType>(
    schema: Schema,
    value: unknown,
    at: Path = [],
  ): z.output<Schema> | undefined {
    const found = schema.safeParse(value);
    if (found.success) return found.data;
    for (const { path, message, key } of schemaProblems(found.error.issues, schema))
      this.add([...at, ...path], message, key);
    return undefined;
  }

  check(): void {
    if (this.lines.length > 0) throw this.error();
  }

  error(code: ErrorCode = "INVALID_INPUT"): ToolError {
    const sorted = this.lines.toSorted((a, b) => a.line - b.line || a.column - b.column);
    const shown = sorted.slice(0, shownProblems);
    const text = shown.map(
      ({ line, column, path, message }) =>
        `line ${line}, column ${column}${path && ` ${path}`}: ${message.replace(/\.$/, "")}`,
    );
    const more = this.lines.length - shown.length;
    return new ToolError(
      code,
      `${this.file ?? "The YAML"} cannot be imported: ${text.join("; ")}${more > 0 ? `; and ${more} more` : ""}.`,
      isFeature(this.file ?? "")
        ? "Nothing was imported. Each step is a sentence of the short form; its keyword is left out."
        : "Nothing was imported. export_userinterface shows the form of one that exists.",
      { problems: shown },
    );
  }
}

/** Of a file of YAML or, by its name, of Gherkin, whose parser is loaded then. */
export async function problemsIn(text: string, file: string | undefined): Promise<Problems> {
  const isYaml = file === undefined || !isFeature(file) || sizeProblem(text) !== undefined;
  if (isYaml) return new Problems(file, await readYamlSource(file ?? "yaml", text));
  const { parseFeature } = await import("./gherkin.ts");
  return new Problems(file, parseFeature(file, text));
}

/** The message of a test's problem. If the place is known, the path is left out. */
export const textOf = ({ at = [], path, message }: Pick<ListedProblem, "at" | "path" | "message">): string =>
  at.length > 0 || path === "" ? message : `${path}: ${message}`;

/** Throws the errors of several files as one, if there are any. */
export function throwAll(errors: readonly ToolError[]): void {
  const [first, ...others] = errors;
  if (!first) return;
  if (others.length === 0) throw first;
  const message = errors.map((error) => error.message).join("\n");
  const problems = errors.flatMap(({ details }) => (Array.isArray(details.problems) ? details.problems : []));
  throw new ToolError(first.code, message, first.hint, { problems });
}

/** Throws the problems of tests, with the places where they are written. */
export function refuseTests(
  tests: readonly { path: Path; read: { problems: Problems } }[],
  found: readonly ListedProblem[],
): never {
  const wrong = new Map<Problems, ListedProblem[]>();
  for (const problem of found) {
    const { index, at = [], key } = problem;
    const test = tests[index];
    if (!test) continue;
    const { problems } = test.read;
    problems.add([...test.path, ...at], textOf(problem), key);
    wrong.set(problems, [...(wrong.get(problems) ?? []), problem]);
  }
  throwAll([...wrong].map(([problems, own]) => problems.error(codeOf(own))));
  throw new Error("No test of the list is wrong");
}

import { nearest } from "@labwright/controllers";
import { type Block, blockTypes, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import { type Branch, pathText, schemaProblems, valueAt } from "../../../domain/schemaProblems.ts";
import { type ErrorCode, ToolError } from "../../../errors.ts";
import { type Language, readTest } from "../steps/index.ts";
import type { Problem } from "./types.ts";

/** Checks the shape. Throws TESTCASE_INVALID with every problem and its path, such as `blocks[2].target`. */
export function parseTestcase(value: unknown): TestCaseInput {
  const parsed = parseShape(value);
  if ("testcase" in parsed) return parsed.testcase;
  throw problemsError(testNameOf(value), parsed.problems);
}

export function testNameOf(value: unknown): string {
  const name = valueAt(value, ["name"]);
  return typeof name === "string" ? name : "the test case";
}

type Parsed = { testcase: TestCaseInput } | { problems: Problem[] };

function parseShape(value: unknown): Parsed {
  const parsed = testcaseSchema.safeParse(value);
  const code = "INVALID_INPUT";
  if (!parsed.success) {
    const found = schemaProblems(parsed.error.issues, testcaseSchema, blockBranch(value));
    return {
      problems: found.map(({ path, message, key }) => ({
        ...{ path: pathText(path), code, message, at: path },
        ...(key !== undefined && { key }),
      })),
    };
  }
  if (isStorable(parsed.data)) return { testcase: parsed.data };
  const message = "it holds a NUL character or half of a surrogate pair";
  return { problems: [{ path: "", code, message }] };
}

/** `placed` adds to a later problem where it is written. */
export type Given = { testcase: TestCaseInput; placed(problem: Problem): Problem } | { problems: Problem[] };

export function parseGiven(given: unknown, language: Language): Given {
  const { value, places, problems } = readTest(given, language);
  const isInSteps = valueAt(given, ["blocks"]) === undefined;
  const code = "INVALID_INPUT";
  if (problems.length > 0)
    return {
      problems: problems.map(({ path, ...rest }) => ({ code, ...rest, path: pathText(path), at: path })),
    };
  const placed = (problem: Problem): Problem => {
    const at = places.get(problem.path);
    if (!at) return problem;
    return { ...problem, at, ...(isInSteps && { path: pathText(at) }) };
  };
  const parsed = parseShape(value);
  if ("testcase" in parsed) return { ...parsed, placed };
  return { problems: isInSteps ? parsed.problems.map((one) => ofStep(one, places)) : parsed.problems };
}

/** A problem in a block that a step made is the step's. */
function ofStep(problem: Problem, places: ReadonlyMap<string, readonly PropertyKey[]>): Problem {
  const path = problem.at ?? [];
  for (let length = path.length; length > 0; length--) {
    const at = places.get(pathText(path.slice(0, length)));
    const rest = pathText(path.slice(length));
    const message = rest === "" ? problem.message : `${rest}: ${problem.message}`;
    if (at) return { path: pathText(at), code: problem.code, message, at };
  }
  return problem;
}

/** PostgreSQL's JSON takes neither; JSON.stringify writes both as escapes. */
const isStorable = (value: unknown) => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(JSON.stringify(value));

/** Only the branch of a block's own type says what is wrong with it. */
const blockBranch =
  (root: unknown): Branch =>
  (issue, path) => {
    if (!isBlockAt(path)) return undefined;
    const type = valueAt(root, [...path, "type"]);
    if (isBlockType(type)) return issue.errors[type === "loop" ? 1 : 0];
    const near = typeof type === "string" ? nearest(type, blockTypes, 1) : [];
    const hint = near.length > 0 ? `; did you mean "${near[0]}"?` : `; types are ${blockTypes.join(", ")}`;
    return `unknown block type ${JSON.stringify(type)}${hint}`;
  };

const isBlockType = (type: unknown): type is Block["type"] => blockTypes.some((known) => known === type);

const isBlockAt = (path: readonly PropertyKey[]) =>
  typeof path.at(-1) === "number" && path.at(-2) === "blocks";

/** Codes that are enough if every problem has the same one. */
const speaking: ReadonlySet<ErrorCode> = new Set(["EMPTY_TEST", "NOTHING_VERIFIED", "UNKNOWN_VARIABLE"]);
const shown = 20;

export function codeOf(problems: readonly Pick<Problem, "code">[]): ErrorCode {
  const alone = [...speaking].find((code) => problems.every((problem) => problem.code === code));
  return problems.length > 0 && alone ? alone : "TESTCASE_INVALID";
}

/** The problem of a ToolError. Throws any other error on. */
export function problemOf(error: unknown, path: string, { withHint = true } = {}): Problem {
  if (!(error instanceof ToolError)) throw error;
  const { code, message, hint } = error;
  return { path, code, message: withHint ? `${message} ${hint}` : message };
}

/** One error for all problems, in the order in which they were found. */
export function problemsError(name: string, problems: readonly Problem[]): ToolError {
  const lines = problems.slice(0, shown).map(lineOf);
  const more = problems.length > shown ? ` (${problems.length - shown} more)` : "";
  return new ToolError(
    codeOf(problems),
    `${name}: ${lines.join("; ")}${more}`,
    "Correct these and try again; nothing was saved or run.",
    { problems: problems.map(({ path, code, message }) => ({ path, code, message })) },
  );
}

const lineOf = ({ path, message }: Problem) => (path === "" ? message : `${path}: ${message}`);

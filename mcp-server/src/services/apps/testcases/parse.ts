import { nearest } from "@labwright/controllers";
import { type Block, blockTypes, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import { type Branch, pathText, schemaProblems, valueAt } from "../../../domain/schemaProblems.ts";
import { type Language, readTest } from "../steps/index.ts";
import { problemsError } from "./problems.ts";
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

/** A test case in either form, with what places the problems that are found later. */
export type Given = { testcase: TestCaseInput; placed(problem: Problem): Problem } | { problems: Problem[] };

/** Reads a test case in steps, or in blocks and edges, and checks its shape. */
export function parseGiven(given: unknown, language: Language): Given {
  const { value, places, problems } = readTest(given, language);
  const isInSteps = valueAt(given, ["blocks"]) === undefined;
  const code = "INVALID_INPUT";
  if (problems.length > 0)
    return {
      problems: problems.map(({ path, ...rest }) => ({ ...rest, path: pathText(path), code, at: path })),
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

/**
 * A block is one of the simple blocks or the loop: only the branch of its own type says what is wrong. Other unions say
 * themselves what they take.
 */
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

/** `blocks[2]`, also in the body of a loop. */
const isBlockAt = (path: readonly PropertyKey[]) =>
  typeof path.at(-1) === "number" && path.at(-2) === "blocks";

import { nearest } from "@labwright/controllers";
import { type Block, blockTypes, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import { type Branch, pathText, schemaProblems, valueAt } from "../../../domain/schemaProblems.ts";
import { problemsError } from "./problems.ts";

/** Checks the shape. Throws TESTCASE_INVALID with every problem and its path, such as `blocks[2].target`. */
export function parseTestcase(value: unknown): TestCaseInput {
  const parsed = testcaseSchema.safeParse(value);
  if (parsed.success && isStorable(parsed.data)) return parsed.data;
  const name = valueAt(value, ["name"]);
  const problems = parsed.success
    ? [{ path: "", code: "INVALID_INPUT", message: "it holds a NUL character or half of a surrogate pair" }]
    : schemaProblems(parsed.error.issues, testcaseSchema, blockBranch(value)).map(({ path, message }) => ({
        path: pathText(path),
        code: "INVALID_INPUT",
        message,
      }));
  throw problemsError(typeof name === "string" ? name : "the test case", problems);
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

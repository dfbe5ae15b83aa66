import { nearest } from "@labwright/controllers";
import type { z } from "zod";
import { type Block, blockTypes, type TestCaseInput, testcaseSchema } from "../../../domain/index.ts";
import { problemsError } from "./problems.ts";
import type { Problem } from "./types.ts";

type Issue = z.core.$ZodIssue;

/** Checks the shape. Throws TESTCASE_INVALID with every problem and its path, such as `blocks[2].target`. */
export function parseTestcase(value: unknown): TestCaseInput {
  const parsed = testcaseSchema.safeParse(value);
  if (parsed.success && isStorable(parsed.data)) return parsed.data;
  const name = valueAt(value, ["name"]);
  const problems = parsed.success
    ? [{ path: "", code: "INVALID_INPUT", message: "it holds a NUL character or half of a surrogate pair" }]
    : parsed.error.issues.flatMap((issue) => describe(issue, value, []));
  throw problemsError(typeof name === "string" ? name : "the test case", problems);
}

/** PostgreSQL's JSON takes neither; JSON.stringify writes both as escapes. */
const isStorable = (value: unknown) => !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(JSON.stringify(value));

function describe(issue: Issue, root: unknown, above: readonly PropertyKey[]): Problem[] {
  const path = [...above, ...issue.path];
  if (issue.code !== "invalid_union" || !isBlockAt(path))
    return [{ path: pathText(path), code: "INVALID_INPUT", message: textOf(issue) }];
  const type = valueAt(root, [...path, "type"]);
  if (!isBlockType(type)) {
    const near = typeof type === "string" ? nearest(type, blockTypes, 1) : [];
    const hint = near.length > 0 ? `; did you mean "${near[0]}"?` : `; types are ${blockTypes.join(", ")}`;
    const message = `unknown block type ${JSON.stringify(type)}${hint}`;
    return [{ path: pathText(path), code: "INVALID_INPUT", message }];
  }
  // The union is of all simple blocks and of the loop; only the branch of the block's own type says what is wrong.
  const branch = issue.errors[type === "loop" ? 1 : 0] ?? [];
  return branch.flatMap((inner) => describe(inner, root, path));
}

const isBlockType = (type: unknown): type is Block["type"] => blockTypes.some((known) => known === type);

/** `blocks[2]`, also in the body of a loop. Other unions say themselves what they take. */
const isBlockAt = (path: readonly PropertyKey[]) =>
  typeof path.at(-1) === "number" && path.at(-2) === "blocks";

function textOf(issue: Issue): string {
  if (issue.code !== "unrecognized_keys") return issue.message;
  return `unknown ${issue.keys.map((key) => `"${key}"`).join(", ")}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

const pathText = (path: readonly PropertyKey[]) =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

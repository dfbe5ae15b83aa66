import { type ErrorCode, ToolError } from "../../../errors.ts";
import type { Problem } from "./types.ts";

/** Codes that say it all when every problem has the same one. */
const speaking: ReadonlySet<ErrorCode> = new Set(["EMPTY_TEST", "UNKNOWN_VARIABLE"]);
const shown = 20;

export function codeOf(problems: readonly Pick<Problem, "code">[]): ErrorCode {
  const alone = [...speaking].find((code) => problems.every((problem) => problem.code === code));
  return problems.length > 0 && alone ? alone : "TESTCASE_INVALID";
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

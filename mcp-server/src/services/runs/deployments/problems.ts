import { type ErrorCode, ToolError } from "../../../errors.ts";

/** What is wrong with a deployment; the message begins with the argument. */
export type Problem = { code: ErrorCode; message: string };

const hint = "Correct this and try again; nothing was stored.";

/** One error for all problems: with the code of a single one, else INVALID_INPUT. */
export function problemsError(problems: readonly Problem[]): ToolError {
  const [first, ...others] = problems;
  const code = first && others.length === 0 ? first.code : "INVALID_INPUT";
  const messages = problems.map(({ message }) => message);
  return new ToolError(code, `${messages.join("; ")}.`, hint, { problems: messages });
}

/** The problem that a look-up throws, as one of `argument`; nothing when it finds. */
export async function problemOf(argument: string, lookUp: () => unknown): Promise<Problem[]> {
  try {
    await lookUp();
    return [];
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return [{ code: error.code, message: `${argument}: ${error.message} ${error.hint}`.replace(/\.$/, "") }];
  }
}

export const invalid = (message: string): Problem => ({ code: "INVALID_INPUT", message });

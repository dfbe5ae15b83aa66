import { isErrorCode, ToolError } from "../../errors.ts";
import { forTerminal, hintFor } from "../hints.ts";
import type { Terminal } from "../terminal.ts";

export type Answer =
  | { ok: true; structured: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string; hint: string } };

/** The daemon as the command uses it. Every call is of the same client. */
export type RunConnection = {
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<Answer>;
  /** The bytes of `artifact://...`. */
  artifact(uri: string): Promise<Uint8Array>;
};

export type RunTerminal = Pick<Terminal, "out" | "err" | "cwd" | "signal" | "columns" | "ask"> &
  Partial<Pick<Terminal, "env">> & {
    /** Shows the step that runs now; an empty text shows none. */
    status?(text: string): void;
  };

/** For calls that must be made after an interruption too. */
export const unending = (): AbortSignal => new AbortController().signal;

/** The result, or the tool's own error thrown. */
export async function done(answer: Promise<Answer>): Promise<Record<string, unknown>> {
  const given = await answer;
  if (given.ok) return given.structured;
  const { code, message } = given.error;
  throw new ToolError(isErrorCode(code) ? code : "TOOL_FAILED", forTerminal(message), hintFor(given.error));
}

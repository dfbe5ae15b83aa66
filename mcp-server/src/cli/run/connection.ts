import { isErrorCode, ToolError } from "../../errors.ts";
import { forTerminal, hintFor } from "../hints.ts";
import type { Terminal } from "../terminal.ts";

export type Answer =
  | { ok: true; structured: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string; hint: string } };

/** What the command needs of a daemon. Every call is of the same client. */
export type RunConnection = {
  call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<Answer>;
  /** The bytes of `artifact://...`. */
  artifact(uri: string): Promise<Uint8Array>;
};

export type RunTerminal = Pick<Terminal, "out" | "err" | "cwd" | "signal" | "columns" | "ask"> &
  Partial<Pick<Terminal, "env">> & {
    /** Shows what runs now; empty for nothing. */
    status?(text: string): void;
  };

/** For what is done also behind an interruption. */
export const unending = (): AbortSignal => new AbortController().signal;

/** The result, or the tool's own error thrown. */
export async function done(answer: Promise<Answer>): Promise<Record<string, unknown>> {
  const given = await answer;
  if (given.ok) return given.structured;
  const { code, message } = given.error;
  throw new ToolError(isErrorCode(code) ? code : "TOOL_FAILED", forTerminal(message), hintFor(given.error));
}

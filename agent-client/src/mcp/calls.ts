import { z } from "zod";
import type { Toolbox, ToolCall, ToolResult } from "../ports.ts";

/** A tool that failed, with the server's own code and words. */
export class ToolFailure extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint: string,
  ) {
    super(message);
  }
}

/** For `catch`: what a tool's failure comes to. Anything else is thrown. */
export const ifFailed =
  <T>(then: (failure: ToolFailure) => T) =>
  (error: unknown): T => {
    if (error instanceof ToolFailure) return then(error);
    throw error;
  };

/** `CODE: message` and the hint are the first two lines of a failure. */
export function failureIn(tool: string, { parts }: Pick<ToolResult, "parts">): ToolFailure {
  const text = textIn(parts);
  const [first = "", hint = ""] = text.split("\n");
  const [, code, message] = /^([A-Z][A-Z_]+): (.*)/.exec(first) ?? [];
  return new ToolFailure(code ?? "TOOL_FAILED", (message ?? first) || `${tool} failed.`, hint);
}

export const textIn = (parts: ToolResult["parts"]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Calls a tool and reads its typed result. Throws ToolFailure, and what the signal aborts with. */
export async function callTyped<T>(
  toolbox: Pick<Toolbox, "call">,
  use: ToolCall,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const result = await toolbox.call(use, { signal });
  signal.throwIfAborted();
  if (result.isError) throw failureIn(use.name, result);
  const { data, error } = schema.safeParse(result.structured);
  if (error)
    throw new ToolFailure(
      "INVALID_RESPONSE",
      `${use.name} returned something else: ${z.prettifyError(error)}`,
      "",
    );
  return data;
}

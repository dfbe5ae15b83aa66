import type { Toolbox } from "@labwright/agent-client";
import { z } from "zod";
import type { LabEvent } from "./types.ts";

/** A tool that failed, with the server's own words. */
export class ToolFailed extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Calls a tool and reads its typed result. Throws ToolFailed, and what the signal aborts with. */
export type CallServer = <T>(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
  signal: AbortSignal,
) => Promise<T>;

export function callsOf(toolbox: Toolbox): CallServer {
  return async (tool, input, schema, signal) => {
    signal.throwIfAborted();
    const { isError, structured, parts } = await toolbox.call({ name: tool, input }, { signal });
    signal.throwIfAborted();
    if (isError || !structured) {
      const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
      throw failureOf(tool, texts.join("\n"));
    }
    const { data, error } = schema.safeParse(structured);
    if (!error) return data;
    const why = `${tool} answered otherwise than expected: ${z.prettifyError(error)}`;
    throw new ToolFailed("INVALID_RESPONSE", why);
  };
}

/** `CODE: message` and the hint are the first two lines of a failure. */
function failureOf(tool: string, text: string): ToolFailed {
  const [code] = /^[A-Z][A-Z_]*(?=: )/.exec(text) ?? ["TOOL_FAILED"];
  const [message = "", hint = ""] = text.split("\n");
  return new ToolFailed(code, `${message} ${hint}`.trim().slice(0, 500) || `${tool} failed.`);
}

/**
 * Publishes an event at most once for its key. That the server died in an earlier try, so that it is not known whether it is
 * there, counts as published: twice would be worse.
 */
export async function publishOnce(
  call: CallServer,
  event: Pick<LabEvent, "type" | "priority" | "payload" | "device_id">,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await call("publish_event", { ...event, idempotency_key: key }, z.object({}), signal);
  } catch (error) {
    if (!(error instanceof ToolFailed && error.code === "OUTCOME_UNKNOWN")) throw error;
  }
}

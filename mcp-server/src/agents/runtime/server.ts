import { callTyped, type Toolbox, ToolFailure } from "@labwright/agent-client";
import { z } from "zod";
import type { LabEvent } from "./types.ts";

/** Calls a tool and reads its typed result. Throws as `callTyped`. */
export type CallServer = <T>(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  schema: z.ZodType<T>,
  signal: AbortSignal,
) => Promise<T>;

export const callsOf =
  (toolbox: Toolbox): CallServer =>
  (name, input, schema, signal) =>
    callTyped(toolbox, { name, input }, schema, signal);

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
    if (!(error instanceof ToolFailure && error.code === "OUTCOME_UNKNOWN")) throw error;
  }
}

import { ToolError } from "../../../errors.ts";
import type { ExecutionPlace } from "../../../storage/index.ts";

/** A page's last run as a short text: its start in milliseconds, base 36, and its id. */
export function cursorOf({ started_at, execution_id }: ExecutionPlace): string {
  return `${Date.parse(started_at).toString(36)}-${execution_id}`;
}

/** Throws INVALID_INPUT for what {@link cursorOf} does not make. */
export function placeOf(cursor: string): ExecutionPlace {
  const [, time, id] = /^([0-9a-z]{1,9})-([\w-]{1,100})$/.exec(cursor) ?? [];
  if (time === undefined || id === undefined) {
    throw new ToolError(
      "INVALID_INPUT",
      `before: "${cursor.slice(0, 100)}" is not a cursor.`,
      "Give the next of the page before, or leave it out for the newest.",
    );
  }
  return { started_at: new Date(Number.parseInt(time, 36)).toISOString(), execution_id: id };
}

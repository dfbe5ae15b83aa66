import { z } from "zod";
import { ToolError } from "../../../errors.ts";

const written = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** A typed time in ISO 8601 UTC; a date is its first moment. Throws INVALID_INPUT that names the argument. */
export function instantOf(argument: string, text: string): string {
  const parsed = written.safeParse(text);
  const instant = parsed.success ? new Date(parsed.data).toISOString() : "";
  if (/^[1-9]\d{3}-/.test(instant)) return instant;
  throw new ToolError(
    "INVALID_INPUT",
    `${argument}: "${text.slice(0, 100)}" is not a time.`,
    "Give it as 2026-01-31 or 2026-01-31T08:00:00Z.",
  );
}

export const optionalInstant = (argument: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : instantOf(argument, text);

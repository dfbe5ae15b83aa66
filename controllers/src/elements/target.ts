import { z } from "zod";
import { DeviceError } from "../errors.ts";

/** The two ways to name an element, for the input of every command and check that takes one. */
export const targetShape = {
  ref: z.string().max(20).optional().describe("ref of a dump"),
  selector: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe("name, label or text; or kind=value such as id=login, #id, //x"),
};
export type Target = { ref?: string | undefined; selector?: string | undefined };

/** How long an element may take to appear when the caller says nothing. */
export const LOCATE_TIMEOUT_MS = 5_000;
/** The longest time that a caller can ask any command to wait. */
const LONGEST_WAIT_MS = 120_000;

export const waitMs = z.number().int().min(1).max(LONGEST_WAIT_MS);

/** How long an element may take to appear and to become ready for the action. */
export const timeoutShape = { timeout_ms: waitMs.default(LOCATE_TIMEOUT_MS) };

export function hasTarget({ ref, selector }: Target): boolean {
  return ref !== undefined || selector !== undefined;
}

/** Throws INVALID_PARAMS unless exactly one of ref and selector is given. */
export function onlyTarget({ ref, selector }: Target): { ref: string } | { selector: string } {
  if (ref !== undefined && selector === undefined) return { ref };
  if (selector !== undefined && ref === undefined) return { selector };
  throw new DeviceError(
    "INVALID_PARAMS",
    "An element is named by exactly one of ref and selector; give one of them",
  );
}
